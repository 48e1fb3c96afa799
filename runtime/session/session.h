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
#include "runtime/match/decide.h"
#include "runtime/observe/ending.h"
#include "runtime/session/client_connection.h"
#include "runtime/session/client_session.h"
#include "runtime/session/exchange.h"
#include "runtime/session/failure.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct RelayPlace;
struct StoredResponse;
class Relay;
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
  /// Whether the request's body still stands between its head and the next request.
  enum class BodyState : std::uint8_t { kUnread, kRead };
  struct Outcome {
    Failure failure;
    int status = 0;
    /// Some of a response went to the client.
    bool answered = false;
    BodyState body = BodyState::kUnread;
    bool reusable = false;
    bool reset = false;
    /// The response is here and not with the client, who waits to be answered.
    bool withheld = false;
    /// As Ending has them; the reason where nothing failed.
    std::string_view reason{};
    std::uint32_t attempts = 0;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
  };

  /// What was found out about a head, valid as long as the head is.
  struct Arrival {
    std::string_view host;
    std::string_view path;
    IpAddress source;
    bool peer_trusted = false;
    /// The client's connection is encrypted, or that with the trusted proxy before us.
    bool secure = false;
    std::uint32_t bind = program::kNone;
    const LoadedListener* listener = nullptr;
  };

  // session.cc: the connection
  net::Detached run();
  HeadState read_head();
  net::Time head_deadline() const;
  net::Task<void> finish(Next how);
  net::Task<bool> flush();
  net::Task<Next> rest();
  Next refuse();
  void become_http2();
  /// `ending`: what is known of it apart from the reply.
  Next answer(const Reply& reply, const Exchange& exchange, BodyState body, Ending ending = {});

  // serve.cc: the request
  net::Task<Next> serve();
  std::optional<Reply> admit(Exchange& exchange, Arrival& arrival);
  std::optional<Reply> locate(Arrival& arrival);
  std::optional<Reply> apply_path_rules(Arrival& arrival);
  std::optional<Reply> place(Exchange& exchange, Arrival& arrival);
  void begin_trace(Exchange& exchange, const Arrival& arrival);
  std::optional<Reply> to_scheme(const Exchange& exchange, const Arrival& arrival);
  std::optional<Decision> choose(const Exchange& exchange, const Arrival& arrival);
  std::optional<Reply> pass_policies(Exchange& exchange, const Arrival& arrival);
  std::optional<Reply> treat(Exchange& exchange, const Arrival& arrival);

  void attribute(Exchange& exchange, const Arrival& arrival) const;
  Next conclude(const Outcome& outcome, const Exchange& exchange);

  // ended.cc: told once for each exchange, when its end is known
  void ended(const Exchange& exchange, const Ending& ending);

  // logged.cc: what the access log is told
  void note(Exchange& exchange, const Arrival& arrival);
  void note_refused(Exchange& exchange);
  Notes* begin_notes(Exchange& exchange, std::string_view host, std::string_view path);
  void log(const Exchange& exchange, const Ending& ending);

  // authenticate.cc: the policies that may have to wait
  net::Task<std::optional<Reply>> authenticate(Exchange& exchange, Arrival& arrival);
  void keep_head(Exchange& exchange);
  void restore_head(const Exchange& exchange, Arrival& arrival);

  // hold.cc: bodies that are held, compressed, delivered
  static std::uint64_t body_limit(const program::TrafficRecord& traffic);
  void shape(Exchange& exchange);
  net::Task<Failure> hold_request(Exchange& exchange);
  bool awaits_body(const Exchange& exchange) const;
  net::Task<Failure> await_body(const Exchange& exchange);
  void mirror(Exchange& exchange);
  net::Task<Outcome> deliver_held(const Exchange& exchange, Outcome before);
  /// Sends a response that lies here. `stored` must live until it is with the client; `before`: how the exchange's
  /// request was left.
  net::Task<Outcome> deliver(const Exchange& exchange, const StoredResponse& stored, Outcome before);
  RelayPlace relay_place();

  // reuse.cc: the cache's step between request filters and forward
  void begin_reuse(Exchange& exchange, const Arrival& arrival, cache::Way way);
  net::Task<Outcome> reuse_or_forward(Exchange& exchange);
  net::Task<Failure> join_fetch(const Exchange& exchange, cache::Transaction::Plan& plan);
  net::Task<Outcome> fetch(Exchange& exchange);
  net::Task<Outcome> deliver_stored(const Exchange& exchange, Outcome before);
  void refresh_behind(const Exchange& exchange, std::unique_ptr<cache::Transaction> refresh);
  net::Detached fetch_behind(std::unique_ptr<Exchange> exchange);

  // forward.cc: the way to the backend and back
  net::Task<Outcome> forward(const Exchange& exchange);
  net::Task<Failure> speak(const Exchange& exchange, Relay& relay, Outcome& outcome);

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
