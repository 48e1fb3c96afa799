#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/node_set.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

using program::Op;

class ConstantFolder {
 public:
  std::uint32_t fold(const ir::Node& node, const std::vector<std::uint32_t>& moved) {
    if (node.op == Op::kNot) return negate(moved[node.operands.front()]);
    if (node.op != Op::kAnd && node.op != Op::kOr) return nodes_.add(node);
    std::vector<std::uint32_t> operands;
    for (const std::uint32_t operand : node.operands) operands.push_back(moved[operand]);
    return chain(node.op, std::move(operands));
  }

  const ir::Node& operator[](std::uint32_t index) const { return nodes_[index]; }
  std::vector<ir::Node> take() { return nodes_.take(); }

 private:
  bool is_false(std::uint32_t index) const { return nodes_[index].op == Op::kFalse; }

  std::uint32_t negate(std::uint32_t operand) {
    const ir::Node& inner = nodes_[operand];
    if (inner.op == Op::kFalse) return nodes_.add(ir::true_node());
    if (ir::is_true(inner)) return nodes_.add(ir::false_node());
    if (inner.op == Op::kNot) return inner.operands.front();
    ir::Node node{};
    node.op = Op::kNot;
    node.operands = {operand};
    return nodes_.add(std::move(node));
  }

  /// AND and OR: the neutral constant is left out, the other one decides, as do a condition and its negation.
  std::uint32_t chain(Op op, std::vector<std::uint32_t> operands) {
    const bool conjunction = op == Op::kAnd;
    const std::uint32_t decided = nodes_.add(conjunction ? ir::false_node() : ir::true_node());
    std::vector<std::uint32_t> kept;
    std::unordered_set<std::uint32_t> seen;
    for (const std::uint32_t operand : operands) {
      if (operand == decided) return decided;
      if (conjunction ? ir::is_true(nodes_[operand]) : is_false(operand)) continue;
      if (seen.insert(operand).second) kept.push_back(operand);
    }
    for (const std::uint32_t operand : kept) {
      if (nodes_[operand].op == Op::kNot && seen.contains(nodes_[operand].operands.front())) return decided;
    }
    if (conjunction && !values_agree(kept)) return decided;
    if (kept.size() == 1) return kept.front();
    ir::Node node{};
    node.op = op;
    node.operands = std::move(kept);
    if (node.operands.empty()) return nodes_.add(conjunction ? ir::true_node() : ir::false_node());
    return nodes_.add(std::move(node));
  }

  /// In a conjunction a slot that must equal one value settles every other test of that slot for equality or presence.
  /// False when they exclude each other.
  bool values_agree(std::vector<std::uint32_t>& operands) const {
    std::unordered_map<std::uint32_t, std::uint32_t> equals;  // slot -> node
    for (const std::uint32_t operand : operands) {
      const ir::Node& node = nodes_[operand];
      if (node.op == Op::kEquals && !equals.emplace(node.slot, operand).second) return false;
    }
    bool agree = true;
    std::erase_if(operands, [&](std::uint32_t operand) {
      const ir::Node* node = &nodes_[operand];
      const bool negated = node->op == Op::kNot;
      if (negated) node = &nodes_[node->operands.front()];
      const bool settled = (node->op == Op::kEquals && negated) || node->op == Op::kPresent;
      if (!settled || !equals.contains(node->slot)) return false;
      // `x == a AND NOT x == b` is `x == a`; `x present` follows from it; `NOT x present` cannot be.
      if (negated && node->op == Op::kPresent) agree = false;
      return true;
    });
    return agree;
  }

  ir::NodeSet nodes_;
};

}  // namespace

void fold_constants(ir::Host& host) {
  ConstantFolder folder;
  std::vector<std::uint32_t> moved(host.nodes.size());
  for (std::size_t i = 0; i < host.nodes.size(); ++i) moved[i] = folder.fold(host.nodes[i], moved);

  ir::for_each_group(host, [&](ir::Group& group, const std::string*) {
    std::erase_if(group, [&](ir::Candidate& candidate) {
      if (candidate.predicate == ir::kAlways) return false;
      candidate.predicate = moved[candidate.predicate];
      const ir::Node& node = folder[candidate.predicate];
      if (ir::is_true(node)) candidate.predicate = ir::kAlways;
      if (node.op != Op::kFalse) return false;
      host.impossible.push_back(candidate);
      return true;
    });
  });
  std::erase_if(host.exact, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(host.prefix, [](const auto& entry) { return entry.second.empty(); });
  host.nodes = folder.take();
}

}  // namespace edge::compiler::opt
