#include "compiler/expr/regex_facts.h"

#include <algorithm>

namespace edge::compiler::expr {
namespace {

using Kind = RegexNode::Kind;

/// Matches the empty string wherever it is tried; assertions are taken to fail.
bool nullable(const RegexNode& node) {
  switch (node.kind) {
    case Kind::kEmpty:
      return true;
    case Kind::kConcat:
      return std::all_of(node.children.begin(), node.children.end(), nullable);
    case Kind::kAlternate:
      return std::any_of(node.children.begin(), node.children.end(), nullable);
    case Kind::kRepeat:
      return node.min == 0 || nullable(node.children.front());
    default:
      return false;
  }
}

}  // namespace

std::uint64_t positions(const RegexNode& node) {
  std::uint64_t sum = 0;
  for (const RegexNode& child : node.children) sum += positions(child);
  if (node.kind == Kind::kRepeat) sum *= node.max == RegexNode::kUnbounded ? std::max(node.min, 1U) : node.max;
  if (node.kind == Kind::kBytes) sum += node.bytes.size();
  if (node.kind == Kind::kSet) sum += 1;
  return std::min(sum, kMaxRegexPositions + 1);
}

std::uint64_t repeat_product(const RegexNode& node) {
  std::uint64_t largest = 1;
  for (const RegexNode& child : node.children) largest = std::max(largest, repeat_product(child));
  if (node.kind != Kind::kRepeat) return largest;
  const std::uint32_t times = node.max == RegexNode::kUnbounded ? node.min : node.max;
  return std::min<std::uint64_t>(largest * std::max(times, 1U), kMaxRegexRepeat + 1);
}

bool begins_at_begin(const RegexNode& node) {
  switch (node.kind) {
    case Kind::kBegin:
      return true;
    case Kind::kConcat:
      return begins_at_begin(node.children.front());
    case Kind::kAlternate:
      return std::all_of(node.children.begin(), node.children.end(), begins_at_begin);
    case Kind::kRepeat:
      return node.min > 0 && begins_at_begin(node.children.front());
    default:
      return false;
  }
}

bool always_found(const RegexNode& node) {
  if (node.kind == Kind::kBegin) return true;
  if (node.kind == Kind::kAlternate) return std::any_of(node.children.begin(), node.children.end(), always_found);
  if (node.kind != Kind::kConcat || node.children.front().kind != Kind::kBegin) return nullable(node);
  return std::all_of(node.children.begin() + 1, node.children.end(), nullable);
}

}  // namespace edge::compiler::expr
