// What is found out about a request's head before a rule is looked for: where it was sent, and who sent it. Valid as
// long as the head is, which a phase that waits has kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/ip.h"
#include "net/buffer.h"
#include "net/byte_stream.h"
#include "net/task.h"
#include "runtime/match/load.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/scratch.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct ThreadProgram;

struct Arrival {
  std::string_view host;
  std::string_view path;
  IpAddress source;
  bool peer_trusted = false;
  /// The client's connection is encrypted, or that with the trusted proxy before us.
  bool secure = false;
  std::uint32_t bind = program::kNone;
  /// Set only where some listener of the bind asks something before a rule is looked for.
  const LoadedListener* listener = nullptr;
  /// The request's head, once a phase had to wait: what is parsed of it lies here then.
  std::unique_ptr<net::Buffer> kept;
};

Reply bad_request(std::string_view reason, std::string_view text);
Reply no_route();
bool claims_https(const net::http1::RequestHead& head);

// Phases tell whether the request goes on; where it does not, `ending` has the reply. One place for all of them is
// cheaper than a reply that each returns.

/// Where a request has come from, and to: host and path in the form that everything after this compares, the listener,
/// the client's address.
bool locate(const ThreadProgram& program, const ClientConnection& connection, Scratch& scratch, Arrival& arrival,
            std::optional<Reply>& ending);

/// A request in plain text where the listener wants another scheme. Rule D9: whoever says that it came by TLS is
/// believed, trusted or not; it gets what it would have got by TLS, and no proxy that was not listed sends it in
/// circles.
bool redirect_scheme(const LoadedProgram& program, const ClientConnection& connection,
                     const net::http1::RequestHead& head, const Arrival& arrival, std::optional<Reply>& ending);

/// Keeps a request's head, which lies where other requests leave theirs, over the wait of a phase.
class HeadOverWaits {
 public:
  HeadOverWaits(Scratch& scratch, net::Inlet& inlet, Arrival& arrival)
      : scratch_(scratch), inlet_(inlet), arrival_(arrival) {}

  /// Awaits a phase, or a part of one: `T result = co_await heads.over(task)`. A task that is ready costs nothing more.
  template <typename T>
  auto over(net::Task<T>& task) {
    struct Awaiter {
      HeadOverWaits& head;
      net::Task<T>& task;
      bool waited = false;
      bool await_ready() const noexcept { return task.await_ready(); }
      void await_suspend(std::coroutine_handle<> waiter) {
        waited = true;
        head.keep();
        task.await_suspend(waiter);
      }
      T await_resume() {
        if (waited) head.restore();
        return task.await_resume();
      }
    };
    return Awaiter{*this, task};
  }

  /// Before a phase that uses the scratch without having waited, and after it.
  void keep();
  /// Parsed once more from the same bytes by the same limits: what was found sound is.
  void restore();

 private:
  Scratch& scratch_;
  net::Inlet& inlet_;
  Arrival& arrival_;
};

}  // namespace edge::runtime
