// What travels beside a program: the addresses behind each backend. Changing them recompiles nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::program {

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  /// False for endpoints that Kubernetes reports as not ready; they take no traffic.
  bool ready = true;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct BackendEndpoints {
  std::uint64_t backend_id = 0;
  std::string name_space;
  std::string name;
  /// Sorted by address and port, no doubles.
  std::vector<Endpoint> endpoints;
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

/// The file form of `edge-agent --endpoints`: JSON
/// `{"backends":[{"namespace":"shop","name":"api","endpoints":[{"address":"127.0.0.1","port":8080,"ready":true}]}]}`.
/// At most 64 MiB, 1,000,000 endpoints.
Result<EndpointSet> read_endpoints(std::string_view json);
std::string write_endpoints(const EndpointSet& endpoints);

}  // namespace edge::program
