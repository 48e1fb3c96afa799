// LinkedRoute: what a route says, whether it was written as ProxyRoute, HTTPRoute or Ingress. Part of LinkedConfig
// (linked_config.h), to whose vectors indices refer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "base/source.h"
#include "compiler/link/identity.h"
#include "program/format/format.h"
#include "program/mirror_share.h"

namespace edge::compiler {

enum class MatchType : std::uint8_t { kExact, kPresent, kRegex };

struct PathMatch {
  enum class Type : std::uint8_t { kNone, kExact, kPrefix, kRegex };
  Type type = Type::kNone;
  /// Exact and prefix: normalised as requests are. A prefix has no trailing slash, save `/` itself.
  Located<std::string> value;
};

struct FieldMatch {
  Located<std::string> name;  ///< header names in lower case
  Located<std::string> value;
  MatchType type = MatchType::kExact;
};

struct RuleMatch {
  PathMatch path;
  std::vector<FieldMatch> headers;  ///< then claims, whose names are those of program/claim_field.h
  std::optional<Located<std::string>> method;
  std::vector<FieldMatch> query;
  Span span;
};

/// A condition on a claim of a verified token. Its fields stand among RuleMatch::headers, or in the expression, under
/// the names that program/claim_field.h gives them.
struct ClaimCondition {
  std::string claim{};
  std::optional<std::string> item{};  ///< an element that it must have; nullopt: its text is compared
  std::string where{};                ///< the field of the resource
  Span span{};
};

struct Filter {
  program::FilterOp op;
  std::string name;
  std::string value;
  std::uint32_t status = 0;        ///< redirects, retries
  std::uint32_t port = 0;          ///< redirects, 0: the scheme's default
  std::uint32_t seconds = 0;       ///< of a session
  std::uint32_t prefix = 0;        ///< bytes that a new prefix replaces where the path is a pattern
  std::uint32_t milliseconds = 0;  ///< of a retry
};

struct WeightedBackend {
  std::optional<std::uint32_t> backend;  ///< index into LinkedConfig::backends; nullopt: unresolved, answered 500
  std::uint32_t weight = 1;
  /// Replace the rule's filters, and include the backend's own after them. nullopt: it has none of its own.
  std::optional<std::vector<Filter>> filters{};
};

/// Mirrored copies of requests (filter RequestMirror).
struct Mirror {
  std::optional<std::uint32_t> backend;  ///< index into LinkedConfig::backends; nullopt: unresolved, no copy is sent
  program::MirrorShare share{};          ///< reduced
  std::string host{};                    ///< the Host of copies; empty: that of the request
};

struct RouteRetry {
  std::uint16_t max_retries = 0;
  std::uint16_t retry_on = 0;  ///< program::RetryOn bits
  std::chrono::nanoseconds try_timeout{0};
};

struct LinkedRule {
  /// At least one; a rule without `matches` has one RuleMatch that matches everything.
  std::vector<RuleMatch> matches;
  std::vector<Filter> filters;
  std::vector<WeightedBackend> backends;
  std::vector<Mirror> mirrors{};
  std::optional<RouteRetry> retry;
  std::chrono::nanoseconds request_timeout{0};
  std::chrono::nanoseconds idle_timeout{0};
  std::chrono::nanoseconds min_grpc_timeout{0};
  std::optional<std::uint64_t> max_request_body;
  bool buffer_request = false;
  bool buffer_response = false;
  std::uint64_t max_buffer = 0;  ///< bytes; 0: no limit of its own
  /// The rule's own policies (indices into LinkedConfig::policies), ascending by type, which replace the route's of the
  /// same type. An HTTPRoute's rules may have CORS and ExternalAuth. One that protects and cannot be enforced has no
  /// settings, and therefore denies: `denied` is the route's.
  std::vector<std::uint32_t> policies{};
  /// Not in the configuration: required by a policy (stages.h, add_login_rules). The route's expression does not apply
  /// to it, and it is not reported as shadowed.
  bool implied = false;
  Span span;
};

struct LinkedRoute {
  Identity identity;
  /// As written; empty when the route has none.
  std::vector<Located<HostPattern>> hostnames;
  std::optional<Located<std::string>> expression;
  std::vector<LinkedRule> rules;
  /// Of all rules and of the expression. Where there are some, each of `listeners` has a token policy.
  std::vector<ClaimCondition> claims{};
  /// Indices into LinkedConfig::listeners that it attaches to, ascending.
  std::vector<std::uint32_t> listeners;
  /// Its own policies (indices into LinkedConfig::policies), at most one per type, ascending by type. The policies of a
  /// request on a gateway are returned by effective_policies().
  std::vector<std::uint32_t> policies{};
  /// A policy that protects it cannot be enforced: its requests are answered 503, never served (fail closed).
  bool denied = false;
};

}  // namespace edge::compiler
