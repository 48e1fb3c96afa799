#include "controller/relay/agent_changes.h"

#include <algorithm>
#include <utility>

#include "controller/distribute/protocol.h"
#include "schemas/relay.pb.h"

namespace edge::controller::relay {
namespace {

constexpr std::size_t kMessageBytes = 256 << 10;

/// Without what changes all the time.
bool same_state(const AgentState& a, const AgentState& b) {
  return a.connected == b.connected && a.program == b.program && a.group == b.group && a.refused == b.refused &&
         a.unbound == b.unbound && a.node == b.node && a.version == b.version && a.cpu == b.cpu &&
         a.labels == b.labels && a.since == b.since && a.certificate_until == b.certificate_until &&
         a.published == b.published && a.values_current == b.values_current;
}

BackendHealth without_checks(BackendHealth backend) {
  for (EndpointHealth& endpoint : backend.endpoints) endpoint.last_check = {};
  backend.connections = 0;
  return backend;
}

using Name = std::pair<std::string, std::string>;

/// Adds the backends whose health is other than what was told, and those that are gone; `told` is then what is told
/// now.
void tell_backends(std::vector<BackendHealth> backends, std::map<Name, BackendHealth>& told,
                   edge::relay::v1::AgentChange& change) {
  std::map<Name, BackendHealth> next;
  AgentState said;
  for (BackendHealth& backend : backends) {
    BackendHealth bare = without_checks(backend);
    Name name(backend.name_space, backend.name);
    const auto before = told.find(name);
    if (before == told.end() || before->second != bare) said.backends.push_back(std::move(backend));
    next.insert_or_assign(std::move(name), std::move(bare));
  }
  agent::v1::Agent reported;
  write_agent(said, reported);
  change.mutable_backends()->Swap(reported.mutable_backends());
  for (const auto& [name, backend] : told) {
    if (next.contains(name)) continue;
    auto& removed = *change.add_removed_backends();
    removed.set_namespace_(name.first);
    removed.set_name(name.second);
  }
  told = std::move(next);
}

}  // namespace

bool AgentChanges::tell(Clock::time_point now, const std::function<bool(const edge::relay::v1::AgentsUp&)>& say) {
  const bool counts = now >= next_counts_;
  const std::uint64_t changes = agents_.changes();
  const bool health = now >= next_health_ && seen_ != changes;
  if (counts) next_counts_ = now + kCountsEvery;
  if (health) {
    next_health_ = now + kHealthEvery;
    seen_ = changes;
  }
  last_ = 0;
  edge::relay::v1::AgentsUp up;
  const auto flush = [&] {
    const bool good = up.agents_size() == 0 || say(up);
    up.Clear();
    return good;
  };
  for (AgentState& state : agents_.agents()) {
    const auto known = told_.find(state.name);
    const bool fresh = known == told_.end();
    const bool was_connected = !fresh && known->second.state.connected;
    // Who went away before anybody heard of it, or comes when there are enough.
    if (!was_connected && (state.connected ? connected_ >= kMostAgents : fresh)) continue;
    Told& told = told_[state.name];
    const std::uint64_t values = hub_version_(state);
    const bool counted =
        counts && (told.state.requests != state.requests || told.state.connections != state.connections);
    bool changed = fresh || counted || values != told.values || !same_state(told.state, state);
    edge::relay::v1::AgentChange change;
    if (!state.connected) told.backends.clear();
    if (health || changed) {
      if (auto whole = state.connected ? agents_.agent(state.name) : std::nullopt) {
        state.vips = std::move(whole->vips);
        changed = changed || state.vips != told.state.vips;
        tell_backends(std::move(whole->backends), told.backends, change);
        changed = changed || change.backends_size() > 0 || change.removed_backends_size() > 0;
      }
    }
    if (!changed) continue;
    if (state.connected && !was_connected) ++connected_;
    if (!state.connected && was_connected) --connected_;
    ++last_;
    write_agent(state, *change.mutable_state());
    change.set_values(values);
    *up.add_agents() = std::move(change);
    if (state.connected) {
      told.values = values;
      told.state = std::move(state);
    } else {
      told_.erase(state.name);
    }
    if (up.ByteSizeLong() >= kMessageBytes && !flush()) return false;
  }
  return flush();
}

}  // namespace edge::controller::relay
