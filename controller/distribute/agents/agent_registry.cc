#include "controller/distribute/agents/agent_registry.h"

#include <algorithm>

#include "base/resource_id.h"

namespace edge::controller {
namespace {

/// Of `later` what is worse, or newer: two agents' word about one backend.
void merge(BackendHealth& into, const BackendHealth& from) {
  into.connections += from.connections;
  const auto rank = [](const std::string& circuit) { return circuit == "Open" ? 2 : circuit == "HalfOpen" ? 1 : 0; };
  if (rank(from.circuit) > rank(into.circuit)) into.circuit = from.circuit;
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < into.endpoints.size(); ++i) places.emplace(into.endpoints[i].address, i);
  std::vector<EndpointHealth> added;
  for (const EndpointHealth& endpoint : from.endpoints) {
    const auto found = places.find(endpoint.address);
    if (found == places.end()) {
      added.push_back(endpoint);
      continue;
    }
    EndpointHealth& both = into.endpoints[found->second];
    both.healthy = both.healthy && endpoint.healthy;
    both.reserve = both.reserve && endpoint.reserve;
    if (!endpoint.last_error.empty() && (both.last_error.empty() || endpoint.last_check > both.last_check)) {
      both.last_error = endpoint.last_error;
    }
    both.last_check = std::max(both.last_check, endpoint.last_check);
  }
  into.endpoints.insert(into.endpoints.end(), added.begin(), added.end());
  for (const NameHealth& name : from.names) {
    const auto known = std::ranges::find(into.names, name.name, &NameHealth::name);
    if (known == into.names.end()) {
      into.names.push_back(name);
      continue;
    }
    known->addresses = std::max(known->addresses, name.addresses);
    if (known->error.empty()) known->error = name.error;
  }
}

/// Of another cluster.
bool is_relayed(const std::string& name) { return name.find(':') != std::string::npos; }

}  // namespace

AgentRegistry::Entry* AgentRegistry::find(const std::string& name, const std::string& instance, WallTime now) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.instance != instance) return nullptr;
  found->second.state.last_seen = now;
  return &found->second;
}

void AgentRegistry::uncount(const std::string& name, const Entry& entry) {
  const auto found = sites_.find(split_cluster(name).cluster);
  if (found == sites_.end()) return;
  Site& site = found->second;
  --site.agents;
  site.backends -= entry.backends.size();
  site.endpoints -= entry.endpoints;
  if (site.agents == 0) sites_.erase(found);
}

void AgentRegistry::count(const std::string& name, const Entry& entry) {
  const std::string_view cluster = split_cluster(name).cluster;
  if (cluster.empty()) return;
  Site& site = sites_[std::string(cluster)];
  ++site.agents;
  site.backends += entry.backends.size();
  site.endpoints += entry.endpoints;
}

/// Of the agents that `counts` is true for: of those that went away the one that did so first leaves, where there are
/// `most`. False: there is none.
bool AgentRegistry::drop_oldest(std::size_t most, const std::function<bool(const std::string&)>& counts) {
  std::size_t count = 0;
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (!counts(it->first)) continue;
    ++count;
    if (it->second.state.connected) continue;
    if (oldest == entries_.end() || it->second.state.since < oldest->second.state.since) oldest = it;
  }
  if (count < most) return true;
  if (oldest == entries_.end()) return false;
  uncount(oldest->first, oldest->second);
  entries_.erase(oldest);
  return true;
}

/// Sites take no room of this cluster's agents, and none of another site's.
bool AgentRegistry::make_room(const std::string& name) {
  const std::string cluster(split_cluster(name).cluster);
  if (const auto site = sites_.find(cluster); site != sites_.end() && site->second.agents >= kMaxSiteAgents) {
    const auto is_its = [&](const std::string& other) { return split_cluster(other).cluster == cluster; };
    if (!drop_oldest(kMaxSiteAgents, is_its)) return false;
  }
  if (entries_.size() < std::min(kMaxAgents, kMaxRelayed)) return true;
  const bool relayed = is_relayed(name);
  return drop_oldest(relayed ? kMaxRelayed : kMaxAgents,
                     [&](const std::string& other) { return is_relayed(other) == relayed; });
}

bool AgentRegistry::connected(AgentState state, const std::string& instance, std::uint64_t session, WallTime now) {
  const std::lock_guard lock(mutex_);
  if (!entries_.contains(state.name) && !make_room(state.name)) return false;
  Entry& entry = entries_[state.name];
  entry = Entry{};
  entry.state = std::move(state);
  entry.state.connected = true;
  entry.state.since = entry.state.last_seen = now;
  entry.instance = instance;
  entry.session = session;
  ++changes_;
  return true;
}

bool AgentRegistry::lost(const std::string& name, std::uint64_t session, WallTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.session != session || !found->second.state.connected) return false;
  Entry& entry = found->second;
  uncount(name, entry);
  entry.state.connected = false;
  entry.state.since = now;
  forget_reports(entry);
  count(name, entry);
  ++changes_;
  return true;
}

/// What it said of its backends is not known any more.
void AgentRegistry::forget_reports(Entry& entry) {
  entry.backends.clear();
  entry.endpoints = 0;
  entry.state.vips.clear();
  entry.wan.reset();
  entry.state.unbound.clear();
}

bool AgentRegistry::applied(const std::string& name, const std::string& instance, const std::string& program,
                            std::vector<UnboundListener> unbound, WallTime now) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(name, instance, now);
  if (entry == nullptr) return false;
  entry->state.program = program;
  entry->state.unbound = std::move(unbound);
  entry->state.refused = {};
  ++changes_;
  return true;
}

bool AgentRegistry::refused(const std::string& name, const std::string& instance, const std::string& program,
                            const std::string& reason, WallTime now) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(name, instance, now);
  if (entry == nullptr) return false;
  entry->state.refused = {program, reason, now};
  ++changes_;
  return true;
}

bool AgentRegistry::values_applied(const std::string& name, const std::string& instance, std::uint64_t version,
                                   WallTime now) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(name, instance, now);
  if (entry == nullptr || entry->values == version) return false;
  entry->values = version;
  return true;
}

bool AgentRegistry::reported(const std::string& name, const std::string& instance, Report report, WallTime now) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(name, instance, now);
  if (entry == nullptr) return false;
  entry->state.connections = report.connections;
  entry->state.requests = report.requests;
  bool changed = entry->state.vips != report.vips || entry->state.unbound != report.unbound;
  entry->state.unbound = std::move(report.unbound);
  entry->state.vips = std::move(report.vips);
  changed = take_backends(*entry, std::move(report.backends), report.removed, Room()) || changed;
  changes_ += changed ? 1 : 0;
  return changed;
}

bool AgentRegistry::links_reported(const std::string& name, const std::string& instance, const std::string& site,
                                   WanReport report, WallTime now) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(name, instance, now);
  if (entry == nullptr || !entry->state.connected || (entry->wan == report && entry->site == site)) return false;
  entry->wan = std::move(report);
  entry->site = site;
  ++changes_;
  return true;
}

/// Returns whether anything changed. What is over a limit is left out.
bool AgentRegistry::take_backends(Entry& entry, std::vector<BackendHealth> backends,
                                  const std::vector<BackendName>& removed, const Room& room) {
  bool changed = false;
  for (const BackendName& name : removed) {
    const auto found = entry.backends.find(name);
    if (found == entry.backends.end()) continue;
    entry.endpoints -= found->second.endpoints.size();
    entry.backends.erase(found);
    changed = true;
  }
  for (BackendHealth& backend : backends) {
    const BackendName key(backend.name_space, backend.name);
    const auto found = entry.backends.find(key);
    const std::size_t had = found == entry.backends.end() ? 0 : found->second.endpoints.size();
    if (entry.endpoints - had + backend.endpoints.size() > room.endpoints) continue;
    if (found == entry.backends.end() && entry.backends.size() >= room.backends) continue;
    entry.endpoints += backend.endpoints.size() - had;
    changed = true;
    entry.backends.insert_or_assign(key, std::move(backend));
  }
  return changed;
}

bool AgentRegistry::relayed(Relayed change, std::uint64_t session, WallTime now) {
  const std::lock_guard lock(mutex_);
  const std::string& name = change.state.name;
  const auto known = entries_.find(name);
  if (known == entries_.end() && !make_room(name)) return false;
  if (known != entries_.end() && known->second.session > session) return true;
  if (known != entries_.end()) uncount(name, known->second);
  Entry& entry = entries_[name];
  // A relay that has connected anew tells everything.
  if (entry.session != session) forget_reports(entry);
  entry.session = session;
  entry.values = change.state.values;
  entry.state = std::move(change.state);
  entry.state.last_seen = now;
  if (entry.state.connected) {
    // Of the others of the site.
    const auto site = sites_.find(split_cluster(entry.state.name).cluster);
    const Site others = site == sites_.end() ? Site() : site->second;
    const Room room{
        .backends = std::min(kMaxBackends, kMaxSiteBackends - std::min(kMaxSiteBackends, others.backends)),
        .endpoints = std::min(kMaxEndpoints, kMaxSiteEndpoints - std::min(kMaxSiteEndpoints, others.endpoints))};
    take_backends(entry, std::move(change.backends), change.removed, room);
  } else {
    forget_reports(entry);
  }
  count(entry.state.name, entry);
  ++changes_;
  return true;
}

std::vector<AgentWan> AgentRegistry::wan() const {
  const std::lock_guard lock(mutex_);
  std::vector<AgentWan> all;
  for (const auto& [name, entry] : entries_) {
    if (entry.wan && !entry.site.empty()) all.push_back({name, entry.state.node, entry.site, *entry.wan});
  }
  return all;
}

void AgentRegistry::published_values(const std::string& group, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  given_[group].values = version;
}

void AgentRegistry::published_program(const std::string& group, const std::string& program) {
  const std::lock_guard lock(mutex_);
  given_[group].program = program;
}

bool AgentRegistry::have_values(std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(entries_, [this, version](const auto& named) {
    const Entry& entry = named.second;
    const AgentState& state = entry.state;
    const bool serves = state.connected && !(state.program.empty() && !state.refused.program.empty());
    if (!serves) return true;
    const auto given = given_.find(state.group);
    const bool runs = given == given_.end() || state.program == given->second.program ||
                      state.refused.program == given->second.program;
    return runs && entry.values >= version;
  });
}

AgentState AgentRegistry::state_of(const Entry& entry) const {
  AgentState state = entry.state;
  const auto given = given_.find(state.group);
  state.values_current = entry.values == (given == given_.end() ? 0 : given->second.values);
  if (given != given_.end()) state.published = given->second.program;
  state.values = entry.values;
  return state;
}

std::vector<AgentState> AgentRegistry::agents() const {
  const std::lock_guard lock(mutex_);
  std::vector<AgentState> states;
  states.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    states.push_back(state_of(entry));
    states.back().vips.clear();
  }
  return states;
}

std::optional<AgentState> AgentRegistry::agent(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  AgentState state = state_of(found->second);
  for (const auto& [key, backend] : found->second.backends) state.backends.push_back(backend);
  return state;
}

std::vector<AgentVip> AgentRegistry::vips() const {
  const std::lock_guard lock(mutex_);
  std::vector<AgentVip> all;
  for (const auto& [name, entry] : entries_) {
    if (!entry.state.connected) continue;
    for (const VipState& vip : entry.state.vips) all.push_back({name, entry.state.node, vip});
  }
  return all;
}

std::vector<BackendHealth> AgentRegistry::backends() const {
  const std::lock_guard lock(mutex_);
  std::map<BackendName, BackendHealth> all;
  for (const auto& [name, entry] : entries_) {
    if (!entry.state.connected) continue;
    for (const auto& [key, backend] : entry.backends) {
      const auto [position, fresh] = all.try_emplace(key, backend);
      if (!fresh) merge(position->second, backend);
    }
  }
  std::vector<BackendHealth> backends;
  backends.reserve(all.size());
  for (auto& [key, backend] : all) backends.push_back(std::move(backend));
  return backends;
}

std::uint64_t AgentRegistry::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

}  // namespace edge::controller
