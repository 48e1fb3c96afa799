// Routing expressions (rule D5) as a tree.
//
// `!=` is read as NOT of `==`: an absent header, and an absent query key, differ from every value.
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
/// Parentheses and NOTs inside each other, as written.
inline constexpr std::size_t kMaxExpressionNesting = 64;
/// Levels of the tree once AND and OR chains are one node each; leaves room in program::kMaxPredicateDepth for the
/// conditions of the rule around it.
inline constexpr std::size_t kMaxExpressionDepth = 56;

/// What a claim alone can ask: where a request comes in, and what becomes of it.
enum class Fact : std::uint8_t {
  kHost,      ///< its host is `value`, or lies under it (`*.example.com`)
  kGateway,   ///< it came in on the gateway `namespace/name`
  kListener,  ///< it came in on a listener of this name
  kRoute,     ///< a rule of the route `namespace/name` takes it
  kBackend,   ///< it goes to the backend `namespace/name`
  kPolicy,    ///< it passes a policy of this type
  kStatus,    ///< the proxy itself answers it with this status, or with a `redirect`
  kDenied,    ///< it is answered 503, since a policy that protects it cannot be enforced
};

struct Expression {
  enum class Kind : std::uint8_t {
    kAnd,
    kOr,
    kNot,
    kHeader,
    kQuery,
    kMethod,
    kPathExact,
    kPathPrefix,
    kPathContains,
    kSourceIn,
    kFact,  ///< of claims alone: parse_expression refuses it
  };

  Kind kind = Kind::kAnd;
  std::string name;   ///< kHeader: lower case; kQuery: the key
  std::string value;  ///< unescaped; paths normalised as requests are, prefixes without trailing slash (`/` is "")
  Cidr cidr;          ///< kSourceIn
  Fact fact = Fact::kHost;           ///< kFact
  std::vector<Expression> operands;  ///< kAnd, kOr: at least two; kNot: one

  friend bool operator==(const Expression&, const Expression&) = default;
};

struct ParsedExpression {
  std::optional<Expression> expression;
  /// Set exactly when `expression` is not: the first fault.
  std::optional<TextFault> fault;
};

/// Reads one expression; any bytes are harmless. Thread-safe.
ParsedExpression parse_expression(std::string_view text);

/// Reads a claim about requests: `path prefix "/admin" implies policy OIDC`. An expression that may ask for facts too;
/// `A implies B` is read as NOT A OR B. `policy_types`: the words that `policy` takes.
ParsedExpression parse_claim(std::string_view text, std::span<const std::string_view> policy_types);

/// Canonical text: keywords in their usual case, parentheses where needed. Parses back to an equal tree.
std::string to_text(const Expression& expression);

}  // namespace edge::compiler::expr
