// The embedded trace store as two small servers: one takes spans, one is asked. Each has a thread of its own, and the
// disk a third, so that a long search or a slow disk holds up nobody who sends.
//
//   sender -> Receiver -> TraceWriter -> TraceFile || TraceReader -> QueryApi -> edgectl, Grafana, Jaeger's UI
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "base/log.h"
#include "base/result.h"
#include "controller/traces/receiver.h"
#include "controller/traces/trace_counts.h"
#include "controller/traces/trace_file.h"
#include "net/server/message.h"

namespace edge::traces {

struct TraceListen {
  /// No address: every address of the node.
  std::optional<IpAddress> address = parse_ip("127.0.0.1");
  std::uint16_t port = 0;  ///< 0: the system chooses
};
/// `127.0.0.1:4318`, `[::1]:4318`, `:4318`.
std::optional<TraceListen> parse_trace_listen(std::string_view text);
bool is_loopback(const TraceListen& listen);

struct TraceServerOptions {
  /// Where `traces.db` is.
  std::string data_dir;
  TraceLimits limits{};
  ReceiverLimits receiver{};
  std::optional<TraceListen> otlp{};     ///< nullopt: nothing is taken
  std::optional<TraceListen> queries{};  ///< nullopt: nobody is answered
  /// What senders and questions must bring, as a bearer token or the password of any user; empty: whoever reaches the
  /// port may send, or ask, which is for loopback alone.
  std::string otlp_token{};
  std::string query_token{};
  /// From any thread. Null: nobody.
  Logger log{};
};

/// From any thread.
class TraceServer {
 public:
  static Result<std::unique_ptr<TraceServer>> start(TraceServerOptions options);
  /// Takes no more, and writes what was taken.
  ~TraceServer();
  TraceServer(const TraceServer&) = delete;
  TraceServer& operator=(const TraceServer&) = delete;

  /// `http://127.0.0.1:4318`, as an exporter's endpoint; empty: nothing is taken.
  const std::string& otlp_url() const;
  /// What an exporter has to bring there; empty: nothing.
  const std::string& otlp_token() const;
  /// `http://127.0.0.1:16686`; empty: nobody is answered.
  const std::string& query_url() const;
  TraceCounts counts() const;
  /// What the query API says to whoever may ask by another way than its port. One question at a time: 503 while there
  /// is another.
  net::server::Reply ask(const net::server::Request& request);

 private:
  struct Impl;
  explicit TraceServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::traces
