#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/ir/node_set.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

/// Beyond this many conditional candidates a group is searched for equal predicates alone, not for weaker ones.
constexpr std::size_t kMaxPairwise = 256;

/// The conditions of a predicate that all must hold, sorted. A view into the host's nodes would not be sorted.
std::vector<std::uint32_t> conditions(const ir::Host& host, std::uint32_t predicate) {
  const ir::Node& node = host.nodes[predicate];
  if (node.op != program::Op::kAnd) return {predicate};
  std::vector<std::uint32_t> sorted = node.operands;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

class Group {
 public:
  Group(ir::Host& host, ir::Group& group) : host_(host), group_(group), pairwise_(group.size() <= kMaxPairwise) {}

  void run() {
    ir::Group kept;
    for (const ir::Candidate& candidate : group_) {
      if (const ir::Candidate* winner = hidden_by(candidate)) {
        host_.shadowed.push_back({candidate, *winner});
        continue;
      }
      kept.push_back(candidate);
      remember(candidate);
    }
    group_ = std::move(kept);
  }

 private:
  const ir::Candidate* hidden_by(const ir::Candidate& candidate) {
    if (always_ != nullptr) return always_;
    if (candidate.predicate == ir::kAlways) return nullptr;
    const auto equal = by_predicate_.find(candidate.predicate);
    if (equal != by_predicate_.end()) return equal->second;
    if (!pairwise_) return nullptr;
    current_ = conditions(host_, candidate.predicate);
    for (const auto& [winner, earlier] : weaker_) {
      if (std::includes(current_.begin(), current_.end(), earlier.begin(), earlier.end())) return winner;
    }
    return nullptr;
  }

  /// `candidate` is an element of group_, which stays in place while this runs.
  void remember(const ir::Candidate& candidate) {
    if (candidate.predicate == ir::kAlways) {
      always_ = &candidate;
      return;
    }
    by_predicate_.emplace(candidate.predicate, &candidate);
    if (pairwise_) weaker_.emplace_back(&candidate, std::move(current_));
  }

  ir::Host& host_;
  ir::Group& group_;
  bool pairwise_;
  const ir::Candidate* always_ = nullptr;
  std::unordered_map<std::uint32_t, const ir::Candidate*> by_predicate_;
  std::vector<std::pair<const ir::Candidate*, std::vector<std::uint32_t>>> weaker_;
  std::vector<std::uint32_t> current_;
};

}  // namespace

void drop_shadowed(ir::Host& host) {
  ir::for_each_group(host, [&host](ir::Group& group, const std::string*) {
    if (group.size() > 1) Group(host, group).run();
  });
}

}  // namespace edge::compiler::opt
