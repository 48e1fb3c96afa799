// Writes the canonical form of a pattern.
#include <string>

#include "compiler/expr/regex_class.h"
#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::expr {
namespace {

using Kind = RegexNode::Kind;

std::string repeat_text(const RegexNode& node) {
  if (node.max == RegexNode::kUnbounded) {
    if (node.min == 0) return "*";
    if (node.min == 1) return "+";
    return "{" + std::to_string(node.min) + ",}";
  }
  if (node.min == 0 && node.max == 1) return "?";
  if (node.min == node.max) return "{" + std::to_string(node.min) + "}";
  return "{" + std::to_string(node.min) + "," + std::to_string(node.max) + "}";
}

bool single_atom(const RegexNode& node) {
  return node.kind == Kind::kSet || (node.kind == Kind::kBytes && node.bytes.size() == 1);
}

std::string group(const RegexNode& node) { return "(?:" + to_pattern(node) + ")"; }

}  // namespace

std::string to_pattern(const RegexNode& node) {
  std::string text;
  switch (node.kind) {
    case Kind::kEmpty:
      return "(?:)";
    case Kind::kBytes:
      for (const char c : node.bytes) text += byte_text(static_cast<unsigned char>(c));
      return text;
    case Kind::kSet:
      return class_text(node.set);
    case Kind::kBegin:
      return "^";
    case Kind::kEnd:
      return "\\z";
    case Kind::kWordBoundary:
      return "\\b";
    case Kind::kNotWordBoundary:
      return "\\B";
    case Kind::kConcat:
      for (const RegexNode& child : node.children) {
        text += child.kind == Kind::kAlternate ? group(child) : to_pattern(child);
      }
      return text;
    case Kind::kAlternate:
      for (const RegexNode& child : node.children) {
        if (&child != &node.children.front()) text += '|';
        text += to_pattern(child);
      }
      return text;
    case Kind::kRepeat: {
      const RegexNode& child = node.children.front();
      return (single_atom(child) ? to_pattern(child) : group(child)) + repeat_text(node);
    }
  }
  return text;
}

}  // namespace edge::compiler::expr
