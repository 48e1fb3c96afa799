// Deduplicates nodes: equal conditions of one host are one node, evaluated and written once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/match_ir.h"

namespace edge::compiler::ir {

class NodeSet {
 public:
  /// Returns the index of `node`, added if new. Its operands are indices of this set.
  std::uint32_t add(Node node);

  const Node& operator[](std::uint32_t index) const { return nodes_[index]; }
  std::size_t size() const { return nodes_.size(); }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  std::vector<Node> nodes_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

/// The false node; the true one is an AND of nothing. Neither remains after opt::fold_constants.
Node false_node();
Node true_node();
inline bool is_true(const Node& node) { return node.op == program::Op::kAnd && node.operands.empty(); }

}  // namespace edge::compiler::ir
