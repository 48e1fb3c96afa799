// The state of one backend, shared by the whole process: which of its endpoints take traffic, its circuit, its
// connection limit. Changed here, and read by the pools of all threads. Keyed by the backend's stable id it outlives
// programs: settings and endpoints change under it.
//
// Threads: any. A request reads two words; the lock is taken for changes and errors.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/clock.h"
#include "net/socket.h"
#include "program/values/endpoints.h"
#include "runtime/phase/endpoint_cluster.h"
#include "runtime/upstream/health/backend_status.h"
#include "runtime/upstream/health/circuit.h"
#include "runtime/upstream/health/failover.h"
#include "runtime/upstream/health/health.h"
#include "runtime/upstream/health/outlier.h"
#include "runtime/upstream/health/request_result.h"
#include "runtime/upstream/pool/connection_room.h"

namespace edge::runtime {

/// Earlier priorities are enough while at least this share of their endpoints, by weight, can take traffic: the rest
/// then carries at most 1.4 times its load.
inline constexpr std::uint32_t kEnoughPercent = 70;

/// How the health of a backend's endpoints is determined. Zeros: not at all.
struct HealthSettings {
  HealthThresholds health;
  OutlierSettings outlier;
  std::uint32_t max_ejection_percent = 0;
  CircuitSettings circuit;
  bool retries = false;  ///< the backend has a retry policy
  /// Other clusters that serve the backend too.
  struct Cluster {
    std::string name;      ///< `*`: every other that has endpoints here
    std::string region{};  ///< empty: that of its endpoints
    std::uint32_t priority = 1;
    std::uint32_t weight = 1;
  };
  std::vector<Cluster> clusters{};
  std::uint32_t healthy_percent = kEnoughPercent;
  /// Requests in flight for each own endpoint above which others go to other clusters; 0: any number.
  std::uint32_t most_in_flight = 0;
};

/// Endpoints of a later priority take traffic only while too few of the earlier ones can.
enum class EndpointPriority : std::uint8_t {
  kOwnZone,  ///< of the agent's zone
  kOther,
};

/// Tries that were sent to one other cluster, by their result. Threads: any.
struct ClusterCounts {
  std::array<std::atomic<std::uint64_t>, kRequestResults> tries{};

  void add(RequestResult result) { tries[static_cast<std::size_t>(result)].fetch_add(1, std::memory_order_relaxed); }
};

/// One endpoint. On a cache line of its own: every thread that balances by load writes to it.
struct alignas(64) EndpointState {
  /// `counts`: of its cluster; null where `of` is empty.
  explicit EndpointState(const net::SocketAddress& at, std::string of = {}, std::shared_ptr<ClusterCounts> counts = {})
      : address(at), cluster(std::move(of)), watched_(cluster.empty() ? 0 : kCounted), counts_(std::move(counts)) {}

  const net::SocketAddress address;
  /// The other cluster whose gateway it is; empty: of this cluster.
  const std::string cluster;
  /// Requests in flight over all threads. Relaxed: a choice may be based on a slightly old value.
  std::atomic<std::uint32_t> in_flight{0};

 private:
  friend class BackendState;
  static constexpr std::uint8_t kErring = 1;
  static constexpr std::uint8_t kCounted = 2;
  void set_erring(bool erring) {
    watched_.store(static_cast<std::uint8_t>((erring ? kErring : 0) | (cluster.empty() ? 0 : kCounted)),
                   std::memory_order_relaxed);
  }

  /// Why a success must be recorded too. kErring: its last requests failed. kCounted: its cluster's are counted.
  std::atomic<std::uint8_t> watched_;
  const std::shared_ptr<ClusterCounts> counts_;  ///< null: of this cluster
  // Guarded by the backend's mutex.
  bool ready_ = true;
  std::uint16_t weight_ = 1;
  EndpointPriority priority_ = EndpointPriority::kOther;
  program::EndpointZones zones_{};
  bool usable_ = false;  ///< its health allows traffic
  bool in_use_ = false;  ///< and its priority gets traffic
  std::uint8_t healthy_percent_ = 100;
  std::uint32_t group_ = 0;                        ///< position of its cluster among the groups
  std::shared_ptr<const EndpointCluster> labels_;  ///< null: own, or of a cluster that is not named
  std::uint16_t share_ = 1;                        ///< its weight beside the others in use
  EndpointHealth health_;
  Outlier outlier_;
  net::Time usable_since_{};
  std::chrono::system_clock::time_point last_check_{};
  std::string last_error_;
};

class BackendState {
 public:
  explicit BackendState(std::uint64_t id) : id_(id) {}
  BackendState(const BackendState&) = delete;
  BackendState& operator=(const BackendState&) = delete;

  std::uint64_t id() const { return id_; }
  struct Name {
    std::string name_space;
    std::string name;
  };
  void configure(Name name, const HealthSettings& settings, net::Time now);
  /// Replaces the endpoints. Those that stay keep their state; so do those that are listed as not ready. `zone`: the
  /// agent's, and its region; empty: it prefers none.
  void set_endpoints(std::span<const program::Endpoint> endpoints, net::Time now, std::string_view zone = {},
                     std::string_view region = {});
  std::vector<std::shared_ptr<EndpointState>> endpoints() const;

  struct Choice {
    std::shared_ptr<EndpointState> endpoint;
    bool in_use = false;
    bool reserve = false;                              ///< could take traffic, and is not needed
    std::shared_ptr<const EndpointCluster> cluster{};  ///< null: of this cluster
    std::uint16_t weight = 1;
    /// When it was added to a running backend; zero: no slow start.
    net::Time since{};
  };
  struct View {
    std::vector<Choice> endpoints;
    std::uint32_t generation = 0;
    /// Requests in flight are needed to share them among clusters.
    bool counts_load = false;
    /// When to call `view` again though the generation is the same: an ejection ends.
    net::Time until = net::kNever;
  };
  /// Returns what a pool uses until the generation changes.
  View view(net::Time now);
  std::uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Returns whether the circuit is closed; while it is not, each request calls `admit`.
  bool circuit_closed() const { return circuit_closed_.load(std::memory_order_relaxed); }
  Circuit::Admission admit(net::Time now);

  /// Records the result of a request. Cost of a success where nothing fails: two loads.
  void observe(EndpointState& endpoint, RequestResult outcome, bool probe, net::Time now) {
    if (outcome == RequestResult::kSuccess && !probe && endpoint.watched_.load(std::memory_order_relaxed) == 0 &&
        circuit_clean_.load(std::memory_order_relaxed)) {
      return;
    }
    record(endpoint, outcome, probe, now);
  }
  /// Called for an admitted request that was not sent to an endpoint.
  void nothing_met(bool probe, net::Time now) {
    if (probe) update_health(nullptr, RequestResult::kUnknown, probe, now);
  }
  /// Records the result of an active check; `error` is empty for a success.
  void checked(EndpointState& endpoint, std::string error, net::Time now);

  ConnectionRoom& room() { return room_; }
  /// Requests in flight to a backend with retries, and below, those of them that are retries.
  BoundedCount& live() { return live_; }
  BoundedCount& retrying() { return retrying_; }
  void count_retry(bool allowed) { (allowed ? retries_ : retries_refused_).fetch_add(1, std::memory_order_relaxed); }
  void count_connect() { connects_.fetch_add(1, std::memory_order_relaxed); }
  void count_connect_failure() { connect_failures_.fetch_add(1, std::memory_order_relaxed); }
  void count_overflow() { overflows_.fetch_add(1, std::memory_order_relaxed); }

  BackendStatus status(net::Time now);

 private:
  void record(EndpointState& endpoint, RequestResult outcome, bool probe, net::Time now);
  void update_health(EndpointState* endpoint, RequestResult outcome, bool probe, net::Time now);
  bool may_eject() const;
  void publish(net::Time now);
  EndpointPriority last_priority() const;
  bool find_usable(net::Time now);
  /// The endpoints of one cluster; the first are the own ones.
  struct Group {
    std::string cluster{};
    const HealthSettings::Cluster* settings = nullptr;  ///< null: own
    std::shared_ptr<const EndpointCluster> labels{};    ///< null: own
    double share = 0;                                   ///< of all requests, 0 to 1
  };
  void find_groups();
  std::shared_ptr<ClusterCounts> counts_of(const std::string& cluster);
  void drop_counts();
  ClusterStatus status_of(const Group& group) const;
  std::string region_of(const std::string& cluster, const HealthSettings::Cluster& settings) const;
  /// Past the last group: of a cluster that is not named.
  std::uint32_t group_of(const EndpointState& endpoint) const;
  std::uint32_t level_of(std::uint32_t group) const;
  void find_shares(net::Time now);
  bool share_out(net::Time now);
  void publish_circuit();

  const std::uint64_t id_;

  // Read by every request; written for changes only.
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> circuit_closed_{true};
  std::atomic<bool> circuit_clean_{true};

  alignas(64) ConnectionRoom room_;
  BoundedCount live_;
  BoundedCount retrying_;
  std::atomic<std::uint64_t> retries_{0};
  std::atomic<std::uint64_t> retries_refused_{0};
  std::atomic<std::uint64_t> overflows_{0};
  std::atomic<std::uint64_t> connects_{0};
  std::atomic<std::uint64_t> connect_failures_{0};

  mutable std::mutex mutex_;
  Name name_;
  HealthSettings settings_;
  Circuit circuit_;
  std::vector<std::shared_ptr<EndpointState>> endpoints_;
  std::string region_;  ///< the agent's
  std::vector<Group> groups_{1};
  /// Of the clusters that have endpoints, by name.
  std::map<std::string, std::shared_ptr<ClusterCounts>> cluster_counts_;
  double most_of_own_ = 1;
  net::Time until_ = net::kNever;
  std::uint64_t checks_ = 0;
  std::uint64_t failed_checks_ = 0;
  std::uint64_t ejections_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace edge::runtime
