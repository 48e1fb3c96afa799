// What is determined from a request's head before a rule is looked for: its destination and its client. Valid as long
// as the head, which a suspended phase keeps.
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
  /// The client's connection, or the one to the trusted proxy in front, is encrypted.
  bool secure = false;
  std::uint32_t bind = program::kNone;
  /// Set only where a listener of the bind has settings that apply before a rule is looked for.
  const LoadedListener* listener = nullptr;
  /// A copy of the request's head, made when a phase had to wait: what was parsed points into it then.
  std::unique_ptr<net::Buffer> kept;
};

Reply bad_request(std::string_view reason, std::string_view text);
Reply no_route();
bool claims_https(const net::http1::RequestHead& head);

// A phase returns whether the request goes on; where it does not, `ending` has the reply. One object for all phases is
// cheaper than a reply that each returns.

/// Determines the request's normalised host and path, the listener and the client's address.
bool locate(const ThreadProgram& program, const ClientConnection& connection, Scratch& scratch, Arrival& arrival,
            std::optional<Reply>& ending);

/// Replies to a plain-text request where the listener redirects to another scheme. Rule D9: the claim of any peer,
/// trusted or not, that the request came by TLS is accepted; the client gets no more than by TLS, and a proxy that is
/// not listed as trusted causes no redirect loop.
bool redirect_scheme(const LoadedProgram& program, const ClientConnection& connection,
                     const net::http1::RequestHead& head, const Arrival& arrival, std::optional<Reply>& ending);

/// Preserves a request's head, which is in memory that other requests reuse, while a phase waits.
class HeadOverWaits {
 public:
  HeadOverWaits(Scratch& scratch, net::Inlet& inlet, Arrival& arrival)
      : scratch_(scratch), inlet_(inlet), arrival_(arrival) {}

  /// Awaits a phase, or a part of one: `T result = co_await heads.over(task)`. A task that is ready adds no cost.
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

  /// Copies the head, and below restores it: around a phase that uses the scratch without having waited.
  void keep();
  /// Parses the copy once more under the same limits, which cannot fail.
  void restore();

 private:
  Scratch& scratch_;
  net::Inlet& inlet_;
  Arrival& arrival_;
};

}  // namespace edge::runtime
