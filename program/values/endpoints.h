// What travels beside a program: the addresses behind each backend, and names that agents resolve to addresses.
// Changing them recompiles nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::program {

inline constexpr std::uint16_t kMostEndpointWeight = 256;
/// Names of one backend.
inline constexpr std::size_t kMostEndpointNames = 256;

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  /// False for endpoints that Kubernetes reports as not ready; they take no traffic.
  bool ready = true;
  /// Its share beside the others': 1 to kMostEndpointWeight.
  std::uint16_t weight = 1;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Stands for the endpoints that an agent finds behind it.
struct EndpointName {
  /// Lower case; with a dot at its end where search lists are not to be tried.
  std::string host;
  /// 0: `host` is the name of a service (`_http._tcp.example.org`), and its SRV records say the ports.
  std::uint16_t port = 0;
  std::uint16_t weight = 1;  ///< of each of them
  friend bool operator==(const EndpointName&, const EndpointName&) = default;
};

struct BackendEndpoints {
  std::uint64_t backend_id = 0;
  std::string name_space;
  std::string name;
  /// Sorted by address and port, no doubles.
  std::vector<Endpoint> endpoints;
  /// Sorted by host and port, no doubles.
  std::vector<EndpointName> names{};
  friend bool operator==(const BackendEndpoints&, const BackendEndpoints&) = default;
};

/// Whether one more endpoint may be ejected of those that take traffic when at most `percent` of them may be at a time.
/// Never more than that share: of one endpoint, half is none.
constexpr bool may_eject(std::uint64_t endpoints, std::uint64_t ejected, std::uint32_t percent) {
  return (ejected + 1) * 100 <= endpoints * percent;
}

/// Sorted by backend id.
struct EndpointSet {
  std::vector<BackendEndpoints> backends;
  friend bool operator==(const EndpointSet&, const EndpointSet&) = default;
};

/// Puts endpoints and names in their order; of doubles the ready one, then the heavier one stays.
void sort(BackendEndpoints& backend);
/// Whether agents can ask for it: RFC 1123's letters, and `_` as services and containers are named with.
bool is_endpoint_name(std::string_view host);

/// The file form of `edge-agent --endpoints`: JSON
/// `{"backends":[{"namespace":"shop","name":"api","endpoints":[{"address":"127.0.0.1","port":8080,"ready":true}],
/// "names":[{"host":"api.example.org","port":443}]}]}`; `weight` where it is not 1. At most 64 MiB, 1,000,000 endpoints
/// and names.
Result<EndpointSet> read_endpoints(std::string_view json);
std::string write_endpoints(const EndpointSet& endpoints);

}  // namespace edge::program
