#include "runtime/upstream/backends.h"

#include <algorithm>
#include <utility>

#include "program/cluster_traffic.h"
#include "program/format/records.h"

namespace edge::runtime {
namespace {

/// How gateways of other clusters are checked where the backend says nothing.
constexpr HealthThresholds kGatewayThresholds{1, 2};
constexpr net::Duration kGatewayInterval = std::chrono::seconds(2);
constexpr net::Duration kGatewayTimeout = std::chrono::milliseconds(1500);

HealthSettings health_settings(const program::BackendRecord& record, const program::SectionView& section) {
  HealthSettings settings;
  if (const auto* check = program::optional_of(section, record.health_check)) {
    settings.health = {std::max(1u, check->healthy_threshold), std::max(1u, check->unhealthy_threshold)};
  }
  if (const auto* passive = program::optional_of(section, record.passive_check)) {
    settings.outlier = {passive->consecutive_errors, passive->consecutive_gateway_errors,
                        net::Duration(passive->interval_ns), net::Duration(passive->base_ejection_ns)};
    settings.max_ejection_percent = passive->max_ejection_percent;
  }
  if (const auto* breaker = program::optional_of(section, record.circuit_breaker)) {
    settings.circuit = {breaker->consecutive_errors, net::Duration(breaker->interval_ns),
                        net::Duration(breaker->open_ns), breaker->split_local_errors != 0};
  }
  settings.retries = record.max_retries != 0 && record.retry_on != 0;
  for (const program::ClusterRefRecord& cluster : program::clusters_of(section, record.id)) {
    settings.clusters.push_back({.name = std::string(section.string(cluster.cluster)),
                                 .region = std::string(section.string(cluster.region)),
                                 .priority = cluster.priority,
                                 .weight = cluster.weight});
    settings.healthy_percent = cluster.healthy_percent;
    settings.most_in_flight = cluster.most_in_flight;
  }
  if (!settings.clusters.empty() && record.health_check.count == 0) settings.health = kGatewayThresholds;
  return settings;
}

/// A gateway of another cluster is checked by what the backend's endpoints are checked by, through it; without such a
/// check, by whether it can be reached and is who it should be.
std::shared_ptr<const CheckSettings> gateway_check(const CheckSettings* own, const program::ClusterRefRecord& cluster,
                                                   const program::SectionView& section,
                                                   std::shared_ptr<const net::tls::ClientContext> tls) {
  auto settings = std::make_shared<CheckSettings>();
  if (own != nullptr) {
    *settings = *own;
    settings->announcement.clear();
    settings->headers.emplace_back(program::kClusterServiceField, section.string(cluster.service));
  } else {
    // A gateway that is asked for no service says so. That it refuses us would not show before: TLS 1.3 tells a client
    // of its certificate after the handshake.
    settings->protocol = program::ProbeProtocol::kHttp;
    settings->path = "/";
    settings->expected = {404};
    settings->interval = kGatewayInterval;
    settings->timeout = kGatewayTimeout;
  }
  settings->http2 = settings->encrypted = true;
  settings->tls = std::move(tls);
  return settings;
}

}  // namespace

void Backends::configure(std::span<const program::BackendRecord> backends, const program::SectionView& section,
                         Contexts tls, ClusterContexts cluster_tls) {
  const auto all_clusters = section.array(section.header<program::BackendsHeader>().clusters);
  const std::lock_guard lock(mutex_);
  for (auto& [id, entry] : entries_) entry.served = false;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const program::BackendRecord& record = backends[i];
    Entry& entry = entries_[record.id];
    entry.served = true;
    if (entry.state == nullptr) {
      entry.state = std::make_shared<BackendState>(record.id);
      update_endpoints(record.id, *entry.state);
    }
    entry.state->configure({std::string(section.string(record.name_space)), std::string(section.string(record.name))},
                           health_settings(record, section), now());
    entry.check = check_settings(record, section, tls[i]);
    entry.cluster_checks.clear();
    for (const program::ClusterRefRecord& cluster : program::clusters_of(section, record.id)) {
      const auto position = static_cast<std::size_t>(&cluster - all_clusters.data());
      if (position >= cluster_tls.size()) continue;
      for (const auto& [name, context] : cluster_tls[position]) {
        entry.cluster_checks.insert_or_assign(name, gateway_check(entry.check.get(), cluster, section, context));
      }
    }
  }
  std::erase_if(entries_, [](const auto& item) { return !item.second.served && item.second.state.use_count() == 1; });
  set_checks();
}

void Backends::set_checks() {
  std::vector<HealthChecks::Target> targets;
  for (const auto& [id, entry] : entries_) {
    if (!entry.served || (entry.check == nullptr && entry.cluster_checks.empty())) continue;
    for (auto& endpoint : entry.state->endpoints()) {
      std::shared_ptr<const CheckSettings> check = entry.check;
      if (!endpoint->cluster.empty()) {
        const auto found = entry.cluster_checks.find(endpoint->cluster);
        check = found == entry.cluster_checks.end() ? nullptr : found->second;
      }
      if (check != nullptr) targets.push_back({entry.state, std::move(endpoint), std::move(check)});
    }
  }
  checks_.set(std::move(targets));
}

void Backends::set_endpoints(std::shared_ptr<const program::EndpointSet> endpoints, Resolved resolved) {
  const std::lock_guard lock(mutex_);
  endpoints_ = std::move(endpoints);
  resolved_ = std::move(resolved);
  for (const auto& [id, entry] : entries_) update_endpoints(id, *entry.state);
  set_checks();
}

void Backends::change_resolved(Resolved changed) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, endpoints] : changed) {
    resolved_[id] = std::move(endpoints);
    if (const auto found = entries_.find(id); found != entries_.end()) update_endpoints(id, *found->second.state);
  }
  set_checks();
}

std::span<const program::Endpoint> Backends::endpoints_of(std::uint64_t id) const {
  if (const auto found = resolved_.find(id); found != resolved_.end()) return found->second;
  if (endpoints_ == nullptr) return {};
  const auto found = std::ranges::lower_bound(endpoints_->backends, id, {}, &program::BackendEndpoints::backend_id);
  if (found == endpoints_->backends.end() || found->backend_id != id) return {};
  return found->endpoints;
}

void Backends::update_endpoints(std::uint64_t id, BackendState& state) const {
  state.set_endpoints(endpoints_of(id), now(), zone_, region_);
}

bool Backends::set_zone(std::string zone) {
  const std::lock_guard lock(mutex_);
  if (zone == zone_) return false;
  zone_ = std::move(zone);
  for (const auto& [id, entry] : entries_) update_endpoints(id, *entry.state);
  return true;
}

bool Backends::set_region(std::string region) {
  const std::lock_guard lock(mutex_);
  if (region == region_) return false;
  region_ = std::move(region);
  for (const auto& [id, entry] : entries_) update_endpoints(id, *entry.state);
  return true;
}

std::string Backends::zone() const {
  const std::lock_guard lock(mutex_);
  return zone_;
}

std::shared_ptr<BackendState> Backends::of(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[id];
  if (entry.state == nullptr) {
    entry.state = std::make_shared<BackendState>(id);
    update_endpoints(id, *entry.state);
  }
  return entry.state;
}

std::vector<BackendStatus> Backends::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<BackendStatus> all;
  for (const auto& [id, entry] : entries_) {
    if (entry.served) all.push_back(entry.state->status(now()));
  }
  return all;
}

}  // namespace edge::runtime
