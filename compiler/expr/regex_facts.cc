#include "compiler/expr/regex_facts.h"

#include <algorithm>
#include <string>

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

/// Appends what is certain; false when what follows is not.
bool append_prefix(const RegexNode& node, std::string& prefix) {
  switch (node.kind) {
    case Kind::kEmpty:
    case Kind::kBegin:
      return true;
    case Kind::kBytes:
      prefix += node.bytes;
      return true;
    case Kind::kConcat:
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](const RegexNode& child) { return append_prefix(child, prefix); });
    case Kind::kRepeat:
      if (node.min > 0) append_prefix(node.children.front(), prefix);
      return false;
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

std::optional<std::string> only_match(const RegexNode& node) {
  if (node.kind != Kind::kConcat || node.children.front().kind != Kind::kBegin ||
      node.children.back().kind != Kind::kEnd) {
    return std::nullopt;
  }
  std::string only;
  for (std::size_t i = 1; i + 1 < node.children.size(); ++i) {
    if (node.children[i].kind != Kind::kBytes) return std::nullopt;
    only += node.children[i].bytes;
  }
  return only;
}

std::string literal_prefix(const RegexNode& node) {
  std::string prefix;
  if (begins_at_begin(node)) append_prefix(node, prefix);
  return prefix;
}

}  // namespace edge::compiler::expr
