#include "compiler/compile_refusals.h"

#include <algorithm>
#include <string>

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
const Located<std::string>* pattern_field(const ir::Host& host, const RuleMatch& match, std::uint32_t slot) {
  if (slot == program::kSlotPath) return match.path.type == PathMatch::Type::kRegex ? &match.path.value : nullptr;
  const ir::Slot& named = host.slots[slot - program::kFirstHostSlot];
  for (const FieldMatch& field : named.kind == program::SlotKind::kHeader ? match.headers : match.query)
    if (field.type == MatchType::kRegex && field.name.value == named.name) return &field.value;
  return nullptr;
}

Diagnostic refusal(const LinkedConfig& config, const ir::Host& host, const ir::Candidate& candidate, std::uint32_t slot,
                   const std::string& message) {
  const LinkedRoute& route = config.routes[candidate.route];
  const RuleMatch& match = route.rules[candidate.rule].matches[candidate.match];
  const Located<std::string>* const field = pattern_field(host, match, slot);
  Diagnostic diagnostic{.code = DiagnosticCode::kRegexSyntax};
  diagnostic.resource = route.identity.text();
  diagnostic.field =
      "spec.rules[" + std::to_string(candidate.rule) + "].matches[" + std::to_string(candidate.match) + "]";
  diagnostic.span = field != nullptr ? field->span : match.span;
  diagnostic.message = "the pattern cannot be compiled: " + message;
  diagnostic.notes.emplace_back("the whole route is left out: a route is never widened by a fault in it");
  return diagnostic;
}

}  // namespace

std::vector<RouteRefusal> routes_refused(const LinkedConfig& config, const ir::Host& host,
                                         const program::SectionView& section,
                                         const std::vector<RegexSets::Refusal>& refusals) {
  std::vector<RouteRefusal> refused;
  for (const auto& set : section.array(section.header<HostHeader>().regex_sets)) {
    for (const RegexSets::Refusal& fault : refusals) {
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

}  // namespace edge::compiler
