// The parts of a Server, shared by the files that define its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/session/server.h"
#include "runtime/session/server/slot.h"
#include "runtime/session/worker.h"

namespace edge::runtime {

struct Server::Impl {
  /// Runs `work` on every thread, and returns when all have.
  void on_every_worker(const std::function<void(std::size_t, Worker&)>& work);
  net::Time now() const { return shared.options.clock == nullptr ? net::Clock().now() : shared.options.clock->now(); }

  // listeners.cc
  /// Points `next` at the program's binds: slots of binds that are new are added, and those that are not open are
  /// opened. \returns what was opened, for `listen`.
  std::vector<OpeningSlot> open_binds(std::vector<ListenerSlot>& next, const LoadedProgram& of);
  /// Opens it, or says in it why it cannot be. `all`: of which it is one.
  void open(ListenerSlot& slot, OpeningSlot& opening, const std::vector<ListenerSlot>& all);
  Status open_sockets(ListenerSlot& slot, OpeningSlot& opening, const std::vector<ListenerSlot>& all);
  /// Of the process before us. Each can be had once.
  std::vector<net::Fd> adopted_sockets(const ListenerSlot& slot);
  /// Gives the thread its share of the sockets.
  void listen(std::vector<OpeningSlot>& openings, std::size_t index, Worker& worker) const;
  /// Has every thread stop accepting on slots without a bind.
  void close_unbound(std::vector<ListenerSlot>& all);

  // install.cc
  /// Has every thread make room for deciding by the program.
  Status prepare(const LoadedProgram& of);
  /// Makes what goes by the program and the secrets, and configures the backends by it.
  SharedProgram make(std::shared_ptr<const LoadedProgram> of, std::shared_ptr<const Policies> with);
  std::shared_ptr<const IpAccesses> make_ip_accesses(const LoadedProgram& of) const;
  /// Has every thread go on with `next`, and stores it.
  void retake(SharedProgram next);

  SharedState shared;
  std::vector<std::unique_ptr<Worker>> workers;
  mutable std::mutex mutex;  // of what follows, for readers on other threads
  std::vector<ListenerSlot> slots;
  /// Null before the first program.
  SharedProgram running;
  std::shared_ptr<const program::SecretSet> secrets = std::make_shared<const program::SecretSet>();
  std::shared_ptr<net::tls::TicketKeys> tickets = std::make_shared<net::tls::TicketKeys>();
  std::shared_ptr<const AccessFiles> access_files = std::make_shared<const AccessFiles>();
  /// Of the process before us, until the first program.
  std::vector<ListeningSockets> adopted;
  bool awaits_flows = false;
  bool draining = false;
  /// Names of endpoints; posts to the workers.
  std::optional<EndpointNames> names;
};

}  // namespace edge::runtime
