// ProxyRoute as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "compiler/model/metadata.h"
#include "program/filter_table.h"
#include "program/mirror_share.h"

namespace edge::compiler::model {

struct ParentRef {
  Reference gateway;
  std::string kind = "ProxyGateway";
  /// Of translated routes: whose listeners are meant, in place of the gateway's own.
  std::optional<Reference> listener_set{};
  Maybe<std::string> section_name{};
  Maybe<std::int64_t> port{};
};

enum class PathType : std::uint8_t { kExact, kPrefix, kRegex };

struct PathCondition {
  PathType type = PathType::kPrefix;
  Located<std::string> value;
};

enum class ValueType : std::uint8_t { kExact, kPresent, kRegex, kContains };

/// A condition on a header, a query parameter or a claim; kContains for claims only.
struct ValueCondition {
  Located<std::string> name;
  Located<std::string> value;
  ValueType type = ValueType::kExact;
};

struct Match {
  Span span{};
  std::optional<PathCondition> path{};
  std::vector<ValueCondition> headers{};
  std::vector<ValueCondition> query{};
  std::vector<ValueCondition> claims{};  ///< of a token that the listener's JWT policy verifies
  Maybe<std::string> method{};
};

struct HeaderModifier {
  std::vector<NameValue> set{};
  std::vector<NameValue> add{};
  std::vector<Located<std::string>> remove{};
};

enum class PathChangeType : std::uint8_t { kPrefix, kFull };

struct PathChange {
  PathChangeType type = PathChangeType::kPrefix;
  Located<std::string> value;
  /// For translated rules with a pattern as path: the number of bytes that are the prefix of every matching path.
  std::optional<std::uint32_t> prefix_length{};
};

using program::FilterType;

/// One filter; the type determines which fields apply.
struct Filter {
  Span span{};
  FilterType type = FilterType::kRequestHeaders;
  HeaderModifier headers{};
  Maybe<std::string> scheme{};
  Maybe<HostPattern> hostname{};
  Maybe<std::int64_t> port{};
  std::optional<PathChange> path{};
  Maybe<std::int64_t> status{};
  std::optional<Reference> mirror{};
  std::string mirror_kind = "ProxyBackend";     ///< as BackendRef::kind
  std::optional<program::MirrorShare> share{};  ///< of requests that a mirror copies
};

struct BackendRef {
  Reference backend;
  /// `ProxyBackend`, or for translated routes `Service`: the name is then `service:port`.
  std::string kind = "ProxyBackend";
  /// Reason of a condition (Gateway API) if translation could not resolve it: answered 500.
  std::string unresolved{};
  Maybe<std::int64_t> weight{};
  /// For requests to this backend, in addition to the rule's. Without mirrors.
  std::vector<Filter> filters{};
};

struct Retry {
  Maybe<std::int64_t> max_retries{};
  std::vector<Located<std::string>> retry_on{};
  // For Gateway API only.
  Maybe<std::chrono::nanoseconds> try_timeout{};
  std::vector<std::int64_t> statuses{};           ///< those without a name in retry_on
  Maybe<std::chrono::nanoseconds> least_pause{};  ///< before each retry
};

/// Keeps the requests of one client on the endpoint that took the first (GEP-1619).
struct SessionPersistence {
  Span span{};
  Maybe<std::string> name{};  ///< of the cookie or header
  bool by_header = false;
  Maybe<std::chrono::nanoseconds> absolute_timeout{};
  Maybe<std::chrono::nanoseconds> idle_timeout{};
  bool permanent = false;     ///< the cookie outlives the browser's session
  Maybe<std::string> path{};  ///< of the cookie; by default that of the rule's matches
};

struct Buffering {
  Span span{};
  Maybe<bool> request{};
  Maybe<bool> response{};
  Maybe<std::uint64_t> max_size{};
};

struct Rule {
  Span span{};
  Maybe<std::string> name{};
  std::vector<Match> matches{};
  std::vector<Filter> filters{};
  /// From both forms: backendRef is a list of one.
  std::vector<BackendRef> backends{};
  std::optional<Retry> retry{};
  Maybe<std::chrono::nanoseconds> request_timeout{};
  Maybe<std::chrono::nanoseconds> idle_timeout{};
  Maybe<std::chrono::nanoseconds> min_grpc_timeout{};
  Maybe<std::uint64_t> max_request_body{};
  std::optional<Buffering> buffering{};
  std::optional<SessionPersistence> persistence{};
  /// For translated rules: the authorization service, called by a policy of the rule. While it is unavailable requests
  /// are answered 500.
  std::optional<BackendRef> external_auth{};
};

/// Returns whether a cookie can have this path (RFC 6265 §4.1.1), in at most 1,024 bytes.
bool is_cookie_path(std::string_view path);

/// Returns the path of the rule's session cookie: the configured one, else the complete segments that the paths of all
/// matches begin with, and `/` where one of them is a regular expression.
std::string cookie_path(const SessionPersistence& session, const Rule& rule);

/// A finding of translation for the route's status.
struct RouteFinding {
  std::string type{};
  bool status = false;
  std::string reason{};
  std::string message{};
};

struct ProxyRoute {
  Metadata metadata;
  std::vector<RouteFinding> findings{};
  std::vector<ParentRef> parents{};
  std::vector<Located<HostPattern>> hostnames{};
  Maybe<std::string> expression{};
  std::vector<Rule> rules{};
};

}  // namespace edge::compiler::model
