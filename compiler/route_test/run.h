// Runs route tests on a program, and tells which of its rules they reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/route_test/route_test.h"
#include "program/read.h"

namespace edge::compiler::route_test {

struct CaseResult {
  std::optional<std::uint32_t> bind;  ///< that the request came in on
  analyze::Passage passage;
  std::vector<Difference> differences;
  bool passed() const { return differences.empty(); }
};

CaseResult run_case(const program::ProgramView& program, const Case& one, const program::RegexMatcher& regex);

/// A rule of a route, as the program holds it.
struct RuleName {
  std::string route;  ///< namespace/name
  std::uint32_t rule = 0;
  friend auto operator<=>(const RuleName&, const RuleName&) = default;
};

struct Coverage {
  std::size_t rules = 0;
  std::vector<RuleName> missed;  ///< sorted
  std::size_t covered() const { return rules - missed.size(); }
  /// Rounded down; 100 where there is no rule.
  unsigned percent() const { return rules == 0 ? 100 : static_cast<unsigned>(covered() * 100 / rules); }
};

/// A rule that stands on several hosts counts once.
Coverage coverage(const program::ProgramView& program, const std::vector<CaseResult>& results);

}  // namespace edge::compiler::route_test
