#include "compiler/ir/node_set.h"

#include <utility>

#include "base/hash.h"

namespace edge::compiler::ir {
namespace {

std::uint64_t hash_of(const Node& node) {
  std::uint64_t hash = hash_mix(static_cast<std::uint64_t>(node.op) << 32 | node.slot, node.regex + 0x9e37U);
  hash = hash_bytes(hash, node.text);
  if (node.op == program::Op::kSourceIn) {
    const auto& bytes = node.cidr.address.bytes;
    hash = hash_bytes(hash + node.cidr.prefix_length, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  for (const std::uint32_t operand : node.operands) hash = hash_mix(hash ^ operand, 0xd1342543de82ef95);
  return hash;
}

}  // namespace

std::uint32_t NodeSet::add(Node node) {
  const std::uint64_t hash = hash_of(node);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (nodes_[known->second] == node) return known->second;
  }
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  by_hash_.emplace(hash, index);
  return index;
}

Node false_node() {
  Node node{};
  node.op = program::Op::kFalse;
  return node;
}

Node true_node() {
  Node node{};
  node.op = program::Op::kAnd;
  return node;
}

}  // namespace edge::compiler::ir
