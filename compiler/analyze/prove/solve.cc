#include "compiler/analyze/prove/solve.h"

#include <deque>

namespace edge::compiler::analyze {
namespace {

using program::Op;

class Solver {
 public:
  Solver(const ir::Host& host, std::size_t max_ways, const std::function<bool(const Literals&)>& accept)
      : host_(host), ways_left_(max_ways), steps_left_(max_ways * 4'096), accept_(accept) {}

  Search run(const std::vector<Goal>& goals) {
    const Pending* pending = nullptr;
    for (auto goal = goals.rbegin(); goal != goals.rend(); ++goal) pending = push(*goal, pending);
    if (search(pending)) return Search::kFound;
    return gave_up_ ? Search::kGaveUp : Search::kImpossible;
  }

 private:
  /// What is still to be reached: lists that share their tails, so that a choice costs one element.
  struct Pending {
    Goal goal;
    const Pending* next;
  };

  const Pending* push(const Goal& goal, const Pending* next) {
    arena_.push_back({goal, next});
    return &arena_.back();
  }

  /// Recursion is one level a choice. Leaves `literals_` as it found them unless it returns true.
  bool search(const Pending* pending) {
    const std::size_t mark = literals_.size();
    while (pending != nullptr) {
      if (steps_left_ == 0) return gave_up_ = true, fail(mark);
      --steps_left_;
      const Goal goal = pending->goal;
      const ir::Node& node = host_.nodes[goal.node];
      pending = pending->next;
      if (node.op == Op::kNot) {
        pending = push({node.operands.front(), !goal.holds}, pending);
      } else if (node.op != Op::kAnd && node.op != Op::kOr) {
        if (!add(goal)) return fail(mark);
      } else if ((node.op == Op::kAnd) == goal.holds) {
        for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand) {
          pending = push({*operand, goal.holds}, pending);
        }
      } else {
        for (const std::uint32_t operand : node.operands) {
          if (search(push({operand, goal.holds}, pending))) return true;
        }
        return fail(mark);
      }
    }
    if (ways_left_ == 0) return gave_up_ = true, fail(mark);
    --ways_left_;
    if (accept_(literals_)) return true;
    gave_up_ = true;  // what `accept` turned down was consistent as far as is known here
    return fail(mark);
  }

  bool fail(std::size_t mark) {
    literals_.resize(mark);
    return false;
  }

  /// False when it contradicts what was taken before.
  bool add(const Literal& literal) {
    for (const Literal& taken : literals_) {
      if (taken.node == literal.node) return taken.holds == literal.holds;
      if (contradict(taken, literal) || contradict(literal, taken)) return false;
    }
    literals_.push_back(literal);
    return host_.nodes[literal.node].op != Op::kFalse || !literal.holds;
  }

  bool contradict(const Literal& a, const Literal& b) const {
    if (!a.holds) return false;
    const ir::Node& first = host_.nodes[a.node];
    const ir::Node& second = host_.nodes[b.node];
    if (second.op == Op::kPresent && !b.holds) return needs_value(first, second.slot);
    return first.op == Op::kEquals && second.op == Op::kEquals && b.holds && first.slot == second.slot &&
           first.text != second.text;
  }

  /// Whether a condition fails when `slot` is absent.
  bool needs_value(const ir::Node& node, std::uint32_t slot) const {
    if (node.op == Op::kRegex) return host_.regexes[node.regex].slot == slot;
    return (node.op == Op::kEquals || node.op == Op::kContains) && node.slot == slot;
  }

  const ir::Host& host_;
  std::size_t ways_left_;
  std::size_t steps_left_;
  const std::function<bool(const Literals&)>& accept_;
  std::deque<Pending> arena_;
  Literals literals_;
  bool gave_up_ = false;
};

}  // namespace

Search solve(const ir::Host& host, const std::vector<Goal>& goals, std::size_t max_ways,
             const std::function<bool(const Literals&)>& accept) {
  return Solver(host, max_ways, accept).run(goals);
}

}  // namespace edge::compiler::analyze
