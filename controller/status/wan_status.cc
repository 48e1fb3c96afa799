#include "controller/status/wan_status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/status/condition_json.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostPaths = 256;
constexpr std::size_t kMostDown = 64;
/// Events of one write, of tunnels that went down for different reasons.
constexpr std::size_t kMostChanges = 8;

struct Verdict {
  const char* status;
  std::string reason;
  std::string message;
};

void add_verdict(Json& status, const char* type, const Verdict& verdict) {
  status["conditions"].push_back(condition_json(status, type, verdict.status, verdict.reason, verdict.message));
}

std::string since_text(std::int64_t milliseconds) {
  return timestamp_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(milliseconds)));
}

Verdict healthy(const WanQuality& quality) {
  if (quality.fault == "disabled") return {"Unknown", "Disabled", "it is switched off"};
  if (!quality.measured) return {"Unknown", "NotMeasured", "no probe of it has been answered or lost yet"};
  if (!quality.alive) return {"False", "NoAnswers", "no probe is answered"};
  if (quality.fault.empty()) return {"True", "WithinLimits", "it keeps its limits"};
  std::string reason = quality.fault + "BeyondLimit";
  reason.front() = static_cast<char>(reason.front() - 'a' + 'A');
  return {"False", std::move(reason), "its " + quality.fault + " is beyond the limit"};
}

Json tunnels_json(const WanLinkView& view) {
  Json down = Json::array();
  for (const WanDownTunnel& one : view.down) {
    if (down.size() >= kMostDown) break;
    Json tunnel = {{"site", one.to.site}, {"link", one.to.link}, {"reason", one.reason}, {"message", one.message}};
    if (one.since_ms > 0) tunnel["since"] = since_text(one.since_ms);
    down.push_back(std::move(tunnel));
  }
  return {{"up", view.up.size()}, {"total", view.up.size() + view.down.size()}, {"down", std::move(down)}};
}

void overlay_link(const WanLinkView* view, Json& status) {
  if (view == nullptr) {
    return add_verdict(status, "Healthy", {"Unknown", "NoNode", "no node holds the tunnels of its site"});
  }
  const WanQuality& quality = view->state.quality;
  if (quality.probes > 0) {
    status["latency"] = figure_text(quality.latency);
    status["jitter"] = figure_text(quality.jitter);
    status["loss"] = share_text(quality.loss);
  }
  if (quality.last_probe_ms > 0) status["lastProbe"] = since_text(quality.last_probe_ms);
  if (view->seen) status["address"] = to_string(*view->seen);
  status["tunnels"] = tunnels_json(*view);
  add_verdict(status, "Healthy", healthy(quality));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

Verdict site_ready(const WanSiteView& view) {
  if (view.agent.empty()) return {"False", "NoHolder", "agents of it are connected, and none holds its tunnels yet"};
  if (!view.faults.empty()) return {"False", "NodeFault", "agent " + view.agent + ": " + view.faults.front()};
  if (view.peers.empty() && !view.lost.empty()) return {"False", "NoTunnel", "no tunnel is up: " + listed(view.lost)};
  if (!view.lost.empty()) return {"False", "PeersLost", "no tunnel is up to " + listed(view.lost)};
  return {"True", "TunnelsUp", "agent " + view.agent + " holds its tunnels"};
}

void overlay_site(const WanSiteView* view, Json& status) {
  if (view == nullptr) {
    status["node"] = "";
    return add_verdict(status, "Ready",
                       {"Unknown", "NoAgent", "no connected agent has the labels of `spec.nodeSelector`"});
  }
  status["node"] = view->node;
  status["peers"] = view->peers;
  status["links"] = ready_count(view->healthy_links, view->links);
  add_verdict(status, "Ready", site_ready(*view));
}

std::vector<std::string> links_of(const std::vector<WanPath>& paths) {
  std::vector<std::string> links;
  for (const WanPath& path : paths) {
    if (std::ranges::find(links, path.link) == links.end()) links.push_back(path.link);
  }
  return links;
}

std::string why(const WanPolicyState& state) {
  if (state.dropped) return "dropped: no link keeps the limits";
  std::string text = state.cause;
  if (!state.fault.empty()) text += ": " + state.fault;
  return text;
}

Verdict policy_ready(const std::vector<WanPolicyAtSite>& states) {
  const auto bad = std::ranges::find_if(
      states, [](const WanPolicyAtSite& one) { return one.state.dropped || one.state.best_effort; });
  if (bad != states.end()) {
    return {"False", bad->state.dropped ? "Dropped" : "NoLinkFit",
            "traffic of " + bad->site + " to " + bad->state.peer_site +
                (bad->state.dropped ? " is dropped: no link keeps the limits"
                                    : " takes the best link there is: none keeps the limits")};
  }
  const bool chosen = std::ranges::any_of(states, [](const WanPolicyAtSite& one) { return !one.state.paths.empty(); });
  if (!chosen) return {"Unknown", "NotMeasured", "no link has been chosen yet"};
  return {"True", "LinksFit", "every choice is a link that keeps the limits"};
}

void overlay_policy(const std::vector<WanPolicyAtSite>* states, Json& status) {
  if (states == nullptr || states->empty()) {
    return add_verdict(status, "Ready", {"Unknown", "NoNode", "no node holds the tunnels of a site where it holds"});
  }
  std::set<std::string> active;
  status["paths"] = Json::array();
  for (const WanPolicyAtSite& one : *states) {
    for (const std::string& link : links_of(one.state.paths)) active.insert(link);
    if (status["paths"].size() >= kMostPaths) continue;
    Json path = {{"site", one.site}, {"peer", one.state.peer_site}, {"links", links_of(one.state.paths)}};
    if (one.state.since_ms > 0) path["since"] = since_text(one.state.since_ms);
    path["reason"] = why(one.state);
    status["paths"].push_back(std::move(path));
  }
  status["activeLinks"] = std::vector<std::string>(active.begin(), active.end());
  add_verdict(status, "Ready", policy_ready(*states));
}

template <typename Map>
const typename Map::mapped_type* find_in(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

/// Why the tunnels of a link that the status lists carry nothing.
std::map<WanTunnelEnd, std::pair<std::string, std::string>> down_in(const Json& status) {
  std::map<WanTunnelEnd, std::pair<std::string, std::string>> down;
  for (const Json& one : list_in(member_in(status, "tunnels"), "down")) {
    down[{text_in(one, "site"), text_in(one, "link")}] = {text_in(one, "reason"), text_in(one, "message")};
  }
  return down;
}

/// Whether a status lists every tunnel of a link that was down, not only the first ones.
bool lists_all_down(const Json& status, std::size_t listed) {
  const Json& tunnels = member_in(status, "tunnels");
  return integer_in(tunnels, "total") - integer_in(tunnels, "up") <= static_cast<std::int64_t>(listed);
}

std::string tunnels_text(const std::vector<WanTunnelEnd>& ends) {
  std::vector<std::string> names;
  for (const WanTunnelEnd& end : ends) names.push_back("to " + end.site + " by " + end.link);
  return (names.size() == 1 ? "tunnel " : std::to_string(names.size()) + " tunnels: ") + listed(names);
}

template <typename Map>
void differing(const Map& a, const Map& b, const std::string& kind, std::vector<std::string>& differ) {
  for (const auto& [name, one] : a) {
    const auto other = b.find(name);
    if (other == b.end() || !(other->second == one)) differ.push_back(kind + " " + name);
  }
  for (const auto& [name, one] : b) {
    if (!a.contains(name)) differ.push_back(kind + " " + name);
  }
}

}  // namespace

std::string figure_text(std::uint32_t microseconds) {
  std::array<char, 32> text{};
  const double milliseconds = microseconds / 1000.0;
  const int digits = milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0;
  return {text.data(),
          static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*fms", digits, milliseconds))};
}

std::string share_text(std::uint32_t share) {
  std::array<char, 32> text{};
  const double percent = share / 1000.0;
  const int digits = percent == 0 ? 0 : percent < 1 ? 2 : percent < 10 ? 1 : 0;
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*f%%", digits, percent))};
}

void overlay_wan(const AgentsView& agents, std::string_view kind, const std::string& name, Json& status) {
  if (kind == "Site") overlay_site(find_in(agents.wan.sites, name), status);
  if (kind == "WANLink") overlay_link(find_in(agents.wan.links, name), status);
  if (kind == "WANPolicy") overlay_policy(find_in(agents.wan.policies, name), status);
}

std::vector<ConditionFlip> wan_moves(const Json& before, const Json& status) {
  constexpr std::size_t kMostMoves = 16;
  std::vector<ConditionFlip> moves;
  const Json known = before.value("paths", Json::array());
  const Json now = status.value("paths", Json::array());
  for (const Json& path : now) {
    const std::string site = text_in(path, "site");
    const std::string peer = text_in(path, "peer");
    const auto stood = std::ranges::find_if(known, [&](const Json& one) {
      return one.is_object() && text_in(one, "site") == site && text_in(one, "peer") == peer;
    });
    if (stood == known.end() || stood->value("links", Json()) == path["links"] || moves.size() >= kMostMoves) continue;
    std::vector<std::string> links;
    for (const Json& link : path["links"]) links.push_back(link.get<std::string>());
    moves.push_back({.type = "Path",
                     .status = links.empty() ? "False" : "True",
                     .reason = "Moved",
                     .message = "traffic of " + site + " to " + peer +
                                (links.empty() ? " is dropped" : " takes " + listed(links)) + ": " +
                                text_in(path, "reason")});
  }
  return moves;
}

std::vector<ConditionFlip> tunnel_changes(const AgentsView& agents, const std::string& name, const Json& before,
                                          const Json& status) {
  const WanLinkView* const view = find_in(agents.wan.links, name);
  // At first no tunnel has been up.
  if (view == nullptr || !before.contains("tunnels")) return {};
  const auto known = down_in(before);
  // Of one that is new in a list which had no room for all, nobody knows whether it was down before.
  const bool knows_all = lists_all_down(before, known.size());
  std::map<std::pair<std::string, std::string>, std::vector<WanTunnelEnd>> down;
  for (const auto& [end, why] : down_in(status)) {
    const auto stood = known.find(end);
    if (stood == known.end() ? knows_all : stood->second.first != why.first) down[why].push_back(end);
  }
  std::vector<ConditionFlip> changes;
  for (const auto& [why, ends] : down) {
    if (changes.size() >= kMostChanges) break;
    changes.push_back({.type = "Tunnel",
                       .status = "False",
                       .reason = why.first == "KeyNotRenewed" ? "TunnelStale" : "TunnelDown",
                       .message = tunnels_text(ends) + ": " + why.second});
  }
  std::vector<WanTunnelEnd> up;
  for (const auto& [end, why] : known) {
    // One that no assignment has any longer is not up.
    if (std::ranges::binary_search(view->up, end)) up.push_back(end);
  }
  if (up.empty()) return changes;
  changes.push_back({.type = "Tunnel",
                     .status = "True",
                     .reason = "TunnelUp",
                     .message = tunnels_text(up) + (up.size() == 1 ? " carries" : ": they carry") + " traffic again"});
  return changes;
}

void keep_tunnel_times(const Json& before, Json& status) {
  const auto tunnels = status.find("tunnels");
  if (tunnels == status.end()) return;
  const Json& known = list_in(member_in(before, "tunnels"), "down");
  for (Json& one : (*tunnels)["down"]) {
    const auto stood = std::ranges::find_if(known, [&](const Json& other) {
      return text_in(other, "site") == text_in(one, "site") && text_in(other, "link") == text_in(one, "link");
    });
    if (stood != known.end() && stood->contains("since")) one["since"] = stood->at("since");
  }
}

bool only_figures(const Json& fields) {
  return std::ranges::all_of(fields.items(), [](const auto& field) {
    return field.key() == "latency" || field.key() == "jitter" || field.key() == "loss" || field.key() == "lastProbe";
  });
}

std::vector<std::string> wan_that_differ(const AgentsView& a, const AgentsView& b) {
  std::vector<std::string> differ;
  differing(a.wan.links, b.wan.links, "WANLink", differ);
  differing(a.wan.sites, b.wan.sites, "Site", differ);
  differing(a.wan.policies, b.wan.policies, "WANPolicy", differ);
  return differ;
}

}  // namespace edge::controller
