// Endpoints, which are sent separately from a program: the addresses of each backend, and names that agents resolve.
// Changing them requires no compile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::program {

inline constexpr std::uint16_t kMostEndpointWeight = 256;
/// Limit per backend.
inline constexpr std::size_t kMostEndpointNames = 256;
/// Limit per endpoint, as Kubernetes has it for hints.
inline constexpr std::size_t kMostEndpointZones = 8;

/// The label of Nodes and agents that says their zone.
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

/// The zones whose agents prefer an endpoint; empty: no agent does more than another.
using EndpointZones = std::vector<std::string>;

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  /// False for endpoints that Kubernetes reports as not ready; they get no traffic.
  bool ready = true;
  /// Its weight among the endpoints: 1 to kMostEndpointWeight.
  std::uint16_t weight = 1;
  /// Of another cluster's gateway: the cluster's region, if it has one.
  EndpointZones zones{};
  /// The other cluster whose gateway it is; empty: of this cluster.
  std::string cluster{};
  /// How much of the service is healthy there, as that cluster says; 0 to 100.
  std::uint8_t healthy_percent = 100;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// A name that agents resolve to endpoints.
struct EndpointName {
  /// Lower case; with a final dot where search lists are not to be used.
  std::string host;
  /// 0: `host` is a service name (`_http._tcp.example.org`), whose SRV records have the ports.
  std::uint16_t port = 0;
  std::uint16_t weight = 1;  ///< of each endpoint
  EndpointZones zones{};     ///< likewise
  friend bool operator==(const EndpointName&, const EndpointName&) = default;
};

struct BackendEndpoints {
  std::uint64_t backend_id = 0;
  std::string name_space;
  std::string name;
  /// Sorted by address and port, without duplicates.
  std::vector<Endpoint> endpoints;
  /// Sorted by host and port, without duplicates.
  std::vector<EndpointName> names{};
  friend bool operator==(const BackendEndpoints&, const BackendEndpoints&) = default;
};

/// Returns whether one more of the endpoints with traffic may be ejected when at most `percent` of them may be at a
/// time. Never more than that share: half of one endpoint is none.
constexpr bool may_eject(std::uint64_t endpoints, std::uint64_t ejected, std::uint32_t percent) {
  return (ejected + 1) * 100 <= endpoints * percent;
}

/// Sorted by backend id.
struct EndpointSet {
  std::vector<BackendEndpoints> backends;
  friend bool operator==(const EndpointSet&, const EndpointSet&) = default;
};

/// Sorts endpoints and names; of duplicates the ready one, then the one with the larger weight is kept.
void sort(BackendEndpoints& backend);
/// Returns whether a name can be resolved: letters as in RFC 1123, and `_`, used in names of services and containers.
bool is_endpoint_name(std::string_view host);
/// Returns whether a text may name a cluster: lower-case letters, digits, and `-` within; at most 63.
bool is_cluster_name(std::string_view name);
/// Returns whether a text may name a zone: a label value as in Kubernetes, not empty.
bool is_zone(std::string_view zone);
/// Returns the zones as text for users: `a`, or `a, b`.
std::string zones_text(const EndpointZones& zones);

/// The file form of `edge-agent --endpoints`: JSON
/// `{"backends":[{"namespace":"shop","name":"api","endpoints":[{"address":"127.0.0.1","port":8080,"ready":true}],
/// "names":[{"host":"api.example.org","port":443}]}]}`; `weight` where it is not 1, `"zones":["a"]` where there
/// are any; `cluster`, and `healthyPercent` where it is not 100, of another cluster's gateway. At most 64 MiB,
/// 1,000,000 endpoints and names.
Result<EndpointSet> read_endpoints(std::string_view json);
std::string write_endpoints(const EndpointSet& endpoints);

}  // namespace edge::program
