// Special values in a ForwardAuthRecord that are neither URLs nor field names: for a service that is a backend of the
// program, and one that is sent requests unchanged (the filter ExternalAuth of Gateway API). An agent that does not
// support them treats the address as malformed, and what the policy protects is answered 503.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace edge::program {

/// In `auth_headers`: the service is sent the request's own method, host and path, after the address's path, and only
/// the named fields; only 200 lets the request pass, and any other response is sent to the client.
inline constexpr std::string_view kOwnRequest = ":request";
/// In `auth_headers`, instead: the service uses Envoy's ext_authz protocol, and is sent the other named fields; all
/// without any.
inline constexpr std::string_view kGrpcRequest = ":grpc";
/// In `auth_headers`, followed by a number: the service is sent the request's body too, of at most so many bytes.
/// Requests with a larger one are rejected.
inline constexpr std::string_view kBodyLimit = ":body=";
/// In `response_headers`: all fields of a response that lets the request pass, except those of its body and framing.
inline constexpr std::string_view kAllFields = ":all";

inline constexpr std::string_view kBackendScheme = "backend://";

/// Returns `backend://shop/auth:9000/check`. Names of backends contain no slash.
inline std::string backend_address(std::string_view name_space, std::string_view name, std::string_view path) {
  std::string address(kBackendScheme);
  return address.append(name_space).append("/").append(name).append(path);
}

struct BackendAddress {
  std::string_view name_space;
  std::string_view name;
  std::string_view path;  ///< empty, or begins with `/`
};
/// nullopt: a URL, or malformed.
inline std::optional<BackendAddress> parse_backend_address(std::string_view address) {
  if (!address.starts_with(kBackendScheme)) return std::nullopt;
  address.remove_prefix(kBackendScheme.size());
  const std::size_t space = address.find('/');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  const std::string_view rest = address.substr(space + 1);
  const std::size_t name = std::min(rest.find('/'), rest.size());
  if (name == 0) return std::nullopt;
  return BackendAddress{address.substr(0, space), rest.substr(0, name), rest.substr(name)};
}

}  // namespace edge::program
