// One client connection, or one stream of it: reads heads, serves requests one after the other, ends. Holds no buffer
// while it is idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http1/parse.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/observe/request_end.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/session/client_session.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct Arrival;
struct Exchange;
struct ForwardFor;
class Worker;

class Session final : public ClientSession {
 public:
  /// kStream: serves one request, on a stream of HTTP/2 whose layer is the transport.
  enum class Kind : std::uint8_t { kConnection, kStream };

  Session(Worker& worker, ClientConnection connection, net::Transport transport, Kind kind);

  /// Runs until the connection ends, then has the worker forget it.
  void start() { run(); }
  /// Ends if it waits for a request; else its next response says so.
  void drain() override;
  void cancel() override { waiter_.cancel(); }

 private:
  enum class HeadState : std::uint8_t { kComplete, kMore, kFault, kHttp2, kGone };
  /// How a request left the connection. kLinger: closed, but the client may still be sending.
  enum class Next : std::uint8_t { kAgain, kClose, kLinger, kReset };
  // session.cc: the connection
  net::Detached run();
  HeadState read_head();
  net::Time head_deadline() const;
  net::Task<void> finish(Next how);
  net::Task<bool> flush();
  net::Task<Next> rest();
  void become_http2();

  // serve.cc: the phases of a request
  net::Task<Next> serve();
  void begin(Exchange& exchange);
  net::Task<ExchangeResult> serve_cached(Exchange& exchange, const ForwardFor& on_behalf);

  // authenticate.cc
  net::Task<bool> authenticate(Exchange& exchange, Arrival& arrival, std::optional<Reply>& ending);

  // answer.cc: its end
  Next refuse_head();
  Next refuse(const Reply& reply, Exchange& exchange, const Arrival& arrival);
  Next conclude(const ExchangeResult& result, const Exchange& exchange);
  /// `end`: what is known of it apart from the reply.
  Next answer(const Reply& reply, const Exchange& exchange, BodyState body, RequestEnd end = {});
  void ended(const Exchange& exchange, const RequestEnd& end);

  Worker& worker_;
  ClientConnection connection_;
  net::Channel client_;
  net::Waiter waiter_;
  net::Inlet inlet_;
  net::Outlet outlet_;
  net::Time head_since_{};
  net::http1::ParseHint hint_;
  /// Between requests, where the last one's rule says how long; else as the server's options have it.
  net::Duration rest_time_{};
  std::uint32_t requests_ = 0;
  std::uint16_t unwaited_ = 0;
  Kind kind_;
  bool idle_ = false;
  /// What is unread is not a whole head.
  bool torn_ = false;
  net::http1::HeadFault fault_ = net::http1::HeadFault::kNone;
};

}  // namespace edge::runtime
