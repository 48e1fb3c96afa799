// The messages of Envoy's ext_authz protocol, envoy.service.auth.v3.Authorization/Check, by hand: what a service is
// told of a request, and what it says of it. Fields that are not known are passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::auth {

inline constexpr std::string_view kExtAuthzPath = "/envoy.service.auth.v3.Authorization/Check";

/// AttributeContext: the request as rules and backends see it.
struct CheckedRequest {
  std::string_view source{};  ///< the client's address
  std::int64_t unix_now = 0;
  std::string_view id{};
  std::string_view method{};
  std::string_view path{};  ///< with the query
  std::string_view host{};
  std::string_view scheme{};
  std::string_view protocol{};
  /// Lower case, one entry a name.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string_view body{};
};
/// CheckRequest with gRPC's frame.
std::string check_request(const CheckedRequest& request);

struct CheckedHeader {
  std::string name;
  std::string value;
};
/// CheckResponse. Names are tokens and values lines; others are left out.
struct CheckResult {
  bool passes = false;
  /// Of a request that passes: what the backend is sent, and is not sent.
  std::vector<CheckedHeader> headers;
  std::vector<std::string> removed;
  /// What the client is sent with the backend's response.
  std::vector<CheckedHeader> response_headers;
  /// Of a denial; `headers` are then the client's.
  int status = 403;
  std::string body;
};
/// `body`: of the call's answer; `grpc_status`: from its trailers, or where there is no body from its head. nullopt: it
/// decides nothing, because it failed or is malformed. A message that says nothing is no consent (*safe*).
std::optional<CheckResult> read_check_response(std::string_view body, std::string_view grpc_status);

}  // namespace edge::runtime::auth
