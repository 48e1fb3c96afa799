// The embedded trace store as two small servers: one receives spans, one answers queries. Each has a thread of its own,
// and the disk a third, so that a long search or a slow disk does not block senders.
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
/// By which this machine's processes reach it: `http://127.0.0.1:4318`.
std::string url_of(const TraceListen& listen, std::uint16_t port);

struct TraceServerOptions {
  /// The directory of `traces.db`.
  std::string data_dir;
  TraceLimits limits{};
  ReceiverLimits receiver{};
  std::optional<TraceListen> otlp{};     ///< nullopt: spans are not received
  std::optional<TraceListen> queries{};  ///< nullopt: queries are not served
  /// The tokens required of senders and of queries, as a bearer token or the password of any user; empty: no
  /// authentication, allowed on loopback only.
  std::string otlp_token{};
  std::string query_token{};
  /// Called from any thread. May be null.
  Logger log{};
};

/// Threads: any.
class TraceServer {
 public:
  static Result<std::unique_ptr<TraceServer>> start(TraceServerOptions options);
  /// Stops receiving, and writes what was received.
  ~TraceServer();
  TraceServer(const TraceServer&) = delete;
  TraceServer& operator=(const TraceServer&) = delete;

  /// `http://127.0.0.1:4318`, as an exporter's endpoint; empty: spans are not received.
  const std::string& otlp_url() const;
  /// The token that an exporter must send; empty: none.
  const std::string& otlp_token() const;
  /// `http://127.0.0.1:16686`; empty: queries are not served.
  const std::string& query_url() const;
  TraceCounts counts() const;
  /// Answers a query that did not come by the port; the caller has authorized it. One query at a time: 503 for others.
  net::server::Reply ask(const net::server::Request& request);

 private:
  struct Impl;
  explicit TraceServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::traces
