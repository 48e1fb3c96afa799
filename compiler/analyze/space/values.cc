#include "compiler/analyze/space/values.h"

#include <algorithm>

#include "compiler/analyze/space/text_search.h"
#include "program/claim_field.h"

namespace edge::compiler::analyze {
namespace {

/// RFC 9112 §3.2.4: only OPTIONS has the target `*`; the search of a Space sees to that.
constexpr const char* kUsualMethods[] = {"GET", "POST", "PUT", "DELETE", "PATCH"};
constexpr std::size_t kLongestHost = 253;

/// The first address after `block`; false when it ends with the last of all.
bool first_after(const Cidr& block, IpAddress& address) {
  address = block.address;
  // Adds one to the bits of the prefix; those after it are zero.
  for (unsigned bit = block.prefix_length; bit-- > 0;) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> bit % 8);
    address.bytes[bit / 8] = static_cast<std::uint8_t>(address.bytes[bit / 8] ^ mask);
    if ((address.bytes[bit / 8] & mask) != 0) return true;
  }
  return false;
}

}  // namespace

Values::Values() : parts_(kFirstField) {
  parts_[kMethod].possible = possible_methods();
  parts_[kMethod].subject = {Subject::Kind::kMethod};
  parts_[kPath].possible = possible_paths();
  parts_[kPath].subject = {Subject::Kind::kPath};
}

std::uint32_t Values::add(const std::string& key, Condition condition) {
  const auto [known, fresh] = numbers_.emplace(key, static_cast<std::uint32_t>(conditions_.size()));
  if (fresh) conditions_.push_back(std::move(condition));
  return known->second;
}

std::uint32_t Values::host_in(const HostPattern& pattern) {
  Condition condition(kHost);
  condition.host = pattern;
  return add("host " + pattern.text(), std::move(condition));
}

std::uint32_t Values::source_in(const Cidr& block) {
  Condition condition(kSource);
  condition.block = block;
  return add("source " + to_string(block), std::move(condition));
}

std::uint32_t Values::field_part(const Subject& subject) {
  if (subject.kind == Subject::Kind::kMethod) return kMethod;
  if (subject.kind == Subject::Kind::kPath) return kPath;
  const bool header = subject.kind == Subject::Kind::kHeader;
  const auto [known, fresh] =
      fields_.emplace((header ? 'h' : 'q') + subject.name, static_cast<std::uint32_t>(parts_.size()));
  if (fresh) {
    PartOf& part = parts_.emplace_back();
    part.subject = subject;
    // A request always has a host, and then this field names it.
    part.optional = !header || subject.name != "host";
    // A claim's text may be what no field of a request is.
    if (header && !program::is_claim_field(subject.name)) part.possible = possible_fields();
  }
  return known->second;
}

std::uint32_t Values::where(const Subject& subject, Test test, const std::string& operand) {
  const std::uint32_t part = field_part(subject);
  std::string key = std::to_string(part) + static_cast<char>('0' + static_cast<int>(test)) + operand;
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  Condition condition(part);
  condition.test = test;
  condition.operand = operand;
  if (test == Test::kEquals) condition.set = equal_to(operand);
  if (test == Test::kBelow) condition.set = below(operand);
  if (test == Test::kContains) condition.set = containing(operand);
  if (test == Test::kMatches) condition.set = matching(operand);
  return add(key, std::move(condition));
}

bool Values::holds(const Condition& condition, const Value& value, Effort& effort) {
  if (condition.part == kHost) return condition.host.matches(value.text);
  if (condition.part == kSource) return condition.block.contains(value.source);
  if (value.absent) return false;
  if (condition.test == Test::kPresent) return true;
  return condition.set != nullptr && condition.set->accepts_text(value.text, effort);
}

bool Values::fits(const Value& value, const std::vector<ConditionGoal>& goals, Effort& effort) {
  return std::ranges::all_of(goals, [&](ConditionGoal goal) {
    return holds(conditions_[condition_of(goal)], value, effort) == must_hold(goal);
  });
}

Values::Found Values::find(std::uint32_t part, std::vector<ConditionGoal>& goals, Effort& effort, Value& value) {
  effort.spend(1 + goals.size());
  std::ranges::sort(goals);
  goals.erase(std::ranges::unique(goals).begin(), goals.end());
  if (const auto known = known_.find(goals); known != known_.end()) {
    value = known->second.second;
    return known->second.first;
  }
  const Found found = part == kHost     ? find_host(goals, value)
                      : part == kSource ? find_source(goals, value)
                                        : find_text(parts_[part], goals, effort, value);
  if (found != Found::kNotDecided) known_.emplace(goals, std::pair(found, value));
  return found;
}

// ---- Hosts ----------------------------------------------------------------------------------------------------------

/// Patterns are nested or apart. The most specific one that must hold is the domain; what must not hold takes all of it
/// or leaves infinitely many names.
Values::Found Values::find_host(const std::vector<ConditionGoal>& goals, Value& value) const {
  HostPattern inside;
  for (const ConditionGoal goal : goals) {
    if (!must_hold(goal)) continue;
    const auto both = HostPattern::intersect(inside, conditions_[condition_of(goal)].host);
    if (!both) return Found::kNone;
    inside = *both;
  }
  const auto left_out = [&](const HostPattern& pattern) {
    return std::ranges::any_of(goals, [&](ConditionGoal goal) {
      return !must_hold(goal) &&
             HostPattern::intersect(pattern, conditions_[condition_of(goal)].host) == std::optional(pattern);
    });
  };
  if (left_out(inside)) return Found::kNone;
  if (!inside.any() && !inside.wildcard()) {
    value.text = inside.text();
    return Found::kValue;
  }
  // One more name than can be left out one by one; none of these lies under a longer wildcard unless its label does.
  const std::string end = inside.any() ? ".example" : "." + std::string(inside.domain());
  for (std::size_t i = 0; i <= goals.size(); ++i) {
    const std::string name = (inside.any() ? "any" : "w") + (i == 0 ? std::string() : std::to_string(i)) + end;
    const auto pattern = HostPattern::parse(name);
    if (!pattern || name.size() > kLongestHost) return Found::kNotDecided;
    if (left_out(*pattern)) continue;
    value.text = name;
    return Found::kValue;
  }
  // For every host, `.example` may be left out as a whole.
  for (std::size_t i = 0; inside.any() && i <= goals.size(); ++i) {
    const auto pattern = HostPattern::parse("any.example" + std::to_string(i));
    if (!pattern || left_out(*pattern)) continue;
    value.text = pattern->text();
    return Found::kValue;
  }
  return Found::kNotDecided;
}

// ---- Source addresses
// ------------------------------------------------------------------------------------------------

/// Blocks are nested or apart, too: the smallest that must hold, less those inside of it that must not.
Values::Found Values::find_source(const std::vector<ConditionGoal>& goals, Value& value) const {
  Cidr inside{.address = {}, .prefix_length = 0};
  std::vector<Cidr> outside;
  for (const ConditionGoal goal : goals) {
    const Cidr& block = conditions_[condition_of(goal)].block;
    if (!must_hold(goal)) {
      outside.push_back(block);
    } else if (block.prefix_length >= inside.prefix_length) {
      if (!inside.contains(block.address)) return Found::kNone;
      inside = block;
    } else if (!block.contains(inside.address)) {
      return Found::kNone;
    }
  }
  std::ranges::sort(outside, [](const Cidr& a, const Cidr& b) {
    return a.address != b.address ? a.address < b.address : a.prefix_length < b.prefix_length;
  });
  // The lowest address that is left: each block that holds the candidate moves it past its own end.
  value.source = inside.address;
  for (const Cidr& block : outside) {
    if (!block.contains(value.source)) continue;
    if (!first_after(block, value.source)) return Found::kNone;
  }
  return inside.contains(value.source) ? Found::kValue : Found::kNone;
}

// ---- Texts ----------------------------------------------------------------------------------------------------------

Values::Found Values::find_text(const PartOf& part, const std::vector<ConditionGoal>& goals, Effort& effort,
                                Value& value) {
  const auto settled = [&](bool fine) {
    return effort.exhausted() ? Found::kNotDecided : fine ? Found::kValue : Found::kNone;
  };
  // Nothing has to hold: an absent field fails every condition.
  const bool wanted = std::ranges::any_of(goals, must_hold);
  value = Value{};
  if (!wanted && part.optional) {
    value.absent = true;
    return Found::kValue;
  }
  // A pattern that is not understood: whatever is said of it would be a guess.
  const bool unread = std::ranges::any_of(goals, [&](ConditionGoal goal) {
    const Condition& condition = conditions_[condition_of(goal)];
    return condition.test == Test::kMatches && condition.set == nullptr;
  });
  if (unread) return Found::kNotDecided;
  std::vector<TextGoal> texts;
  if (part.possible) texts.push_back({part.possible.get(), true});
  for (const ConditionGoal goal : goals) {
    const Condition& condition = conditions_[condition_of(goal)];
    const bool holds = must_hold(goal);
    if (condition.test == Test::kEquals && holds) {
      value.text = condition.operand;
      const bool possible = !part.possible || part.possible->accepts_text(value.text, effort);
      return settled(possible && fits(value, goals, effort));
    }
    if (condition.test != Test::kPresent) {
      texts.push_back({condition.set.get(), holds});
    } else if (!holds) {
      return Found::kNone;  // something else has to hold, or the part is always there
    }
  }
  if (part.subject.kind == Subject::Kind::kMethod) {
    for (const char* const usual : kUsualMethods) {
      value.text = usual;
      if (fits(value, goals, effort)) return settled(true);
    }
  }
  value.text.clear();
  if (texts.empty()) return Found::kValue;
  switch (search_text(texts, effort, value.text)) {
    case TextFound::kText:
      return Found::kValue;
    case TextFound::kNone:
      return Found::kNone;
    case TextFound::kNotDecided:
      break;
  }
  return Found::kNotDecided;
}

}  // namespace edge::compiler::analyze
