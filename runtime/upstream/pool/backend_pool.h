// The connections of one thread to one backend, and the load balancing among its endpoints.
//
// Keyed by the backend's stable id, it outlives programs: settings and endpoints change under it, its connections stay.
// Health, circuit and limits are shared by the process (backend_state.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "net/counter.h"
#include "net/http2/client_connection.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls/client.h"
#include "net/tls/record_layer.h"
#include "program/format/format.h"
#include "program/values/endpoints.h"
#include "runtime/upstream/balance/balance.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/pool/cluster_way.h"
#include "runtime/upstream/pool/connection.h"
#include "runtime/upstream/pool/shared_connection.h"
#include "runtime/upstream/route_marks.h"

namespace edge::runtime {

enum class AcquireFault : std::uint8_t {
  kNone,
  kNoEndpoint,         ///< 503 `no-endpoint`
  kNoHealthyEndpoint,  ///< 503 `no-healthy-endpoint`: all have failed their checks, or are ejected
  kCircuitOpen,        ///< 503 `circuit-open`
  kOverloaded,         ///< 503 `overloaded`: connection limit reached and the queue full, or timed out in the queue
  kConnect,            ///< 502 `connect-failed`
  kTls,                ///< 502 `tls-failed`
  kTimeout,            ///< 504: the request's own deadline passed first
  kCancelled,
};

/// What a request needs from a pool.
struct Wanted {
  net::Time deadline = net::kNever;
  /// A connection attempt that began before this time is blamed on its endpoint when the deadline ends it.
  net::Time fault_before = net::Time::min();
  /// As for Balancer::pick.
  std::uint64_t key = 0;
  /// Always a new connection.
  bool fresh = false;
  /// The first endpoint of `avoid` is preferred instead, if it takes traffic.
  bool prefers_first = false;
  /// Endpoints to avoid, where there are others.
  std::vector<net::SocketAddress> avoid{};
  /// The PROXY header that a new connection begins with; pooled connections are reused for the same header only. Must
  /// outlive the task.
  std::string_view header{};
  /// RouteMarks::way_of; pooled connections are reused for the same one only.
  std::uint64_t way = 0;
};

struct Acquired {
  std::unique_ptr<UpstreamConnection> connection;
  AcquireFault fault = AcquireFault::kNone;
  /// The endpoint that could not be reached: nothing of the request was sent.
  std::optional<net::SocketAddress> tried{};
};

/// What to do with a connection after a request.
enum class AfterUse : std::uint8_t {
  kKeep,    ///< the response was read to its end, and both sides keep the connection alive
  kClose,   ///< it cannot carry another request
  kFailed,  ///< the endpoint failed before the response's head: it counts as slow
};

/// Counters of one thread.
struct UpstreamCounts {
  net::Counter connects;
  net::Counter reused;
  net::Counter tls_failures;
};

/// Objects that the pools of a thread share.
struct PoolContext {
  net::Loop& loop;
  UpstreamCounts& counts;
  net::http2::ClientEngine& http2;
  net::tls::RecordRoom& records;
  const RouteMarks& marks;
};

class BackendPool final : public std::enable_shared_from_this<BackendPool>, private ConnectionRoom::Member {
 public:
  /// `start` differs between threads.
  static std::shared_ptr<BackendPool> make(const PoolContext& context, std::shared_ptr<BackendState> state,
                                           std::uint64_t start);
  BackendPool(const PoolContext& context, std::shared_ptr<BackendState> state, std::uint64_t start)
      : loop_(context.loop),
        counts_(context.counts),
        http2_(context.http2),
        records_(context.records),
        marks_(context.marks),
        state_(std::move(state)),
        balancer_(start) {}
  ~BackendPool();
  BackendPool(const BackendPool&) = delete;
  BackendPool& operator=(const BackendPool&) = delete;

  void configure(const program::BackendRecord& record, net::Duration default_idle_timeout);
  /// Sets how other clusters are reached, one way to each, and which of them are believed (null: none). Connections to
  /// those that are not any more are closed, with their streams. To be called before `configure`.
  void set_ways(std::vector<ClusterWay> ways, std::shared_ptr<const net::tls::Authorities> peers);
  /// Sets the TLS context for the endpoints where the settings ask for TLS; null: connections fail.
  void encrypt(std::shared_ptr<const net::tls::ClientContext> context);
  const program::BackendRecord& settings() const { return settings_; }
  BackendState& state() { return *state_; }
  const RouteMarks& marks() const { return marks_; }
  /// Updates the endpoints from the backend's state. Idle connections to removed ones are closed.
  void refresh();
  /// The same, if the state has changed.
  void up_to_date() {
    if (seen_ != state_->generation() || loop_.now() >= seen_until_) refresh();
  }

  /// Returns whether the endpoint takes traffic now.
  bool serves(const net::SocketAddress& endpoint);
  /// Returns whether any endpoint does.
  bool serves_any();
  /// Returns whether an endpoint that is not in `than` takes traffic.
  bool has_other(std::span<const net::SocketAddress> than) const;
  /// Returns the other cluster that an endpoint belongs to; null: this one.
  std::shared_ptr<const EndpointCluster> cluster_of(const net::SocketAddress& address) const;
  /// Returns whether requests with equal keys go to equal endpoints.
  bool keyed() const { return balancer_.keyed(); }
  /// What a session of datagrams gets, of which the pool keeps nothing.
  struct ChosenEndpoint {
    std::shared_ptr<UpstreamEndpoint> endpoint;
    AcquireFault fault = AcquireFault::kNone;
    bool probe = false;  ///< it tries out an open circuit
  };
  /// `wanted`: its key, and endpoints to avoid.
  ChosenEndpoint choose_endpoint(const Wanted& wanted);
  /// Another one after the endpoints, or which of them take traffic, have changed.
  std::uint32_t seen() const { return seen_; }
  bool weighs_load() const { return balancer_.weighs_load(); }
  /// Returns a pooled connection if there is one, else a new one. Completes at once when pooled.
  net::Task<Acquired> acquire(net::Waiter& waiter, const Wanted& wanted);
  void release(std::unique_ptr<UpstreamConnection> connection, AfterUse after);
  /// Closes every unused connection.
  void close_idle();

 private:
  friend class SharedConnection;
  friend class UpstreamConnection;

  /// The parameters of an acquire in progress.
  struct Seeking {
    net::Waiter& waiter;
    Wanted wanted;
    bool probe = false;
  };

  // Called by other threads.
  void room_wanted() override;
  void room_free() override;

  AcquireFault no_endpoint() const;
  std::shared_ptr<UpstreamEndpoint> pick(const Wanted& wanted);
  std::shared_ptr<UpstreamEndpoint> steer(const Wanted& wanted, std::size_t at);
  /// Null: it takes no traffic.
  const std::shared_ptr<UpstreamEndpoint>* find_usable(const net::SocketAddress& address) const;
  bool keeps_idle(UpstreamConnection& connection);
  std::unique_ptr<UpstreamConnection> take_instead(const UpstreamEndpoint& wanted, const Seeking& seeking);
  UpstreamConnection* take_idle(UpstreamEndpoint& endpoint, std::uint64_t way, bool probe);
  UpstreamConnection* any_idle() const;
  /// \returns false when every connection is in use.
  bool close_any_idle();
  void remove_idle(UpstreamConnection& connection);
  void discard(std::unique_ptr<UpstreamConnection> connection);
  bool take_room() { return state_->room().take(settings_.max_connections); }
  void room_freed();
  void wake_next();
  void leave_queue();
  /// Returns whether a connection that was just closed should make room for a request of another thread.
  bool yields() const { return state_->room().queued() > queued_ && (pending_.empty() || turn_ % 2 == 0); }
  Acquired failed(const Seeking& seeking, AcquireFault fault);
  net::Task<Acquired> seek(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  /// Makes a connection, which is already counted against the limit.
  net::Task<Acquired> make_connection(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint) {
    if (endpoint->shares) return connect_shared(std::move(seeking), std::move(endpoint));
    return connect(std::move(seeking), std::move(endpoint));
  }
  net::Task<AcquireFault> secure(net::Waiter& waiter, UpstreamConnection& connection, net::Time until);
  net::Task<Acquired> connect(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  net::Task<Acquired> wait_for_room(Seeking seeking);

  bool encrypts(const UpstreamEndpoint& endpoint) const {
    return settings_.tls.count != 0 || !endpoint.state->cluster.empty();
  }
  std::shared_ptr<const ClusterWay> way_to(const std::string& cluster) const;
  /// Sets what kind of connections the endpoint has.
  void set_way(UpstreamEndpoint& endpoint) const;

  // HTTP/2: shared_connection.cc.
  UpstreamConnection* take_stream(UpstreamEndpoint& endpoint, std::uint64_t way, bool probe);
  void put_stream(SharedConnection& shared, UpstreamConnection& connection);
  bool share(UpstreamConnection& connection);
  void end_stream(std::unique_ptr<UpstreamConnection> connection);
  net::Task<Acquired> join(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  net::Task<Acquired> connect_shared(Seeking seeking, std::shared_ptr<UpstreamEndpoint> endpoint);
  void connected(UpstreamEndpoint& endpoint, bool failed);
  void wake_for_room(const SharedConnection& shared);
  SharedConnection* idle_shared() const;
  void close_shared(bool all);
  void close_refused();

  net::Loop& loop_;
  UpstreamCounts& counts_;
  net::http2::ClientEngine& http2_;
  net::tls::RecordRoom& records_;
  const RouteMarks& marks_;
  std::shared_ptr<const net::tls::ClientContext> tls_;
  const std::shared_ptr<BackendState> state_;
  std::vector<std::shared_ptr<const ClusterWay>> ways_;
  std::shared_ptr<const net::tls::Authorities> peers_;
  /// Requests in flight are counted: balancing needs it, or spilling to other clusters.
  bool counts_load_ = false;
  program::BackendRecord settings_{};
  net::Duration idle_timeout_{};
  net::Duration slow_start_{};
  Balancer balancer_;
  std::uint32_t seen_ = 0;
  net::Time seen_until_{};
  std::vector<std::shared_ptr<UpstreamEndpoint>> endpoints_;
  /// The endpoints that take traffic: the balancer chooses among them.
  std::vector<std::shared_ptr<UpstreamEndpoint>> in_use_;
  /// Endpoints of other zones that could: for sessions with them, and for retries that have no other endpoint left.
  std::vector<std::shared_ptr<UpstreamEndpoint>> reserve_;
  std::uint32_t reserve_turn_ = 0;
  /// All shared connections, including those of removed endpoints.
  SharedConnection* shared_ = nullptr;
  std::deque<net::Waiter*> pending_;
  /// The number of requests that wait here, including those that were woken and have not run yet.
  std::uint32_t queued_ = 0;
  /// Alternates freed connections between this thread's queue and others': the others' turn when even.
  std::uint32_t turn_ = 0;
};

}  // namespace edge::runtime
