// The public interface of the data plane: threads that listen and serve as a program says.
#pragma once

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
#include "runtime/policy/access_files.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/shared_limits.h"
#include "runtime/session/server_stats.h"
#include "runtime/session/udp/handed_flow.h"
#include "runtime/shape/cache/cache.h"
#include "runtime/tls/expiry.h"
#include "runtime/tls/wanted_names.h"
#include "runtime/upstream/endpoint_names.h"
#include "runtime/upstream/health/backend_status.h"
#include "runtime/upstream/route_marks.h"

namespace edge::runtime {

struct ServerOptions {
  /// Number of threads; 0: one per core of the machine.
  unsigned threads = 0;
  std::size_t max_header_bytes = 64 * 1024;
  std::size_t max_headers = 100;
  std::size_t max_uri_bytes = 16 * 1024;
  /// Limit of client connections of the process; further ones are closed at once and counted.
  std::size_t max_connections = 100'000;
  /// Sessions of one UDP listener, each thread an equal share; each counts among the connections, too.
  std::uint32_t max_udp_sessions = 16'384;
  /// Buffered bodies are kept in memory up to the first limit, then in unnamed files in this directory up to the second
  /// (empty: TMPDIR of the environment, else /tmp).
  std::size_t buffer_memory = std::size_t{256} << 20;
  std::size_t buffer_files = std::size_t{4} << 30;
  std::string buffer_directory;
  /// PEM of further CAs that the proxy's own calls trust (authorization services, identity providers), in addition to
  /// the system's.
  std::string call_authorities;
  /// Addresses that neither calls of policies nor requests to backends by name may go to, whatever name resolves to
  /// them.
  std::vector<Cidr> denied_calls;
  /// The zone whose endpoints are preferred, until `set_zone`; empty: none is.
  std::string zone;
  /// How names of endpoints are resolved; `denied` is set from `denied_calls`.
  EndpointNameOptions names{};
  /// Limit of combinations of gateway, route and backend that are counted separately, per thread.
  std::size_t max_tallied = 25'000;
  /// Where spans of traced requests are stored; null: they are not exported, and trace context is only propagated.
  std::shared_ptr<trace::SpanBuffers> spans;
  /// Gets messages for the operator: why logins and handshakes fail. Without secrets.
  Logger log;
  /// Gets the entries of gateways with an access log; null: none are written.
  std::shared_ptr<AccessLog> access_log;
  std::chrono::nanoseconds head_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds keep_alive_timeout = std::chrono::seconds(75);
  std::chrono::nanoseconds upstream_idle_timeout = std::chrono::seconds(60);
  /// Replaces every bind's port (0: chosen by the system, see `addresses`); for tests. Unset: the program's ports.
  bool ephemeral_ports = false;
  /// The clock of the serving threads; null: the steady clock. For tests: when a manual clock is advanced, timers run
  /// at the next event.
  const net::Clock* clock = nullptr;
};

/// Why clients cannot reach a listener.
enum class ListenFault : std::uint8_t {
  kPort,         ///< in use by another process, or not permitted for this user
  kAddress,      ///< the node does not have the address; bound in advance where possible
  kCertificate,  ///< bound, but every handshake fails: the listener has no usable certificate
  kOther,        ///< resources of the process or the system are exhausted
};

/// A listener that clients cannot reach at one of its addresses, for now.
struct UnboundListener {
  std::uint64_t gateway_id = 0;  ///< program::GatewayRecord::id
  std::string name_space;        ///< of the gateway
  std::string gateway;
  std::string listener;
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;  ///< as in the program
  ListenFault fault = ListenFault::kOther;
  std::string reason;  ///< one line
  friend bool operator==(const UnboundListener&, const UnboundListener&) = default;
};

struct BoundAddress {
  std::uint32_t bind = 0;  ///< index of the BindRecord
  IpAddress address;
  std::uint16_t port = 0;
  std::string listener;  ///< name of its first listener
};

/// The listening sockets of one address and port, for a process that takes over from this one.
struct ListeningSockets {
  bool udp = false;  ///< bound for datagrams; else they listen for connections
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;  ///< as in the program; another may be bound (ServerOptions::ephemeral_ports)
  std::vector<net::Fd> sockets;
};

/// Starts without a program or listeners. All functions may be called from any thread, one at a time.
class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options);
  /// Stops at once: connections are reset. Call `drain` first.
  ~Server();

  /// Installs the program: new binds are opened first, then every thread switches to it between two batches of events,
  /// then removed binds stop accepting. Requests in flight finish on the program that they began with. Returns when
  /// every thread has switched. A bind that cannot be opened delays neither the program nor another bind: see
  /// `unbound`.
  Status install(std::shared_ptr<const LoadedProgram> program);
  /// Returns the running program's listeners that clients cannot reach: their ports cannot be opened, or the node lacks
  /// their addresses.
  std::vector<UnboundListener> unbound() const;
  /// Retries to open the binds that failed, and reads the node's addresses anew. \returns whether `unbound` changed.
  bool recheck_listeners();
  /// Replaces the endpoints of every backend, for the next requests; those in flight are not affected.
  void set_endpoints(const program::EndpointSet& endpoints);
  /// Sets the zone whose endpoints are preferred, for the next requests. \returns whether it was another. Any thread,
  /// at any time, as `zone`.
  bool set_zone(std::string zone);
  /// Likewise the region.
  bool set_region(std::string region);
  std::string zone() const;
  /// Sets the marks of connections to backends that are made for requests of these gateways. At any time.
  void set_route_marks(std::span<const GatewayMark> marks);
  /// Waits until each endpoint name has resolved or failed once. \returns whether that happened in time.
  bool wait_for_names(std::chrono::milliseconds patience) const;
  /// Replaces the values of secrets, for the next handshakes. To be called before `install` of the program that names
  /// them.
  void set_secrets(const program::SecretSet& secrets);
  /// Replaces the lists and databases of IPAccess policies, for the next requests. Not beside `install` and
  /// `set_secrets`.
  void set_access_files(std::shared_ptr<const AccessFiles> files);
  /// Returns one line per secret or list of the running program that is missing or unusable. Without values.
  std::vector<std::string> secret_faults() const;

  /// Returns duplicates of all listening sockets: connections in their queues go to whichever process accepts them.
  std::vector<ListeningSockets> share_listeners();
  /// Called before the first program: its binds use these sockets where they match. The others are closed then. Those
  /// of UDP are not received on until `take_flows`: the process before has the flows.
  void adopt(std::vector<ListeningSockets> sockets);
  /// Receives no more datagrams, and returns the flows that were in progress, whose sessions end here.
  std::vector<HandedFlow> give_flows();
  /// Goes on with flows of the process before, where their routes, backends and endpoints are there, and receives
  /// datagrams from now on. To be called after `adopt`, once that process receives no more.
  void take_flows(std::vector<HandedFlow> flows);

  std::shared_ptr<const LoadedProgram> program() const;
  std::vector<BoundAddress> addresses() const;
  ServerStats stats() const;
  /// Returns whether every thread responds within `patience`. Any thread.
  bool answers(std::chrono::nanoseconds patience) const;
  /// Returns the requests by gateway, route and backend. This function and the next: one thread at a time.
  RequestSums requests() const;
  /// Removes the counters of objects that no longer exist: they restart at zero. Waits for every thread.
  void forget_requests(std::span<const TallyNames> names);
  /// Removes stored responses. \returns how many.
  std::size_t purge_cache(const cache::Purge& what);
  /// Returns the expiry of each certificate of the program's secrets.
  std::vector<CertificateExpiry> certificates() const;
  /// Returns the decisions of rate limits so far, by policy.
  std::vector<RateLimitCount> rate_limits() const;
  /// Likewise of concurrency limits.
  std::vector<RateLimitCount> concurrency_limits() const;
  /// Likewise of request filters: those at fault are `limited`.
  std::vector<RateLimitCount> request_filters() const;
  /// Returns whether the program has rate limits that agents share, and the seed that their keys are hashed with.
  bool shares_limits() const;
  std::uint64_t shared_limit_seed() const;
  /// Takes what has passed shared limits and is to be told to the other agents, at most `most` keys.
  std::vector<SharedUse> take_shared_uses(std::size_t most);
  /// Charges the limits with what has passed on other agents.
  void apply_shared_news(const SharedNews& news);
  SharedLimitFacts shared_limits() const;
  /// Takes names that clients have asked for at listeners that get certificates on demand, at most `most`.
  std::vector<WantedName> take_wanted_names(std::size_t most);
  /// Returns the state of each backend of the program and of its endpoints.
  std::vector<BackendStatus> backends() const;

  /// Stops accepting, answers requests in flight with `Connection: close`, closes idle connections; returns when all
  /// connections are closed or the time is up (then the rest is reset). \returns whether all closed in time.
  bool drain(std::chrono::nanoseconds deadline);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
