// Two ordered lists of rules, one before and one after a change: which requests of one class of hosts are treated
// otherwise. Exact where the search ends within its bounds; where it does not, that is said.
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

/// A class of requests: those that `before` took and that `after` takes now. A rule that is not there: 404.
struct RulesDifference {
  std::optional<ChainRule> before;
  std::optional<ChainRule> after;
  Witness request;  ///< one of them; its host is the caller's to fill in
};

struct RulesDifferences {
  std::vector<RulesDifference> found;
  std::vector<std::string> undecided;  ///< one a question that the search did not answer
  bool none() const { return found.empty() && undecided.empty(); }
};

/// One side: the sections in the order in which matching falls through them.
struct RuleChain {
  Treatments& treatments;
  std::vector<const program::Section*> hosts;
};

/// Only rules that changed are looked at, with the rules that they meet: of two rules that are on both sides, with the
/// same conditions and treatment and in the same order, the same one wins on both. Sections of the same bytes are not
/// looked into. `by_name`: another rule's name is a difference too.
RulesDifferences diff_rules(const RuleChain& before, const RuleChain& after, const program::RegexMatcher& regex,
                            bool by_name);

}  // namespace edge::compiler::analyze
