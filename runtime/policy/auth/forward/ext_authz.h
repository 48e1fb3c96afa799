// The messages of Envoy's ext_authz protocol, envoy.service.auth.v3.Authorization/Check, encoded by hand: the request's
// attributes, and the service's decision. Unknown fields are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::auth {

inline constexpr std::string_view kExtAuthzPath = "/envoy.service.auth.v3.Authorization/Check";

/// AttributeContext: the request as rules and backends get it.
struct CheckedRequest {
  std::string_view source{};  ///< the client's address
  std::int64_t unix_now = 0;
  std::string_view id{};
  std::string_view method{};
  std::string_view path{};  ///< with the query
  std::string_view host{};
  std::string_view scheme{};
  std::string_view protocol{};
  /// Names in lower case, each once.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string_view body{};
};
/// Returns a CheckRequest in gRPC framing.
std::string check_request(const CheckedRequest& request);

struct CheckedHeader {
  std::string name;
  std::string value;
};
/// CheckResponse. Only headers with valid names and values are taken.
struct CheckResult {
  bool passes = false;
  /// For a request that passes: headers set, and below, removed for the backend.
  std::vector<CheckedHeader> headers;
  std::vector<std::string> removed;
  /// Headers added to the backend's response to the client.
  std::vector<CheckedHeader> response_headers;
  /// For a denial; `headers` are then for the client.
  int status = 403;
  std::string body;
};
/// Parses a response: `body` of the call; `grpc_status` from the trailers, or without a body from the head. nullopt: no
/// decision, because the call failed or the message is malformed. An empty message does not allow the request (*safe*).
std::optional<CheckResult> read_check_response(std::string_view body, std::string_view grpc_status);

}  // namespace edge::runtime::auth
