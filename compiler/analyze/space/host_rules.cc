#include "compiler/analyze/space/host_rules.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "program/evaluate/path_table.h"

namespace edge::compiler::analyze {
namespace {

using program::kActionBit;
using program::kNone;
using program::Op;
using PathClass = program::Trace::PathClass;

constexpr Subject path_subject() { return {Subject::Kind::kPath}; }

Subject subject_of(const program::SectionView& host, std::uint32_t slot) {
  if (slot == program::kSlotMethod) return {Subject::Kind::kMethod};
  if (slot == program::kSlotPath) return path_subject();
  const auto& record = host.array(host.header<program::HostHeader>().slots)[slot - program::kFirstHostSlot];
  const bool header = record.kind == program::SlotKind::kHeader;
  return {header ? Subject::Kind::kHeader : Subject::Kind::kQuery, std::string(host.string(record.name))};
}

Cidr block_of(const program::CidrRecord& record) {
  Cidr block;
  std::memcpy(block.address.bytes.data(), record.address, sizeof record.address);
  block.prefix_length = record.prefix_length;
  return block;
}

/// Records the last place and rule of an evaluation.
class LastRule : public program::Trace {
 public:
  void path(PathClass path_class, std::string_view path) override {
    rule.path_class = path_class;
    rule.path = path_class == PathClass::kPrefix && path == "/" ? std::string_view() : path;
  }
  void candidate(const program::Section& host, std::uint32_t candidate, std::uint32_t action, std::uint32_t) override {
    const auto& header = host.view.header<program::HostHeader>();
    rule.predicate = candidate == kNone ? kNone : host.view.array(header.candidates)[candidate].predicate;
    rule.action = action;
  }
  TableRule rule{};
};

}  // namespace

std::vector<TableRule> HostRules::rules() const {
  const program::SectionView& view = host_.view;
  const auto& header = view.header<program::HostHeader>();
  std::vector<TableRule> rules;
  const auto add = [&](PathClass path_class, std::string_view path, program::Target32 target) {
    if (target == kNone) return;
    if ((target & kActionBit) != 0) {
      rules.push_back({path_class, std::string(path), kNone, target & ~kActionBit});
      return;
    }
    const program::GroupRecord& group = view.array(header.groups)[target];
    for (const auto& candidate : view.array(header.candidates).subspan(group.first, group.count)) {
      rules.push_back({path_class, std::string(path), candidate.predicate, candidate.action});
    }
  };
  std::vector<program::Path> paths = program::paths_of(view);
  for (const program::Path& path : paths) add(PathClass::kExact, path.text, path.exact);
  add(PathClass::kEarlyRegex, {}, header.early_regex);
  std::ranges::stable_sort(paths, std::ranges::greater(), [](const program::Path& path) { return path.text.size(); });
  for (const program::Path& path : paths) add(PathClass::kPrefix, path.text, path.prefix);
  add(PathClass::kPrefix, {}, header.root_prefix);
  add(PathClass::kRegex, {}, header.regex);
  add(PathClass::kAny, {}, header.any_path);
  return rules;
}

Set HostRules::matches(const TableRule& rule) {
  switch (rule.path_class) {
    case PathClass::kExact:
      return space_.all_of({space_.where(path_subject(), Test::kEquals, rule.path), predicate(rule.predicate)});
    case PathClass::kPrefix:
      return space_.all_of({space_.where(path_subject(), Test::kBelow, rule.path), predicate(rule.predicate)});
    case PathClass::kEarlyRegex:
    case PathClass::kRegex:
    case PathClass::kAny:
      break;
  }
  return predicate(rule.predicate);
}

Set HostRules::leaf(const program::NodeRecord& node) {
  const program::SectionView& view = host_.view;
  const auto& header = view.header<program::HostHeader>();
  const auto where = [&](Test test) {
    return space_.where(subject_of(view, node.slot), test, std::string(view.string(node.a, node.b)));
  };
  switch (node.op) {
    case Op::kPresent:
      return space_.where(subject_of(view, node.slot), Test::kPresent);
    case Op::kEquals:
      return where(Test::kEquals);
    case Op::kPathPrefix:
      return space_.where(path_subject(), Test::kBelow, std::string(view.string(node.a, node.b)));
    case Op::kContains:
      return where(Test::kContains);
    case Op::kSourceIn:
      return space_.source_in(block_of(view.array(header.cidrs)[node.a]));
    case Op::kRegex: {
      const program::RegexRecord& regex = view.array(header.regexes)[node.a];
      return space_.where(subject_of(view, regex.slot), Test::kMatches, std::string(view.string(regex.pattern)));
    }
    default:
      return space_.nothing();
  }
}

/// Depth: at most program::kMaxPredicateDepth, which the reader of programs holds.
Set HostRules::predicate(std::uint32_t node) {
  if (node == kNone) return space_.everything();
  if (const auto known = predicates_.find(node); known != predicates_.end()) return known->second;
  const auto& header = host_.view.header<program::HostHeader>();
  const program::NodeRecord& record = host_.view.array(header.nodes)[node];
  Set set{};
  if (record.op == Op::kAnd || record.op == Op::kOr) {
    std::vector<Set> parts;
    for (const std::uint32_t part : host_.view.array(header.operands).subspan(record.a, record.b)) {
      parts.push_back(predicate(part));
    }
    set = record.op == Op::kAnd ? space_.all_of(std::move(parts)) : space_.any_of(std::move(parts));
  } else {
    set = record.op == Op::kNot ? space_.complement(predicate(record.a)) : leaf(record);
  }
  predicates_.emplace(node, set);
  return set;
}

std::optional<TableRule> HostRules::taker(const program::RequestView& request,
                                          const program::RegexMatcher& regex) const {
  LastRule trace;
  const program::Evaluation outcome = program::evaluate_host(host_, request, regex, &trace);
  if (outcome.host == nullptr) return std::nullopt;
  return trace.rule;
}

Landing land(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
             const program::RegexMatcher& regex) {
  LastRule trace;
  const program::Evaluation outcome = program::evaluate(program, bind, request, regex, &trace);
  if (outcome.host == nullptr) return {outcome.listener, nullptr, {}};
  return {outcome.listener, outcome.host, std::move(trace.rule)};
}

}  // namespace edge::compiler::analyze
