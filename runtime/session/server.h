// The data plane as its owner sees it: threads that listen where a program says and serve by it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/log.h"
#include "base/result.h"
#include "net/clock.h"
#include "net/socket.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"
#include "runtime/match/load.h"
#include "runtime/observe/access_log/access_log.h"
#include "runtime/observe/tally/request_sums.h"
#include "runtime/observe/trace/span_buffers.h"
#include "runtime/policy/auth/oidc/login_faults.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/session/loop_probe.h"
#include "runtime/shape/cache/cache.h"
#include "runtime/shape/cache/counts.h"
#include "runtime/tls/expiry.h"
#include "runtime/upstream/endpoint_names.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::runtime {

struct ServerOptions {
  /// 0: one a core of the machine.
  unsigned threads = 0;
  std::size_t max_header_bytes = 64 * 1024;
  std::size_t max_headers = 100;
  std::size_t max_uri_bytes = 16 * 1024;
  /// Client connections of the process; further ones are closed at once and counted.
  std::size_t max_connections = 100'000;
  /// Bodies that are held lie in memory up to these sums, then in files without names in this directory (empty: the
  /// environment's TMPDIR, else /tmp).
  std::size_t buffer_memory = std::size_t{256} << 20;
  std::size_t buffer_files = std::size_t{4} << 30;
  std::string buffer_directory;
  /// PEM of further authorities whom the proxy's own calls believe (authorization services, identity providers), beside
  /// those of the system.
  std::string call_authorities;
  /// Where calls of policies do not go, nor requests to backends by name, whatever name leads there.
  std::vector<Cidr> denied_calls;
  /// How names of endpoints are looked up; `denied` is what `denied_calls` says.
  EndpointNameOptions names{};
  /// Triples of gateway, route and backend whose requests are counted apart, of each thread.
  std::size_t max_tallied = 25'000;
  /// Where spans of traced requests are left; null: nobody exports them, and trace context is only handed on.
  std::shared_ptr<trace::SpanBuffers> spans;
  /// Takes what whoever runs the process should read: why logins and handshakes fail. Without secrets.
  Logger log;
  /// Takes the lines of gateways with an access log; null: none are written.
  std::shared_ptr<AccessLog> access_log;
  std::chrono::nanoseconds head_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds keep_alive_timeout = std::chrono::seconds(75);
  std::chrono::nanoseconds upstream_idle_timeout = std::chrono::seconds(60);
  /// Replaces every bind's port (0: chosen by the system, see `addresses`); for tests. Unset: as the program says.
  bool ephemeral_ports = false;
  /// Of the threads that serve, and read by them; null: the steady clock. For tests: with another one no time passes
  /// unnoticed, and what is due is done when something else happens.
  const net::Clock* clock = nullptr;
};

/// Sums over the threads, each counted without a lock.
struct ServerStats {
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_active = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t requests = 0;
  std::uint64_t responses[6] = {};  ///< by class: 1xx..5xx at 1..5
  std::uint64_t upstream_connects = 0;
  std::uint64_t upstream_reused = 0;
  std::uint64_t upstream_retries = 0;
  std::uint64_t tls_handshakes = 0;    ///< of clients, that came to an end
  std::uint64_t tls13_handshakes = 0;  ///< of tls_handshakes; the others are TLS 1.2
  std::uint64_t tls13_resumed = 0;
  std::uint64_t tls_resumed = 0;            ///< of these
  std::uint64_t tls_failures = 0;           ///< broken off by either side, or by time
  std::uint64_t upstream_tls_failures = 0;  ///< of connections to backends
  std::uint64_t mirrors = 0;
  std::uint64_t mirrors_dropped = 0;
  std::uint64_t buffer_memory_used = 0;
  std::uint64_t buffer_files_used = 0;
  std::uint64_t tunnels = 0;
  std::uint64_t tunnels_refused = 0;
  std::uint64_t tunnel_bytes_up = 0;
  std::uint64_t tunnel_bytes_down = 0;
  cache::Totals cache;
  /// By type (BasicAuth, JWT, OIDC, ForwardAuth), and by how it ended (passed, denied, redirected, failed).
  std::array<std::array<std::uint64_t, 4>, 4> authentication{};
  auth::LoginFaultCounts login_faults{};
  AccessLogCounts access_log;
  LoopLag loop_lag;
};

/// What keeps a listener from its clients.
enum class ListenFault : std::uint8_t {
  kPort,         ///< in use by another process, or not for this user
  kAddress,      ///< the node does not have the address; bound ahead where that can be done
  kCertificate,  ///< bound, and no handshake succeeds: no certificate of the listener's can be used
  kOther,        ///< what a process or the system runs out of
};

/// A listener that clients do not reach at one of its addresses, for now.
struct UnboundListener {
  std::uint64_t gateway_id = 0;  ///< program::GatewayRecord::id
  std::string name_space;        ///< of the gateway
  std::string gateway;
  std::string listener;
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;  ///< as the program says
  ListenFault fault = ListenFault::kOther;
  std::string reason;  ///< a line
  friend bool operator==(const UnboundListener&, const UnboundListener&) = default;
};

struct BoundAddress {
  std::uint32_t bind = 0;  ///< index of the BindRecord
  IpAddress address;
  std::uint16_t port = 0;
  std::string listener;  ///< name of its first listener
};

/// The listening sockets of one place, for a process that takes over from this one.
struct ListeningSockets {
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;  ///< as the program says; another may be bound (ServerOptions::ephemeral_ports)
  std::vector<net::Fd> sockets;
};

/// Starts with no program and no listeners. All functions may be called from any one thread at a time.
class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  /// Stops at once: connections are reset. Drain first.
  ~Server();

  /// Swaps the program in: new binds are opened first, then every thread takes it between two batches, then binds that
  /// went away stop accepting. Requests in flight finish on the program that they began with. Returns when every thread
  /// has it. A bind that cannot be opened holds up neither the program nor another bind: see `unbound`.
  Status install(std::shared_ptr<const LoadedProgram> program);
  /// The running program's listeners that clients do not reach: their ports cannot be opened, or the node lacks their
  /// addresses.
  std::vector<UnboundListener> unbound() const;
  /// Opens what could not be opened, and looks which addresses the node has now. \returns whether `unbound` changed.
  bool recheck_listeners();
  /// Replaces the endpoints of every backend. Takes effect for the next request; nothing in flight is touched.
  void set_endpoints(const program::EndpointSet& endpoints);
  /// Waits until each name among them has had its first answer, or has none. \returns whether it is so in time.
  bool wait_for_names(std::chrono::milliseconds patience) const;
  /// Replaces the values of secrets: what handshakes show and check from the next one on. Give them before the program
  /// that names them.
  void set_secrets(const program::SecretSet& secrets);
  /// One line a secret of the running program that is missing or cannot be used. No values.
  std::vector<std::string> secret_faults() const;

  /// Duplicates of all listening sockets: connections that wait in their queues belong to whoever accepts them.
  std::vector<ListeningSockets> share_listeners();
  /// Before the first program: what it listens on is taken from here, where it is here. The rest is closed then.
  void adopt(std::vector<ListeningSockets> sockets);

  std::shared_ptr<const LoadedProgram> program() const;
  std::vector<BoundAddress> addresses() const;
  ServerStats stats() const;
  /// Whether every thread gets to what it is given within `patience`. From any thread.
  bool answers(std::chrono::nanoseconds patience) const;
  /// Requests by gateway, route and backend. This and the next are for one thread at a time.
  RequestSums requests() const;
  /// Those of what is gone: they begin at zero when it comes back. Waits for every thread.
  void forget_requests(std::span<const TallyNames> names);
  /// Removes stored responses. \returns how many.
  std::size_t purge_cache(const cache::Purge& what);
  /// When each certificate of the program's secrets expires.
  std::vector<CertificateExpiry> certificates() const;
  /// What rate limits have said so far, by policy.
  std::vector<RateLimitCount> rate_limits() const;
  /// What is known of each backend of the program and its endpoints.
  std::vector<BackendStatus> backends() const;

  /// Stops accepting, answers what is in flight with `Connection: close`, closes idle connections; returns when all are
  /// gone or the time is up (then the rest is reset). \returns whether all went in time.
  bool drain(std::chrono::nanoseconds deadline);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
