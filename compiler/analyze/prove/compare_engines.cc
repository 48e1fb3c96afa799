#include "compiler/analyze/prove/compare_engines.h"

namespace edge::compiler::analyze {
namespace {

std::string candidate_name(std::uint32_t candidate) {
  return candidate == program::kNoCandidate ? "none" : "number " + std::to_string(candidate);
}

}  // namespace

EngineComparison::EngineComparison(const program::Section& section, const Engines& engines,
                                   const program::RegexMatcher& matcher)
    : section_(section), engines_(engines), matcher_(matcher) {
  const auto& header = section.view.header<program::HostHeader>();
  sets_ = engines.regex != nullptr && header.regex_sets.count > 0;
  if (engines.native != nullptr) native_ = engines.native(header.host_id);
  if (native_ == nullptr) return;
  if (native_->host_id != header.host_id || native_->function_count != header.groups.count) {
    fault_ = "the native code is of another host: it has " + std::to_string(native_->function_count) +
             " groups, the tables have " + std::to_string(header.groups.count);
    native_ = nullptr;
  }
}

std::optional<std::string> EngineComparison::compare(const program::RequestView& request, std::uint32_t group) {
  const program::SlotValues values(section_, request, matcher_);
  if (native_ != nullptr && group != program::kNone && native_->functions[group] != nullptr) {
    const auto& header = section_.view.header<program::HostHeader>();
    const program::GroupRecord& record = section_.view.array(header.groups)[group];
    const std::uint32_t interpreted = program::decide_group(section_.view, record, values.input());
    const std::uint32_t native = native_->functions[group](&values.input());
    if (native != interpreted) {
      return "in group " + std::to_string(group) + " the interpreter takes candidate " + candidate_name(interpreted) +
             ", native code " + candidate_name(native);
    }
  }
  return sets_ ? compare_patterns(values.input()) : std::nullopt;
}

std::optional<std::string> EngineComparison::compare_patterns(const program::MatchInput& input) {
  const auto& header = section_.view.header<program::HostHeader>();
  const auto regexes = section_.view.array(header.regexes);
  for (const program::RegexSetRecord& set : section_.view.array(header.regex_sets)) {
    const program::SlotValue& value = input.slots[set.slot];
    if (value.data == nullptr) continue;
    if (engines_.lacks_database && engines_.lacks_database(set.section_id)) continue;
    const std::string_view subject(value.data, value.size);
    if (!seen_.emplace(set.section_id, subject).second) continue;
    const auto hits = engines_.regex(set.section_id, set.count, subject);
    if (!hits) return "the regex engine failed on `" + std::string(subject) + "`";
    for (std::uint32_t i = 0; i < set.count; ++i) {
      const std::uint32_t bit = set.first + i;
      const bool portable = (input.regex_hits[bit / 64] >> (bit % 64) & 1) != 0;
      if ((*hits)[i] == portable) continue;
      return "pattern `" + std::string(section_.view.string(regexes[bit].pattern)) + "` is " +
             (portable ? "found" : "not found") + " in `" + std::string(subject) +
             "` by the portable engine, and the other way round by the compiled one";
    }
  }
  return std::nullopt;
}

}  // namespace edge::compiler::analyze
