// ProxyRoute as written: no default is filled in, no reference resolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "compiler/model/metadata.h"
#include "program/filter_table.h"

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

enum class ValueType : std::uint8_t { kExact, kPresent, kRegex };

/// Of a header or a query parameter.
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
  /// Of translated rules whose path is an expression: so many bytes are the prefix of every path that it matches.
  std::optional<std::uint32_t> prefix_length{};
};

using program::FilterType;

/// One filter; which fields mean something depends on the type.
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
  std::string mirror_kind = "ProxyBackend";  ///< as BackendRef::kind
  Maybe<std::int64_t> percent{};
};

struct BackendRef {
  Reference backend;
  /// `ProxyBackend`, or of translated routes `Service`: the name is then `service:port`.
  std::string kind = "ProxyBackend";
  /// Reason of a condition (Gateway API) why translating could not resolve it, and said so: answered 500.
  std::string unresolved{};
  Maybe<std::int64_t> weight{};
  /// Of requests that go there, beside the rule's. Mirrors are not among them.
  std::vector<Filter> filters{};
};

struct Retry {
  Maybe<std::int64_t> max_retries{};
  std::vector<Located<std::string>> retry_on{};
  /// Of the Gateway API alone.
  Maybe<std::chrono::nanoseconds> try_timeout{};
};

/// Requests of one client stay with the endpoint that took the first (GEP-1619).
struct SessionPersistence {
  Span span{};
  Maybe<std::string> name{};  ///< of the cookie or header
  bool by_header = false;
  Maybe<std::chrono::nanoseconds> absolute_timeout{};
  Maybe<std::chrono::nanoseconds> idle_timeout{};
  bool permanent = false;     ///< the cookie outlives the browser's run
  Maybe<std::string> path{};  ///< of the cookie; that of the rule's matches without it
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
  /// Both forms: backendRef is a list of one.
  std::vector<BackendRef> backends{};
  std::optional<Retry> retry{};
  Maybe<std::chrono::nanoseconds> request_timeout{};
  Maybe<std::chrono::nanoseconds> idle_timeout{};
  Maybe<std::chrono::nanoseconds> min_grpc_timeout{};
  Maybe<std::uint64_t> max_request_body{};
  std::optional<Buffering> buffering{};
  std::optional<SessionPersistence> persistence{};
  /// Of translated rules: who decides about requests, by a policy of the rule. While it cannot be asked they are
  /// answered 500.
  std::optional<BackendRef> external_auth{};
};

/// Whether a cookie can have that path (RFC 6265 §4.1.1), in at most 1,024 bytes.
bool is_cookie_path(std::string_view path);

/// That of the rule's session: the one it names, else the whole segments that the paths of all matches begin with, and
/// `/` where one of them is a regular expression.
std::string cookie_path(const SessionPersistence& session, const Rule& rule);

/// What translating found to say about the route in its status.
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
