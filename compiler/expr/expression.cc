#include "compiler/expr/expression.h"

namespace edge::compiler::expr {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// A name that the grammar takes without quotes stays so.
std::string name_text(std::string_view name) {
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    if (!plain) return quoted(name);
  }
  return name.empty() ? "\"\"" : std::string(name);
}

std::string fact_text(const Expression& leaf) {
  switch (leaf.fact) {
    case Fact::kHost:
      return (leaf.value.starts_with("*.") ? "host in " : "host == ") + quoted(leaf.value);
    case Fact::kGateway:
      return "gateway == " + quoted(leaf.value);
    case Fact::kListener:
      return "listener == " + quoted(leaf.value);
    case Fact::kRoute:
      return "route " + quoted(leaf.value);
    case Fact::kBackend:
      return "backend " + quoted(leaf.value);
    case Fact::kPolicy:
      return "policy " + leaf.value;
    case Fact::kStatus:
      return "status " + leaf.value;
    case Fact::kDenied:
      break;
  }
  return "denied";
}

std::string comparison(const Expression& leaf, std::string_view op) {
  using Kind = Expression::Kind;
  switch (leaf.kind) {
    case Kind::kHeader:
      return "header:" + name_text(leaf.name) + ' ' + std::string(op) + ' ' + quoted(leaf.value);
    case Kind::kQuery:
      return "query:" + name_text(leaf.name) + ' ' + std::string(op) + ' ' + quoted(leaf.value);
    case Kind::kClaim:
      return "claim:" + name_text(leaf.name) + ' ' + std::string(op) + ' ' + quoted(leaf.value);
    case Kind::kClaimContains:
      return "claim:" + name_text(leaf.name) + " contains " + quoted(leaf.value);
    case Kind::kMethod:
      return "method " + std::string(op) + ' ' + quoted(leaf.value);
    case Kind::kPathExact:
      return "path exact " + quoted(leaf.value);
    case Kind::kPathPrefix:
      return "path prefix " + quoted(leaf.value.empty() ? "/" : leaf.value);
    case Kind::kPathContains:
      return "path contains " + quoted(leaf.value);
    case Kind::kSourceIn:
      return "source_ip in " + quoted(to_string(leaf.cidr));
    case Kind::kFact:
      return fact_text(leaf);
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kNot:
      break;
  }
  return {};
}

bool has_operator(Expression::Kind kind) {
  return kind == Expression::Kind::kHeader || kind == Expression::Kind::kQuery || kind == Expression::Kind::kClaim ||
         kind == Expression::Kind::kMethod;
}

}  // namespace

std::string to_text(const Expression& expression) {
  using Kind = Expression::Kind;
  if (expression.kind == Kind::kNot) {
    const Expression& operand = expression.operands.front();
    if (has_operator(operand.kind)) return comparison(operand, "!=");
    const bool group = operand.kind == Kind::kAnd || operand.kind == Kind::kOr;
    return "NOT " + (group ? "(" + to_text(operand) + ")" : to_text(operand));
  }
  if (expression.kind != Kind::kAnd && expression.kind != Kind::kOr) return comparison(expression, "==");
  std::string text;
  for (const Expression& operand : expression.operands) {
    if (!text.empty()) text += expression.kind == Kind::kAnd ? " AND " : " OR ";
    const bool group = expression.kind == Kind::kAnd && operand.kind == Kind::kOr;
    text += group ? "(" + to_text(operand) + ")" : to_text(operand);
  }
  return text;
}

}  // namespace edge::compiler::expr
