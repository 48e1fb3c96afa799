// Compares two ordered lists of rules, before and after a change: which requests of one class of hosts are handled
// differently. Exact where the search ends within its limits; otherwise reported as undecided.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analyze/explain/treatment.h"
#include "compiler/analyze/space/host_rules.h"
#include "compiler/analyze/space/space.h"
#include "compiler/analyze/space/witness.h"
#include "program/evaluate/evaluate.h"

namespace edge::compiler::analyze {

/// A rule of one of the sections that a host falls through.
struct ChainRule {
  const program::Section* host = nullptr;
  TableRule rule;
};

/// A class of requests: those matched by `before` earlier and by `after` now. An absent rule: 404.
struct RulesDifference {
  std::optional<ChainRule> before;
  std::optional<ChainRule> after;
  Witness request;  ///< an example; the caller sets its host
};

struct RulesDifferences {
  std::vector<RulesDifference> found;
  std::vector<std::string> undecided;  ///< one per undecided comparison
  bool none() const { return found.empty() && undecided.empty(); }
};

/// One side: the sections in the order in which matching falls through them.
struct RuleChain {
  Treatments& treatments;
  std::vector<const program::Section*> hosts;
};

/// Compares the lists. Only changed rules are examined, with the rules that they overlap: two rules on both sides, with
/// the same conditions, treatment and order, have the same winner on both. Sections with equal bytes are skipped.
/// `by_name`: another rule's name is a difference too.
RulesDifferences diff_rules(const RuleChain& before, const RuleChain& after, const program::RegexMatcher& regex,
                            bool by_name);

}  // namespace edge::compiler::analyze
