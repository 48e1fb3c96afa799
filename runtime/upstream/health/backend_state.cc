#include "runtime/upstream/health/backend_state.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "program/cluster_traffic.h"

namespace edge::runtime {
namespace {

/// Weights of endpoints in use add up to about so much while clusters share the requests.
constexpr double kAllShares = 4096;
/// How often load is looked at where it decides.
constexpr net::Duration kLookAtLoad = std::chrono::milliseconds(250);

}  // namespace

void BackendState::configure(Name name, const HealthSettings& settings, net::Time now) {
  const std::lock_guard lock(mutex_);
  name_ = std::move(name);
  settings_ = settings;
  // Nobody would ever close a circuit, readmit an endpoint or check it again for which there are no settings.
  if (settings.circuit.errors == 0) circuit_ = {};
  for (const auto& endpoint : endpoints_) {
    if (settings.max_ejection_percent == 0) endpoint->outlier_ = {};
    if (settings.health.healthy == 0) endpoint->health_ = {};
  }
  publish_circuit();
  publish(now);
}

void BackendState::set_endpoints(std::span<const program::Endpoint> endpoints, net::Time now, std::string_view zone,
                                 std::string_view region) {
  const std::lock_guard lock(mutex_);
  region_ = region;
  std::vector<std::shared_ptr<EndpointState>> next;
  next.reserve(endpoints.size());
  bool changed = endpoints.size() != endpoints_.size();
  // Both are sorted by address and port.
  auto known = endpoints_.begin();
  for (const program::Endpoint& endpoint : endpoints) {
    const auto before = [&](const auto& state) {
      return std::tie(state->address.address, state->address.port) < std::tie(endpoint.address, endpoint.port);
    };
    while (known != endpoints_.end() && before(*known)) ++known;
    const net::SocketAddress address{endpoint.address, endpoint.port};
    if (known != endpoints_.end() && (*known)->address == address && (*known)->cluster == endpoint.cluster) {
      next.push_back(*known);
    } else {
      next.push_back(std::make_shared<EndpointState>(address, endpoint.cluster, counts_of(endpoint.cluster)));
      changed = true;
    }
    changed |= std::exchange(next.back()->ready_, endpoint.ready) != endpoint.ready;
    changed |= std::exchange(next.back()->weight_, endpoint.weight) != endpoint.weight;
    const bool own = !zone.empty() && std::ranges::find(endpoint.zones, zone) != endpoint.zones.end();
    next.back()->priority_ = own ? EndpointPriority::kOwnZone : EndpointPriority::kOther;
    next.back()->zones_ = endpoint.zones;
    next.back()->healthy_percent_ = endpoint.healthy_percent;
  }
  endpoints_.swap(next);
  drop_counts();
  publish(now);
  if (changed) generation_.fetch_add(1, std::memory_order_release);
}

/// Null for this cluster.
std::shared_ptr<ClusterCounts> BackendState::counts_of(const std::string& cluster) {
  if (cluster.empty()) return nullptr;
  auto& counts = cluster_counts_[cluster];
  if (counts == nullptr) counts = std::make_shared<ClusterCounts>();
  return counts;
}

/// Those of clusters without endpoints, so that there are never more than there are endpoints.
void BackendState::drop_counts() {
  std::erase_if(cluster_counts_, [&](const auto& one) {
    return std::ranges::none_of(endpoints_, [&](const auto& endpoint) { return endpoint->cluster == one.first; });
  });
}

std::vector<std::shared_ptr<EndpointState>> BackendState::endpoints() const {
  const std::lock_guard lock(mutex_);
  return endpoints_;
}

BackendState::View BackendState::view(net::Time now) {
  const std::lock_guard lock(mutex_);
  if (now >= until_) {
    for (const auto& endpoint : endpoints_) endpoint->outlier_.readmit(now);
    publish(now);
  }
  View view{{}, generation_.load(std::memory_order_relaxed), settings_.most_in_flight != 0, until_};
  view.endpoints.reserve(endpoints_.size());
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->ready_) continue;
    view.endpoints.push_back({.endpoint = endpoint,
                              .in_use = endpoint->in_use_,
                              .reserve = endpoint->usable_ && !endpoint->in_use_,
                              .cluster = endpoint->labels_,
                              .weight = endpoint->share_,
                              .since = endpoint->usable_since_});
  }
  return view;
}

/// Works out anew which endpoints take traffic. Those of a later priority do not while the earlier ones are enough.
void BackendState::publish(net::Time now) {
  bool changed = find_usable(now);
  changed |= share_out(now);
  if (changed) generation_.fetch_add(1, std::memory_order_release);
}

/// Those without a verdict take traffic while none of their cluster is known to be healthy, so that a process that has
/// just started serves, and an endpoint that has just come waits for its checks. \returns whether any is another.
bool BackendState::find_usable(net::Time now) {
  const auto may = [](const EndpointState& endpoint) { return endpoint.ready_ && !endpoint.outlier_.ejected(); };
  find_groups();
  std::vector<bool> verdict(groups_.size());
  bool others = false;
  for (const auto& endpoint : endpoints_) {
    endpoint->group_ = group_of(*endpoint);
    others |= endpoint->usable_;
    if (endpoint->group_ >= verdict.size()) continue;
    if (may(*endpoint) && endpoint->health_.health() == Health::kHealthy) verdict[endpoint->group_] = true;
  }
  bool changed = false;
  until_ = net::kNever;
  for (const auto& endpoint : endpoints_) {
    // A gateway of a cluster that the backend does not name is not called.
    const bool known = endpoint->group_ < verdict.size();
    const Health needed = known && verdict[endpoint->group_] ? Health::kHealthy : Health::kInitial;
    const auto labels = known ? groups_[endpoint->group_].labels : nullptr;
    changed |= std::exchange(endpoint->labels_, labels) != labels;
    const bool usable = known && may(*endpoint) && endpoint->health_.health() == needed;
    if (endpoint->outlier_.ejected()) until_ = std::min(until_, endpoint->outlier_.ejected_until());
    if (usable == endpoint->usable_) continue;
    endpoint->usable_ = usable;
    endpoint->usable_since_ = usable && others ? now : net::Time{};
    changed = true;
  }
  return changed;
}

/// Keeps the shares of those that stay.
void BackendState::find_groups() {
  std::vector<Group> next(1);
  next[0].share = groups_[0].share;
  const HealthSettings::Cluster* any = nullptr;
  for (const HealthSettings::Cluster& cluster : settings_.clusters) {
    if (cluster.name == program::kAnyCluster) any = &cluster;
  }
  for (const auto& endpoint : endpoints_) {
    const std::string& name = endpoint->cluster;
    if (name.empty() || std::ranges::find(next, name, &Group::cluster) != next.end()) continue;
    const auto named = std::ranges::find(settings_.clusters, name, &HealthSettings::Cluster::name);
    const HealthSettings::Cluster* const settings = named != settings_.clusters.end() ? &*named : any;
    if (settings == nullptr || next.size() > program::kMostClusterRefs) continue;
    const auto before = std::ranges::find(groups_, name, &Group::cluster);
    EndpointCluster labels{name, region_of(name, *settings), settings->priority};
    const bool same = before != groups_.end() && *before->labels == labels;
    next.push_back({.cluster = name,
                    .settings = settings,
                    .labels = same ? before->labels : std::make_shared<const EndpointCluster>(std::move(labels)),
                    .share = before != groups_.end() ? before->share : 0});
  }
  groups_ = std::move(next);
}

/// As it is written, else as the cluster tells it with its endpoints.
std::string BackendState::region_of(const std::string& cluster, const HealthSettings::Cluster& settings) const {
  if (!settings.region.empty()) return settings.region;
  const auto told = std::ranges::find_if(
      endpoints_, [&](const auto& endpoint) { return endpoint->cluster == cluster && !endpoint->zones_.empty(); });
  return told == endpoints_.end() ? std::string() : (*told)->zones_.front();
}

std::uint32_t BackendState::group_of(const EndpointState& endpoint) const {
  const auto found = std::ranges::find(groups_, endpoint.cluster, &Group::cluster);
  return static_cast<std::uint32_t>(found - groups_.begin());
}

/// One of the agent's region comes before others of its priority.
std::uint32_t BackendState::level_of(std::uint32_t group) const {
  const EndpointCluster& labels = *groups_[group].labels;
  const bool own_region = !region_.empty() && labels.region == region_;
  return 2 * labels.priority + (own_region ? 0 : 1);
}

/// \returns whether what an endpoint gets is another.
bool BackendState::share_out(net::Time now) {
  const EndpointPriority last = last_priority();
  std::vector<std::uint64_t> weights(groups_.size());
  if (groups_.size() > 1) {
    find_shares(now);
    for (const auto& endpoint : endpoints_) {
      const bool counts = endpoint->usable_ && (endpoint->group_ != 0 || endpoint->priority_ <= last);
      if (counts) weights[endpoint->group_] += endpoint->weight_;
    }
  } else {
    groups_[0].share = 1;
  }
  // While one group takes all, weights are as they are written.
  const auto taking = std::ranges::count_if(groups_, [](const Group& group) { return group.share > 0; });
  bool changed = false;
  for (const auto& endpoint : endpoints_) {
    const std::uint32_t group = endpoint->group_;
    const bool chosen =
        group < groups_.size() && groups_[group].share > 0 && (group != 0 || endpoint->priority_ <= last);
    const bool in_use = endpoint->usable_ && chosen;
    changed |= std::exchange(endpoint->in_use_, in_use) != in_use;
    std::uint16_t share = endpoint->weight_;
    if (in_use && taking > 1) {
      const double part = groups_[group].share * endpoint->weight_ / static_cast<double>(weights[group]);
      share = static_cast<std::uint16_t>(std::clamp(std::round(part * kAllShares), 1.0, kAllShares));
    }
    changed |= std::exchange(endpoint->share_, share) != share;
  }
  return changed;
}

void BackendState::find_shares(net::Time now) {
  std::vector<FailoverGroup> groups(groups_.size());
  std::uint64_t in_flight = 0;
  std::uint64_t own = 0;
  for (std::uint32_t i = 1; i < groups.size(); ++i) {
    groups[i].level = level_of(i);
    groups[i].weight = groups_[i].settings->weight;
  }
  for (const auto& endpoint : endpoints_) {
    if (endpoint->group_ >= groups.size()) continue;
    FailoverGroup& group = groups[endpoint->group_];
    group.all += endpoint->weight_;
    if (endpoint->usable_) group.usable += endpoint->weight_;
    if (endpoint->group_ != 0) group.healthy_percent = endpoint->healthy_percent_;
    if (endpoint->group_ != 0 || !endpoint->usable_) continue;
    ++own;
    in_flight += endpoint->in_flight.load(std::memory_order_relaxed);
  }
  if (settings_.most_in_flight != 0) {
    most_of_own_ = most_of_own(in_flight, groups_[0].share, own, settings_.most_in_flight);
    until_ = std::min(until_, now + kLookAtLoad);
  } else {
    most_of_own_ = 1;
  }
  const std::vector<double> shares = failover_shares(groups, {settings_.healthy_percent, most_of_own_});
  for (std::size_t i = 0; i < shares.size(); ++i) groups_[i].share = shares[i];
}

/// Returns the first priority up to which enough endpoints can take traffic. One that is not ready is one that cannot.
EndpointPriority BackendState::last_priority() const {
  std::uint64_t all = 0;
  std::uint64_t usable = 0;
  for (const auto& endpoint : endpoints_) {
    if (endpoint->priority_ != EndpointPriority::kOwnZone || !endpoint->cluster.empty()) continue;
    all += endpoint->weight_;
    if (endpoint->usable_) usable += endpoint->weight_;
  }
  const bool enough = usable != 0 && usable * 100 >= all * kEnoughPercent;
  return enough ? EndpointPriority::kOwnZone : EndpointPriority::kOther;
}

void BackendState::publish_circuit() {
  circuit_closed_.store(circuit_.state() == Circuit::State::kClosed, std::memory_order_relaxed);
  circuit_clean_.store(circuit_.clean(), std::memory_order_relaxed);
}

Circuit::Admission BackendState::admit(net::Time now) {
  const std::lock_guard lock(mutex_);
  return circuit_.admit(now);
}

void BackendState::record(EndpointState& endpoint, RequestResult outcome, bool probe, net::Time now) {
  if (endpoint.counts_ != nullptr) {
    endpoint.counts_->add(outcome);
    const bool erring = (endpoint.watched_.load(std::memory_order_relaxed) & EndpointState::kErring) != 0;
    const bool clean = circuit_clean_.load(std::memory_order_relaxed);
    if (outcome == RequestResult::kSuccess && !probe && !erring && clean) return;
  }
  update_health(&endpoint, outcome, probe, now);
}

void BackendState::update_health(EndpointState* endpoint, RequestResult outcome, bool probe, net::Time now) {
  const std::lock_guard lock(mutex_);
  const bool changed = circuit_.observe(outcome, probe, settings_.circuit, now);
  if (changed && is_error(outcome)) ++opened_;
  publish_circuit();
  if (endpoint == nullptr || settings_.max_ejection_percent == 0) return;
  const bool due = endpoint->outlier_.observe(outcome, settings_.outlier, now);
  if (due && may_eject()) {
    endpoint->outlier_.eject(settings_.outlier, now);
    ++ejections_;
    publish(now);
  }
  endpoint->set_erring(endpoint->outlier_.run() != 0);
}

bool BackendState::may_eject() const {
  std::uint64_t ready = 0;
  std::uint64_t ejected = 0;
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->ready_) continue;
    ++ready;
    if (endpoint->outlier_.ejected()) ++ejected;
  }
  return program::may_eject(ready, ejected, settings_.max_ejection_percent);
}

void BackendState::checked(EndpointState& endpoint, std::string error, net::Time now) {
  const std::lock_guard lock(mutex_);
  ++checks_;
  if (!error.empty()) ++failed_checks_;
  endpoint.last_check_ = std::chrono::system_clock::now();
  const bool changed = endpoint.health_.checked(error.empty(), settings_.health);
  endpoint.last_error_ = std::move(error);
  if (changed) publish(now);
}

ClusterStatus BackendState::status_of(const Group& group) const {
  ClusterStatus status{.cluster = group.cluster, .share = group.share};
  const auto counts = cluster_counts_.find(group.cluster);
  if (counts == cluster_counts_.end()) return status;
  for (std::size_t i = 0; i < kRequestResults; ++i) {
    status.tries[i] = counts->second->tries[i].load(std::memory_order_relaxed);
  }
  return status;
}

BackendStatus BackendState::status(net::Time now) {
  view(now);  // an ejection may be over
  const std::lock_guard lock(mutex_);
  BackendStatus status;
  status.id = id_;
  status.name_space = name_.name_space;
  status.name = name_.name;
  status.circuit = circuit_.state();
  if (status.circuit == Circuit::State::kOpen) {
    status.open_for = std::max(net::Duration(0), circuit_.open_until() - now);
    if (status.open_for == net::Duration(0)) status.circuit = Circuit::State::kHalfOpen;
  }
  for (const auto& endpoint : endpoints_) {
    status.endpoints.push_back(
        {.address = endpoint->address,
         .ready = endpoint->ready_,
         .health = endpoint->health_.health(),
         .ejected_for = endpoint->outlier_.ejected() ? endpoint->outlier_.ejected_until() - now : net::Duration(0),
         .in_use = endpoint->in_use_,
         .reserve = endpoint->usable_ && !endpoint->in_use_,
         .cluster = endpoint->cluster,
         .cluster_priority = endpoint->labels_ != nullptr ? endpoint->labels_->priority : 0,
         .cluster_region = endpoint->labels_ != nullptr ? endpoint->labels_->region : std::string(),
         .share = endpoint->in_use_ && endpoint->group_ < groups_.size() ? groups_[endpoint->group_].share : 0,
         .zones = endpoint->zones_,
         .in_flight = endpoint->in_flight.load(std::memory_order_relaxed),
         .last_check = endpoint->last_check_,
         .last_error = endpoint->last_error_});
  }
  if (!settings_.clusters.empty()) {
    for (const Group& group : groups_) status.clusters.push_back(status_of(group));
  }
  status.connections = room_.connections();
  status.idle = room_.idle();
  status.connects = connects_.load(std::memory_order_relaxed);
  status.connect_failures = connect_failures_.load(std::memory_order_relaxed);
  status.queued = room_.queued();
  status.features = {settings_.health.healthy != 0, settings_.max_ejection_percent != 0, settings_.circuit.errors != 0,
                     settings_.retries};
  status.checks = checks_;
  status.failed_checks = failed_checks_;
  status.ejections = ejections_;
  status.circuit_opened = opened_;
  status.retries = retries_.load(std::memory_order_relaxed);
  status.retries_refused = retries_refused_.load(std::memory_order_relaxed);
  status.overflows = overflows_.load(std::memory_order_relaxed);
  return status;
}

}  // namespace edge::runtime
