#include "agent/wan/policy_choices.h"

#include <algorithm>
#include <tuple>

namespace edge::agent::wan {
namespace {

template <typename Value>
std::optional<Value> smaller(const std::optional<Value>& one, const std::optional<Value>& other) {
  return !one ? other : !other ? one : std::min(*one, *other);
}

bool equal(const ChoiceSettings& a, const ChoiceSettings& b) {
  return std::tie(a.strategy, a.fallback, a.after, a.back_after) ==
         std::tie(b.strategy, b.fallback, b.after, b.back_after);
}

bool equal(const Candidate& a, const Candidate& b) {
  return std::tie(a.metered, a.backup, a.weight) == std::tie(b.metered, b.backup, b.weight);
}

}  // namespace

Limits narrower(const Limits& one, const Limits& other) {
  return {.loss = smaller(one.loss, other.loss),
          .latency = smaller(one.latency, other.latency),
          .jitter = smaller(one.jitter, other.jitter)};
}

PolicyChoices::Entry PolicyChoices::make(const Measured& measured, const MeasuredPolicy& policy,
                                         const std::string& peer) const {
  std::vector<std::string> names;
  std::vector<std::size_t> tunnels;
  std::vector<Candidate> candidates;
  std::vector<Limits> limits;
  for (const std::string& id : policy.links) {
    const auto link = std::ranges::find(measured.links, id, &MeasuredLink::id);
    if (link == measured.links.end()) continue;
    for (std::size_t i = 0; i < measured.tunnels.size(); ++i) {
      const MeasuredTunnel& tunnel = measured.tunnels[i];
      if (tunnel.link != id || tunnel.peer_site != peer) continue;
      names.push_back(tunnel.link + " " + tunnel.peer_link);
      tunnels.push_back(i);
      candidates.push_back({link->metered, link->backup, std::max(1U, link->up_mbps)});
      limits.push_back(narrower(policy.limits, link->limits));
    }
  }
  Entry entry{.policy = policy,
              .names = std::move(names),
              .tunnels = std::move(tunnels),
              .candidates = candidates,
              .limits = std::move(limits),
              .choice = Choice(policy.settings, std::move(candidates))};
  entry.report.policy = policy.id;
  entry.report.peer_site = peer;
  return entry;
}

void PolicyChoices::set(const Measured& measured) {
  std::vector<std::string> peers;
  for (const MeasuredTunnel& tunnel : measured.tunnels) {
    if (std::ranges::find(peers, tunnel.peer_site) == peers.end()) peers.push_back(tunnel.peer_site);
  }
  std::map<std::pair<std::string, std::string>, Entry*> known;
  for (Entry& entry : entries_) known.emplace(std::pair(entry.report.policy, entry.report.peer_site), &entry);
  std::vector<Entry> next;
  for (const MeasuredPolicy& policy : measured.policies) {
    for (const std::string& peer : peers) {
      Entry entry = make(measured, policy, peer);
      const auto before = known.find({policy.id, peer});
      if (before != known.end() && before->second->names == entry.names &&
          equal(before->second->policy.settings, policy.settings) &&
          std::ranges::equal(before->second->candidates, entry.candidates,
                             [](const auto& a, const auto& b) { return equal(a, b); })) {
        entry.choice = std::move(before->second->choice);
        // Positions of tunnels may be others.
        entry.report = before->second->report;
        const auto move = [&](std::vector<std::size_t>& tunnels) {
          for (std::size_t& tunnel : tunnels) {
            const auto at = std::ranges::find(before->second->tunnels, tunnel);
            tunnel = entry.tunnels[static_cast<std::size_t>(at - before->second->tunnels.begin())];
          }
        };
        move(entry.report.before);
        move(entry.report.tunnels);
      }
      next.push_back(std::move(entry));
    }
  }
  entries_ = std::move(next);
}

bool PolicyChoices::step(const std::function<PathState(std::size_t, const Limits&)>& state, Time now) {
  bool moved = false;
  std::vector<PathState> states;
  for (Entry& entry : entries_) {
    states.clear();
    for (std::size_t i = 0; i < entry.tunnels.size(); ++i) states.push_back(state(entry.tunnels[i], entry.limits[i]));
    if (const auto change = entry.choice.step(states, now)) {
      note(entry, *change);
      moved = true;
    }
  }
  return moved;
}

void PolicyChoices::note(Entry& entry, const Change& change) {
  PolicyReport& report = entry.report;
  report.before = std::move(report.tunnels);
  report.tunnels.clear();
  report.weights.clear();
  for (const std::size_t path : change.now.paths) {
    report.tunnels.push_back(entry.tunnels[path]);
    report.weights.push_back(entry.candidates[path].weight);
  }
  report.best_effort = change.now.best_effort;
  report.dropped = change.now.dropped;
  report.cause = change.cause;
  report.fault = change.fault;
  report.since_ms = wall_now() / 1'000'000;
  if (change.cause != Cause::kStart) ++report.moves;
}

std::vector<PolicyReport> PolicyChoices::reports() const {
  std::vector<PolicyReport> all;
  for (const Entry& entry : entries_) all.push_back(entry.report);
  return all;
}

}  // namespace edge::agent::wan
