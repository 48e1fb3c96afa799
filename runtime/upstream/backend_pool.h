// The connections of one thread to one backend, and the choice among its endpoints.
//
// Keyed by the backend's stable id, it outlives swaps of the program: settings and endpoints change under it, its
// connections stay. Limits are of the process; each thread has its share, rounded up.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "net/counter.h"
#include "net/loop.h"
#include "net/task.h"
#include "program/endpoints.h"
#include "program/format.h"
#include "runtime/upstream/balance.h"
#include "runtime/upstream/connection.h"

namespace edge::runtime {

enum class AcquireFault : std::uint8_t {
  kNone,
  kNoEndpoint,  ///< 503 `no-endpoint`
  kOverloaded,  ///< 503 `overloaded`: connection limit reached and the queue full, or waited too long in it
  kConnect,     ///< 502 `connect-failed`
  kTimeout,     ///< 504: the request's own deadline came first
  kCancelled,
};

struct Acquired {
  std::unique_ptr<UpstreamConnection> connection;
  AcquireFault fault = AcquireFault::kNone;
};

/// What becomes of a connection after a request.
enum class AfterUse : std::uint8_t {
  kKeep,    ///< the response was read to its exact end, and both sides let the connection live
  kClose,   ///< it cannot carry another
  kFailed,  ///< the endpoint broke it before the response's head: it counts as slow
};

/// Of one thread.
struct UpstreamCounts {
  net::Counter connects;
  net::Counter reused;
};

class BackendPool {
 public:
  BackendPool(net::Loop& loop, UpstreamCounts& counts, EndpointLoads& loads, unsigned threads, std::uint64_t start)
      : loop_(loop), counts_(counts), loads_(loads), threads_(threads), balancer_(start) {}
  ~BackendPool();
  BackendPool(const BackendPool&) = delete;
  BackendPool& operator=(const BackendPool&) = delete;

  void configure(const program::BackendRecord& record, net::Duration default_idle_timeout);
  const program::BackendRecord& settings() const { return settings_; }
  /// Endpoints that are not ready take no new request. Idle connections to those that went away are closed.
  void set_endpoints(std::span<const program::Endpoint> endpoints);

  /// Whether requests with equal keys go to equal endpoints.
  bool keyed() const { return balancer_.keyed(); }
  /// A pooled connection if there is one, else a new one. `fresh`: never a pooled one. `key`: as Balancer::pick takes
  /// it. Ready at once when pooled.
  net::Task<Acquired> acquire(net::Waiter& waiter, net::Time deadline, std::uint64_t key, bool fresh);
  void release(std::unique_ptr<UpstreamConnection> connection, AfterUse after);
  /// Closes every connection that nobody uses.
  void close_idle();

 private:
  friend class UpstreamConnection;

  std::shared_ptr<UpstreamEndpoint> pick(std::uint64_t key);
  std::unique_ptr<UpstreamConnection> take_instead(const UpstreamEndpoint& wanted, bool fresh);
  UpstreamConnection* take_idle(UpstreamEndpoint& endpoint);
  UpstreamConnection* take_any_idle();
  void remove_idle(UpstreamConnection& connection);
  void discard(std::unique_ptr<UpstreamConnection> connection);
  bool full() const { return max_connections_ != 0 && connections_ >= max_connections_; }
  void wake_next();
  net::Task<Acquired> connect(net::Waiter& waiter, net::Time deadline, std::shared_ptr<UpstreamEndpoint> endpoint);
  net::Task<Acquired> wait_for_room(net::Waiter& waiter, net::Time deadline, std::uint64_t key, bool fresh);

  net::Loop& loop_;
  UpstreamCounts& counts_;
  EndpointLoads& loads_;
  unsigned threads_;
  program::BackendRecord settings_{};
  net::Duration idle_timeout_{};
  std::uint32_t max_connections_ = 0;
  std::uint32_t max_pending_ = 0;
  Balancer balancer_;
  /// In use, idle, or on their way.
  std::uint32_t connections_ = 0;
  std::vector<std::shared_ptr<UpstreamEndpoint>> endpoints_;
  std::deque<net::Waiter*> pending_;
};

}  // namespace edge::runtime
