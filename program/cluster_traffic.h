// What the agents of two clusters agree on where one calls services of the other (docs/clusters.md): how the gateway of
// a cluster is asked for a service, and by what certificates both know each other.
//
// All of it goes through TLS that both sides verify, so that no client can write these fields: the calling agent takes
// away what a client wrote under the same names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edge::program {

/// Header of a request to another cluster's gateway: the service, as `exported_service_text` writes it.
inline constexpr std::string_view kClusterServiceField = "x-edge-cluster-service";
/// Header that counts from cluster to cluster, so that a circle of gateways ends.
inline constexpr std::string_view kClusterHopsField = "x-edge-cluster-hops";
/// A request that has come through so many clusters names no service to the next one, which answers 404.
inline constexpr unsigned kMostClusterHops = 4;

/// The secret with this cluster's certificate for other clusters (tls.crt, tls.key), whom it believes (ca.crt) and who
/// may call it (kClusterPeersKey). Made by the controller: no Kubernetes resource has a `:` in its name.
inline constexpr std::string_view kClusterSecretSpace = "edge-system";
inline constexpr std::string_view kClusterSecretName = "clusters:identity";
/// Lines `URI MILLISECONDS`: a cluster, and the time since 1970 before which its certificates do not count.
inline constexpr std::string_view kClusterPeersKey = "peers";
inline constexpr std::string_view kClusterAuthorityKey = "ca.crt";

/// The name of a hub among its clusters; no spoke has it.
inline constexpr std::string_view kHubCluster = "hub";

/// In place of a cluster's name: every cluster that exports the service.
inline constexpr std::string_view kAnyCluster = "*";

/// What the URI in a cluster's certificate begins with.
inline constexpr std::string_view kClusterUri = "edge://cluster/";
inline std::string cluster_uri(std::string_view cluster) { return std::string(kClusterUri) + std::string(cluster); }

/// Returns the URIs of a value of kClusterPeersKey.
inline std::vector<std::string> peer_uris(std::string_view peers) {
  std::vector<std::string> uris;
  while (!peers.empty()) {
    const std::string_view line = peers.substr(0, peers.find('\n'));
    peers.remove_prefix(std::min(peers.size(), line.size() + 1));
    if (!line.empty()) uris.emplace_back(line.substr(0, line.find(' ')));
  }
  return uris;
}

/// A port of a Service, or a ProxyBackend where `port` is empty, of another cluster.
inline std::string exported_service_text(std::string_view name_space, std::string_view name, std::string_view port) {
  std::string text(port.empty() ? "backend/" : "service/");
  text.append(name_space).append("/").append(name);
  if (!port.empty()) text.append(":").append(port);
  return text;
}

/// Fewest percent of a priority's endpoints, by weight, that take all of its requests, where nothing else is said.
inline constexpr std::uint16_t kUsualHealthyPercent = 70;
/// Of `clusterRefs`; 0 is the backend's own endpoints.
inline constexpr std::uint32_t kMostClusterPriority = 15;
inline constexpr std::size_t kMostClusterRefs = 16;

}  // namespace edge::program
