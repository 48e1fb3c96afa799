#include "edgectl/web/compiler/route_cost.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/analyze/cost/cost.h"
#include "compiler/analyze/explain/treatment.h"
#include "compiler/analyze/space/host_rules.h"
#include "edgectl/web/compiler/workbench.h"

namespace edge::edgectl::web {
namespace {

namespace analyze = compiler::analyze;
using OrderedJson = nlohmann::ordered_json;

/// By listener and pattern, as `cost_of` names them.
using Counts = std::map<std::pair<std::string, std::string>, std::size_t>;

std::size_t rules_of(const program::Section& section, const std::string& route) {
  analyze::Space space;
  std::size_t count = 0;
  for (const analyze::TableRule& rule : analyze::HostRules(space, section).rules()) {
    count += analyze::rule_name(section.view, rule.action).starts_with(route + " ") ? 1U : 0U;
  }
  return count;
}

/// The hosts that a route has rules on, or that a gateway's listeners serve.
Counts hosts_of(const program::ProgramView& program, CostOf of, const std::string& name) {
  Counts counts;
  std::map<std::uint64_t, std::size_t> known;  // several listeners have one section
  const program::SectionView& view = program.listeners().view;
  const auto& header = view.header<program::ListenersHeader>();
  for (const program::ListenerRecord& listener : view.array(header.listeners)) {
    const auto& gateway = view.array(header.gateways)[listener.gateway];
    const bool own =
        std::string(view.string(gateway.name_space)) + "/" + std::string(view.string(gateway.name)) == name;
    if (of == CostOf::kGateway && !own) continue;
    for (const program::HostEntry& entry : view.array(listener.host_entries)) {
      const program::Section* const section = program.find(program::SectionKind::kHost, entry.host_id);
      if (section == nullptr) continue;
      std::size_t rules = 0;
      if (of == CostOf::kRoute) {
        const auto [at, fresh] = known.try_emplace(entry.host_id, 0);
        if (fresh) at->second = rules_of(*section, name);
        rules = at->second;
        if (rules == 0) continue;
      }
      std::string pattern(view.string(entry.pattern));
      counts[{std::string(view.string(listener.name)), pattern.empty() ? "*" : std::move(pattern)}] = rules;
    }
  }
  return counts;
}

OrderedJson patterns_json(const analyze::Cost& cost, const std::string& host) {
  OrderedJson list = OrderedJson::array();
  for (const analyze::RegexCost& regex : cost.regexes) {
    if (regex.host != host || list.size() == kMostCostHosts) continue;
    list.push_back({{"pattern", regex.pattern}, {"subject", regex.subject}, {"positions", regex.positions}});
  }
  return list;
}

}  // namespace

OrderedJson cost_json(const program::ProgramView& program, CostOf of, const std::string& name) {
  const Counts counts = hosts_of(program, of, name);
  OrderedJson list = OrderedJson::array();
  if (counts.empty()) return list;
  const analyze::Cost cost = analyze::cost_of(program);
  for (const analyze::HostCost& host : cost.hosts) {
    const auto found = counts.find({host.listener, host.pattern});
    if (found == counts.end()) continue;
    if (list.size() == kMostCostHosts) break;
    list.push_back({{"host", host.pattern},
                    {"listener", host.listener},
                    {"rules", host.rules},
                    {"ownRules", found->second},
                    {"paths", host.paths},
                    {"tableBytes", host.table_bytes},
                    {"longestPath", host.longest_path},
                    {"bound",
                     {{"hosts", host.bound.hosts},
                      {"pathProbes", host.bound.paths},
                      {"conditions", host.bound.conditions},
                      {"patternSets", host.bound.pattern_sets}}},
                    {"patterns", patterns_json(cost, host.pattern)}});
  }
  return list;
}

}  // namespace edge::edgectl::web
