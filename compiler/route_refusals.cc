#include "compiler/route_refusals.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace edge::compiler {
namespace {

using program::HostHeader;

bool uses_regex(const ir::Host& host, std::uint32_t node, std::uint32_t regex) {
  if (node == ir::kAlways) return false;
  const ir::Node& record = host.nodes[node];
  if (record.op == program::Op::kRegex) return record.regex == regex;
  return std::ranges::any_of(record.operands, [&](std::uint32_t operand) { return uses_regex(host, operand, regex); });
}

/// The field that a candidate's pattern on `slot` was written in.
const Located<std::string>* pattern_field(const LinkedListener& listener, const ir::Host& host, const RuleMatch& match,
                                          std::uint32_t slot) {
  if (slot == program::kSlotPath) return match.path.type == PathMatch::Type::kRegex ? &match.path.value : nullptr;
  const ir::Slot& named = host.slots[slot - program::kFirstHostSlot];
  const bool is_header = named.kind == program::SlotKind::kHeader;
  for (const FieldMatch& field : is_header ? match.headers : match.query) {
    if (field.type != MatchType::kRegex) continue;
    if ((is_header ? matched_field(listener, field.name.value) : field.name.value) == named.name) return &field.value;
  }
  return nullptr;
}

Diagnostic refusal(const LinkedConfig& config, const ir::Host& host, const ir::Candidate& candidate, std::uint32_t slot,
                   const std::string& message) {
  const LinkedRoute& route = config.routes[candidate.route];
  const RuleMatch& match = route.rules[candidate.rule].matches[candidate.match];
  const Located<std::string>* const field = pattern_field(config.listeners[host.listener], host, match, slot);
  Diagnostic diagnostic{.code = DiagnosticCode::kRegexSyntax};
  diagnostic.resource = route.identity.text();
  diagnostic.field =
      "spec.rules[" + std::to_string(candidate.rule) + "].matches[" + std::to_string(candidate.match) + "]";
  diagnostic.span = field != nullptr ? field->span : match.span;
  diagnostic.message = "the pattern cannot be compiled: " + message;
  diagnostic.notes.emplace_back("the whole route is left out: a route is never widened by a fault in it");
  return diagnostic;
}

using SlotSet = std::set<std::uint32_t>;

void collect_slots(const ir::Host& host, std::uint32_t node, SlotSet& slots) {
  if (node == ir::kAlways) return;
  const ir::Node& record = host.nodes[node];
  if (record.op == program::Op::kRegex) {
    slots.insert(host.regexes[record.regex].slot);
  } else if (record.operands.empty()) {
    slots.insert(record.slot);
  }
  for (const std::uint32_t operand : record.operands) collect_slots(host, operand, slots);
}

std::map<std::uint32_t, SlotSet> slots_of_routes(const ir::Host& host) {
  std::map<std::uint32_t, SlotSet> of_route;
  ir::for_each_group(host, [&](const ir::Group& group, const std::string*) {
    for (const ir::Candidate& candidate : group) collect_slots(host, candidate.predicate, of_route[candidate.route]);
  });
  return of_route;
}

Diagnostic over_limit(const LinkedConfig& config, const ir::Host& host, std::uint32_t route, std::size_t limit) {
  const Identity& identity = config.routes[route].identity;
  Diagnostic diagnostic{.code = DiagnosticCode::kTooMany};
  diagnostic.resource = identity.text();
  diagnostic.field = "spec.rules";
  diagnostic.span = identity.span;
  const std::string name = host.pattern.any() ? std::string("every host") : "host `" + host.pattern.text() + "`";
  diagnostic.message =
      "the routes of " + name + " test more than " + std::to_string(limit) + " different headers and query keys";
  diagnostic.notes.emplace_back("older routes hold; this whole route is left out");
  return diagnostic;
}

}  // namespace

std::vector<RouteRefusal> routes_refused(const LinkedConfig& config, const ir::Host& host,
                                         const program::SectionView& section,
                                         const std::vector<PatternRefusal>& refusals) {
  std::vector<RouteRefusal> refused;
  for (const auto& set : section.array(section.header<HostHeader>().regex_sets)) {
    for (const PatternRefusal& fault : refusals) {
      if (fault.set_id != set.section_id) continue;
      ir::for_each_group(host, [&](const ir::Group& group, const std::string*) {
        for (const ir::Candidate& candidate : group) {
          if (!uses_regex(host, candidate.predicate, set.first + fault.pattern)) continue;
          refused.push_back({candidate.route, refusal(config, host, candidate, set.slot, fault.message)});
        }
      });
    }
  }
  return refused;
}

std::vector<RouteRefusal> routes_over_limit(const LinkedConfig& config, const ir::Host& host, std::size_t limit) {
  std::vector<RouteRefusal> refused;
  if (host.slots.size() <= limit) return refused;
  const auto of_route = slots_of_routes(host);
  std::vector<std::uint32_t> by_age;
  for (const auto& [route, slots] : of_route) by_age.push_back(route);
  std::ranges::sort(by_age, {}, [&](std::uint32_t route) {
    const Identity& identity = config.routes[route].identity;
    return std::tie(identity.created, identity.name_space, identity.name);
  });
  SlotSet held;
  for (const std::uint32_t route : by_age) {
    std::vector<std::uint32_t> added;
    for (const std::uint32_t slot : of_route.at(route)) {
      if (slot >= program::kFirstHostSlot && !held.contains(slot)) added.push_back(slot);
    }
    if (held.size() + added.size() <= limit) {
      held.insert(added.begin(), added.end());
      continue;
    }
    refused.push_back({route, over_limit(config, host, route, limit)});
  }
  return refused;
}

}  // namespace edge::compiler
