#include "compiler/expr/prescan.h"

#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "compiler/expr/expression.h"

namespace edge::compiler::expr {
namespace {

bool word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// What ends an operand, and the NOTs before it.
bool is_joint(std::string_view word) {
  return equals_ignoring_case(word, "and") || equals_ignoring_case(word, "or") || equals_ignoring_case(word, "implies");
}

/// `at` is the opening quote. Advances past the closing one.
std::optional<TextFault> skip_string(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      ++at;
      return std::nullopt;
    }
    if (c == '\n' || c == '\r') break;
    if (c != '\\') continue;
    if (at + 1 >= text.size()) break;
    const char escaped = text[++at];
    if (escaped != '"' && escaped != '\\') {
      return text_fault(DiagnosticCode::kExpressionSyntax, at - 1, at + 1,
                        "unknown escape in a string: only `\\\"` and `\\\\` are known", "write `\\\\` for a backslash");
    }
  }
  return text_fault(DiagnosticCode::kExpressionSyntax, begin, at, "the string is not closed", "add the closing `\"`");
}

}  // namespace

std::optional<TextFault> prescan(std::string_view text) {
  if (text.size() > kMaxExpressionBytes) {
    return text_fault(DiagnosticCode::kExpressionTooLarge, kMaxExpressionBytes, text.size(),
                      "the expression has " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(kMaxExpressionBytes) + " are allowed");
  }
  // One entry for each open parenthesis: how many NOTs stood before it.
  std::vector<std::size_t> nots_before;
  std::size_t nots = 0;  // pending NOTs of the innermost level
  std::size_t depth = 0;
  std::size_t terms = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t begin = at;
    if (c == '"') {
      if (auto found = skip_string(text, at)) return found;
      if (++terms > kMaxExpressionTerms) {
        return text_fault(DiagnosticCode::kExpressionTooLarge, begin, at,
                          "the expression has more than " + std::to_string(kMaxExpressionTerms) + " comparisons");
      }
      depth -= nots;
      nots = 0;
      continue;
    }
    if (word_byte(c)) {
      while (at < text.size() && word_byte(text[at])) ++at;
      const std::string_view word = text.substr(begin, at - begin);
      if (is_joint(word)) {
        depth -= nots;
        nots = 0;
      }
      if (!equals_ignoring_case(word, "not")) continue;
      ++nots;
      ++depth;
    } else {
      ++at;
      if (c == '(') {
        nots_before.push_back(nots);
        nots = 0;
        ++depth;
      } else if (c == ')' && !nots_before.empty()) {
        depth -= nots + 1 + nots_before.back();
        nots_before.pop_back();
        nots = 0;
      }
    }
    if (depth > kMaxExpressionNesting) {
      return text_fault(DiagnosticCode::kExpressionTooLarge, begin, at,
                        "the expression is nested more than " + std::to_string(kMaxExpressionNesting) + " levels deep");
    }
  }
  return std::nullopt;
}

}  // namespace edge::compiler::expr
