#include "runtime/upstream/backends.h"

#include <algorithm>
#include <utility>

#include "program/format/records.h"

namespace edge::runtime {
namespace {

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
  return settings;
}

}  // namespace

void Backends::configure(std::span<const program::BackendRecord> backends, const program::SectionView& section,
                         std::span<const std::shared_ptr<const net::tls::ClientContext>> tls) {
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
  }
  std::erase_if(entries_, [](const auto& item) { return !item.second.served && item.second.state.use_count() == 1; });
  set_checks();
}

void Backends::set_checks() {
  std::vector<HealthChecks::Target> targets;
  for (const auto& [id, entry] : entries_) {
    if (!entry.served || entry.check == nullptr) continue;
    for (auto& endpoint : entry.state->endpoints()) targets.push_back({entry.state, std::move(endpoint), entry.check});
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
  state.set_endpoints(endpoints_of(id), now(), zone_);
}

bool Backends::set_zone(std::string zone) {
  const std::lock_guard lock(mutex_);
  if (zone == zone_) return false;
  zone_ = std::move(zone);
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
