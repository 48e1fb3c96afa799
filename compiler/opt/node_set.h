// Nodes without doubles: equal conditions of one host are one node, so that they are evaluated, and written, once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/match_ir.h"

namespace edge::compiler::opt {

class NodeSet {
 public:
  /// The index of `node`, new or known. Its operands are indices of this set.
  std::uint32_t add(ir::Node node);

  const ir::Node& operator[](std::uint32_t index) const { return nodes_[index]; }
  std::size_t size() const { return nodes_.size(); }
  std::vector<ir::Node> take() { return std::move(nodes_); }

 private:
  std::vector<ir::Node> nodes_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

/// The one false node; the true one is an AND of nothing. Neither is left after fold_constants.
ir::Node false_node();
ir::Node true_node();
inline bool is_true(const ir::Node& node) { return node.op == program::Op::kAnd && node.operands.empty(); }

/// Calls `visit(group, path)` for each group of the host, in the order of groups. `path` is null for patterns and
/// `any`.
template <typename Visit>
void for_each_group(ir::Host& host, Visit visit) {
  for (auto& [path, group] : host.exact) visit(group, &path);
  visit(host.early_regex, static_cast<const std::string*>(nullptr));
  for (auto& [path, group] : host.prefix) visit(group, &path);
  visit(host.regex, static_cast<const std::string*>(nullptr));
  visit(host.any, static_cast<const std::string*>(nullptr));
}

}  // namespace edge::compiler::opt
