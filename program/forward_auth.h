// What texts of a ForwardAuthRecord say that no URL and no field name can: a service that is a backend of the program,
// and one that is sent requests as they came (the filter ExternalAuth of Gateway API). An agent that does not know them
// takes the address for malformed, and what the policy protects is answered 503.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace edge::program {

/// Among `auth_headers`: the service is sent the request's own method, host and path, behind that of the address, and
/// none but the fields that are named; 200 alone lets the request pass, and any other answer is the client's.
inline constexpr std::string_view kOwnRequest = ":request";
/// Among `auth_headers`, in its place: the service speaks Envoy's ext_authz protocol, and is told the fields that are
/// named beside it; all without them.
inline constexpr std::string_view kGrpcRequest = ":grpc";
/// Among `auth_headers`, with a number behind it: the service is sent the body of a request too, of so many bytes at
/// most. Requests with a larger one are refused.
inline constexpr std::string_view kBodyLimit = ":body=";
/// Among `response_headers`: all fields of an answer that lets the request pass, but those of its body and framing.
inline constexpr std::string_view kAllFields = ":all";

inline constexpr std::string_view kBackendScheme = "backend://";

/// `backend://shop/auth:9000/check`. Names of backends have no slash.
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
