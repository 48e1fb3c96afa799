// LinkedConfig: references resolved, defaults filled in, alternative forms of fields merged. Later stages see one form,
// whether it was written as ProxyRoute, HTTPRoute or Ingress.
//
// Vectors are sorted by identity, so that the order of files has no effect. Indices refer to the vectors here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/path.h"
#include "base/source.h"
#include "compiler/link/conditions.h"
#include "compiler/link/identity.h"
#include "compiler/link/linked_backend.h"
#include "compiler/link/linked_route.h"
#include "compiler/link/linked_settings.h"
#include "compiler/link/policies/linked_policy.h"
#include "compiler/link/wan/linked_wan.h"
#include "program/format/format.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::compiler {

/// A backend as one gateway calls it.
struct BackendVariant {
  std::uint32_t backend = 0;  ///< index into LinkedConfig::backends, as routes have it
  std::uint32_t variant = 0;  ///< likewise: the same with the gateway's certificate
};

struct LinkedGateway {
  Identity identity;
  /// Of a gateway with a certificate for backends: those that are called over TLS. Ascending by `backend`.
  std::vector<BackendVariant> variants{};
  /// Shown to backends. An empty name: what was asked for cannot be used, and these backends are not called.
  std::optional<CertificateName> client_certificate{};
  /// Of agents that serve it, ascending. Empty: all agents do.
  std::vector<std::string> agent_groups{};
  /// Empty: every address of the node.
  std::vector<IpAddress> addresses;
  std::vector<Cidr> trusted_proxies;
  /// Where other clusters reach a gateway that is for them alone; empty: it is for clients.
  std::vector<std::string> advertised{};
  bool for_clusters = false;
  /// Indices into LinkedConfig::policies, at most one per type, ascending by type.
  std::vector<std::uint32_t> policies{};
  std::optional<CompressionSettings> compression{};
  std::optional<CacheSettings> cache{};
  std::optional<TracingSettings> tracing{};
  std::optional<AccessLogSettings> access_log{};
  /// Absent: the defaults.
  std::optional<ClientLimits> limits{};
  PathRules paths{};
  bool canary_by_header = true;  ///< `X-Canary: true` selects the canary backend (rule D3)
  bool hides_reasons = false;    ///< the proxy's own answers have no X-Edge-Reason
};

struct LinkedListener {
  std::uint32_t gateway = 0;
  std::string name;  ///< of a ListenerSet's `namespace/set/listener`
  std::string set_space{};
  std::string set_name{};  ///< of the ListenerSet that it stands in; empty: it is the gateway's own
  std::uint16_t port = 0;
  program::Protocol protocol = program::Protocol::kHttp;
  /// Empty: every host.
  std::vector<Located<HostPattern>> hostnames;
  std::uint64_t max_request_body = 0;  ///< bytes; 0 unlimited
  /// Connections begin with a PROXY header.
  bool proxy_protocol = false;
  /// Its own policies (indices into LinkedConfig::policies), ascending by type, which replace the gateway's.
  std::vector<std::uint32_t> policies{};
  /// For plain HTTP listeners; absent: off.
  std::optional<SchemeRedirectSettings> redirect_scheme{};
  /// For HTTPS and TLS listeners.
  std::optional<ListenerTls> tls{};
  /// Headers that routes match as claims of tokens that the listener's policy verifies (`beforeRouting`), by header.
  std::vector<ClaimHeader> claimed_headers{};
  Span span;
  /// A listener of an older gateway, for other groups of agents, has the same port and name: no program contains both.
  bool overlaps = false;
};

struct LinkedConfig {
  std::vector<LinkedGateway> gateways;
  std::vector<LinkedListener> listeners;
  std::vector<LinkedRoute> routes;
  std::vector<LinkedBackend> backends;
  /// The policies in use; of two of one type on one target the one that applies.
  std::vector<LinkedPolicy> policies{};
  /// Not part of a program: what agents of sites are given.
  LinkedWan wan{};
  /// Not part of the program: set by add_values() (link/values.h).
  program::EndpointSet endpoints{};
  program::SecretSet secrets{};  ///< those referred to above, with their values
  /// Of resources with errors, and of every gateway; see find_status().
  std::vector<ResourceStatus> statuses{};
};

/// Each costs a program; a gateway with one more group is not served.
inline constexpr std::size_t kMostAgentGroups = 16;

/// Returns the groups in gateways, ascending; empty: every gateway is for all agents.
std::vector<std::string> agent_groups(const LinkedConfig& config);

/// Returns the gateways that are for all agents or for this group, with their listeners and routes. For a group that no
/// gateway names these are the ones for all.
LinkedConfig config_of_group(const LinkedConfig& config, std::string_view group);

/// Fills in how many routes each listener of `statuses` has, which are sorted (conditions.h, sort_and_merge).
void count_attached_routes(const LinkedConfig& config, std::vector<ResourceStatus>& statuses);

/// The name of the field by which a condition on `header` is matched on a listener: a claim's (program/claim_field.h)
/// where the header is claimed, else the header's.
std::string matched_field(const LinkedListener& listener, const std::string& header);

/// The backend that a gateway calls where a route names `backend`.
std::uint32_t variant_for(const LinkedGateway& gateway, std::uint32_t backend);

/// Whether gateways of different groups have a port and name in common, so that one program cannot hold them all.
bool has_overlaps(const LinkedConfig& config);
/// Returns all gateways that one program can contain: without overlapping listeners.
LinkedConfig config_without_overlaps(const LinkedConfig& config);

}  // namespace edge::compiler
