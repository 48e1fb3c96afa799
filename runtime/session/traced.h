// What of an exchange its trace tells (docs/tracing.md). An exchange whose gateway does not trace has no trace, and
// pays the look at a null pointer.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/buffer.h"
#include "net/socket.h"
#include "program/format_policies.h"
#include "runtime/observe/ending.h"
#include "runtime/policy/auth/verdict.h"
#include "runtime/session/exchange.h"
#include "runtime/session/failure.h"

namespace edge::runtime {

struct ClientConnection;

/// What of a request is there as long as its head is.
struct TracedRequest {
  const net::http1::RequestHead& head;
  std::string_view host;
  std::string_view path;
  const IpAddress& source;
  const ClientConnection& connection;
};
void trace_request(const Exchange& exchange, const TracedRequest& request);
void trace_ending(const Exchange& exchange, const ClientConnection& connection, const Ending& ending);

/// A step that has begun; empty where nobody is told.
inline trace::Step begin_step(const Exchange& exchange) {
  return exchange.trace == nullptr ? trace::Step{} : exchange.trace->begin_step();
}
void trace_policy(const Exchange& exchange, const trace::Step& step, program::PolicyType type,
                  const auth::Verdict& verdict);
void trace_look_up(const Exchange& exchange, const trace::Step& step, cache::Transaction::Plan plan);

/// Of a branch of a request's trace, which `name` says what it is for.
void trace_branch(const Exchange& exchange, std::string_view name, const Failure& failure);

/// The tries of one request to reach a backend. Each is a span of its own, below which the backend's is.
class TracedTries {
 public:
  explicit TracedTries(const Exchange& exchange) : exchange_(exchange) {}

  void begin() {
    if (exchange_.trace != nullptr) step_ = exchange_.trace->begin_try();
  }
  /// `endpoint`: null where none was found. `status` 0: no answer.
  void end(const net::SocketAddress* endpoint, int status, const Failure& failure) {
    if (step_) tell(endpoint, status, failure);
  }
  /// Before another try: what is sent then, a head and perhaps more, tells of that one.
  void renew(net::Buffer& text) const {
    if (exchange_.trace != nullptr && exchange_.trace->recorded()) rewrite(text);
  }

 private:
  void rewrite(net::Buffer& text) const;
  void tell(const net::SocketAddress* endpoint, int status, const Failure& failure);

  const Exchange& exchange_;
  trace::Step step_;
  int told_ = 0;
};

}  // namespace edge::runtime
