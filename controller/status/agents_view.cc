#include "controller/status/agents_view.h"

#include <algorithm>
#include <iterator>

#include "base/labels.h"
#include "base/resource_id.h"
#include "controller/distribute/unbound_listeners.h"

namespace edge::controller {
namespace {

bool alike(const AgentsView::Endpoints& a, const AgentsView::Endpoints& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.healthy == y.second.healthy && x.second.last_error == y.second.last_error;
  });
}

}  // namespace

std::size_t AgentsView::running(std::uint64_t program) const {
  return static_cast<std::size_t>(programs.end() - std::ranges::lower_bound(programs, program));
}

AgentsView view_of(const std::vector<AgentState>& agents, const std::vector<BackendHealth>& backends,
                   const std::function<std::uint64_t(const std::string& program)>& number_of) {
  AgentsView view;
  for (const AgentState& agent : agents) {
    if (!agent.connected) continue;
    if (!agent.program.empty() || !agent.refused.program.empty()) {
      view.programs.push_back(agent.program.empty() ? 0 : number_of(agent.program));
    }
    if (!agent.refused.program.empty()) {
      const std::uint64_t number = number_of(agent.refused.program);
      if (number > view.refused) {
        view.refused = number;
        view.refusal = "agent " + agent.name + ": " + agent.refused.reason;
      }
    }
  }
  std::ranges::sort(view.programs);
  view.unbound = unbound_of_all(agents);
  for (const BackendHealth& backend : backends) {
    AgentsView::Endpoints& endpoints = view.backends[resource_path(backend.name_space, backend.name)];
    for (const EndpointHealth& endpoint : backend.endpoints) endpoints.insert_or_assign(endpoint.address, endpoint);
    if (!backend.names.empty()) view.names[resource_path(backend.name_space, backend.name)] = backend.names;
  }
  return view;
}

void add_behind_relays(const std::vector<AgentState>& agents, const VirtualAddresses& addresses, AgentsView& view) {
  std::map<Labels, const AgentState*> relayed;
  for (const AgentState& agent : agents) {
    if (agent.connected && !split_cluster(agent.name).cluster.empty()) relayed.try_emplace(agent.labels, &agent);
  }
  if (relayed.empty()) return;
  std::map<std::string, std::vector<AgentVip>> added;
  for (const VirtualAddress& address : addresses.addresses) {
    const std::string name = resource_path(address.name_space, vip_of(address.name));
    const bool is_known = address.site ? view.wan.sites.contains(name) : view.vips.contains(name);
    if (is_known && (address.site || address.node_selector.empty())) continue;
    const auto found =
        std::ranges::find_if(relayed, [&](const auto& entry) { return selects(address.node_selector, entry.first); });
    if (found == relayed.end()) continue;
    const AgentState& agent = *found->second;
    if (address.site) {
      view.wan.sites[name] = {.agent = agent.name, .node = {}, .faults = {"its relay passes on no links of sites"}};
      continue;
    }
    added[name].push_back({.agent = agent.name,
                           .node = agent.node,
                           .state = {.name_space = address.name_space,
                                     .name = address.name,
                                     .address = to_string(address.address),
                                     .unfit = std::string(kBehindRelay),
                                     .reason = "its relay passes on no virtual addresses"}});
  }
  for (auto& [name, vips] : added) {
    auto& all = view.vips[name];
    all.insert(all.end(), std::make_move_iterator(vips.begin()), std::make_move_iterator(vips.end()));
  }
}

std::map<std::string, std::vector<AgentVip>> vips_of(const std::vector<AgentVip>& all) {
  std::map<std::string, std::vector<AgentVip>> by_name;
  for (const AgentVip& vip : all) by_name[resource_path(vip.state.name_space, vip_of(vip.state.name))].push_back(vip);
  return by_name;
}

std::vector<std::string> vips_that_differ(const AgentsView& a, const AgentsView& b) {
  std::vector<std::string> differ;
  for (const auto& [name, vips] : a.vips) {
    const auto other = b.vips.find(name);
    if (other == b.vips.end() || other->second != vips) differ.push_back(name);
  }
  for (const auto& [name, vips] : b.vips) {
    if (!a.vips.contains(name)) differ.push_back(name);
  }
  return differ;
}

std::vector<std::string> backends_that_differ(const AgentsView& a, const AgentsView& b) {
  std::vector<std::string> differ;
  auto x = a.backends.begin();
  auto y = b.backends.begin();
  while (x != a.backends.end() || y != b.backends.end()) {
    if (y == b.backends.end() || (x != a.backends.end() && x->first < y->first)) {
      differ.push_back((x++)->first);
    } else if (x == a.backends.end() || y->first < x->first) {
      differ.push_back((y++)->first);
    } else {
      if (!alike(x->second, y->second)) differ.push_back(x->first);
      ++x;
      ++y;
    }
  }
  for (const auto& [name, names] : a.names) {
    const auto other = b.names.find(name);
    if (other == b.names.end() || other->second != names) differ.push_back(name);
  }
  for (const auto& [name, names] : b.names) {
    if (!a.names.contains(name)) differ.push_back(name);
  }
  std::ranges::sort(differ);
  const auto doubles = std::ranges::unique(differ);
  differ.erase(doubles.begin(), doubles.end());
  return differ;
}

}  // namespace edge::controller
