// Routing expressions (rule D5) as a tree.
//
// `!=` means NOT of `==`: an absent header, or query key, differs from every value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "compiler/expr/text_fault.h"

namespace edge::compiler::expr {

inline constexpr std::size_t kMaxExpressionBytes = 16 * 1024;
inline constexpr std::size_t kMaxExpressionTerms = 1'000;
/// Nesting of parentheses and NOTs, as written.
inline constexpr std::size_t kMaxExpressionNesting = 64;
/// Depth of the tree with AND and OR chains as one node each; leaves room in program::kMaxPredicateDepth for the
/// conditions of the rule around it.
inline constexpr std::size_t kMaxExpressionDepth = 56;

/// Facts that only claims can refer to: where a request arrives, and its outcome.
enum class Fact : std::uint8_t {
  kHost,      ///< its host is `value`, or below it (`*.example.com`)
  kGateway,   ///< it arrives on the gateway `namespace/name`
  kListener,  ///< it arrives on a listener of this name
  kRoute,     ///< a rule of the route `namespace/name` matches it
  kBackend,   ///< it goes to the backend `namespace/name`
  kPolicy,    ///< it passes a policy of this type
  kStatus,    ///< the proxy answers it with this status, or with a `redirect`
  kDenied,    ///< it is answered 503, because a policy that protects it cannot be enforced
};

struct Expression {
  enum class Kind : std::uint8_t {
    kAnd,
    kOr,
    kNot,
    kHeader,
    kQuery,
    kClaim,          ///< of a verified token; its text is `value`
    kClaimContains,  ///< `value` is one of its elements
    kMethod,
    kPathExact,
    kPathPrefix,
    kPathContains,
    kSourceIn,
    kFact,  ///< in claims only: parse_expression rejects it
  };

  Kind kind = Kind::kAnd;
  std::string name;   ///< kHeader: lower case; kQuery: the key; kClaim, kClaimContains: the claim
  std::string value;  ///< unescaped; paths normalised as requests are, prefixes without trailing slash (`/` is "")
  Cidr cidr;          ///< kSourceIn
  Fact fact = Fact::kHost;           ///< kFact
  std::vector<Expression> operands;  ///< kAnd, kOr: at least two; kNot: one

  friend bool operator==(const Expression&, const Expression&) = default;
};

struct ParsedExpression {
  std::optional<Expression> expression;
  /// Set exactly when `expression` is not: the first error.
  std::optional<TextFault> fault;
};

/// Parses one expression; any input is safe. Thread-safe.
ParsedExpression parse_expression(std::string_view text);

/// Parses a claim about requests: `path prefix "/admin" implies policy OIDC`. An expression that may also contain
/// facts; `A implies B` is parsed as NOT A OR B. `policy_types`: the words that `policy` accepts.
ParsedExpression parse_claim(std::string_view text, std::span<const std::string_view> policy_types);

/// Returns the canonical text: keywords in their usual case, parentheses where needed. Parses back to an equal tree.
std::string to_text(const Expression& expression);

}  // namespace edge::compiler::expr
