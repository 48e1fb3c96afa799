// The parts of linking, in the order in which link.cc calls them. Each links one kind of resource.
//
// Linking one route, backend or policy depends only on that resource and what it refers to (the given tables), not on
// other resources of its kind. Lookups are recorded in Findings, so that the owner of the tables can relink only a
// changed resource, and those that had looked it up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/gateways/attach.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/names.h"
#include "compiler/link/resolve.h"
#include "compiler/link/secrets.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

Identity identity_of(const model::Metadata& metadata);
/// Adds `found`, as a warning about the resource.
void warn(const model::Metadata& resource, Diagnostic found, Diagnostics& diagnostics);
/// Returns the findings about a resource, with its name; nullopt when it is valid.
std::optional<ResourceStatus> status_of(const model::Metadata& metadata, Findings& findings);

// ---- Gateways -------------------------------------------------------------------------------------------------------

/// The result for one listener of a ProxyGateway.
struct ListenerState {
  /// Index into LinkedConfig::listeners; nullopt: excluded.
  std::optional<std::uint32_t> linked;
  /// Why it is excluded (conditions.h); empty when it is not.
  std::string_view reason{};
  /// The owner of the port or name in conflict; empty for other reasons.
  std::string message{};
  Admission admission{};
  /// `namespace/name` of the ListenerSet that it stands in; empty: it is the gateway's own.
  std::string set{};
  std::string name{};  ///< as it was written
};

/// What gateways refer to.
struct GatewayTargets {
  const std::vector<model::ProxyVip>& vips;
  const NameIndex& vip_names;
  const Resolver& vip_resolver;
  const SecretTable& secrets;
  /// For selectors; nullptr: only the names of namespaces are known.
  std::shared_ptr<const NamespaceLabels> namespaces{};
  /// As in ResourceSet.
  const std::optional<std::vector<std::string>>& certificate_directories;
  const std::vector<model::CertificateIssuer>& issuers;
  const Resolver& issuer_names;
  /// Those of other controllers too: their addresses of pools stay theirs.
  const std::vector<model::Gateway>& api_gateways;
};

/// By position of the gateway, then of the listener in spec.listeners.
using ListenerStates = std::vector<std::vector<ListenerState>>;

/// Sets config.gateways (one for each of `gateways`, same order), config.listeners and the gateways' statuses. For all
/// of them together, because they compete for ports and names.
ListenerStates link_gateways(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets,
                             Diagnostics& diagnostics, LinkedConfig& config);

/// Returns the gateway's settings with defaults; features that are off are absent.
void link_gateway_settings(const model::ProxyGateway& gateway, LinkedGateway& linked);
/// Reports an invalid format of the access log, which is then written as `json`, so that no request goes unlogged.
void check_log_format(const model::ProxyGateway& gateway, Diagnostics& diagnostics);
std::optional<SchemeRedirectSettings> scheme_redirect_of(const model::ProxyGateway& gateway,
                                                         const model::Listener& listener);

// ---- Backends -------------------------------------------------------------------------------------------------------

/// What backends refer to.
struct BackendTargets {
  const std::vector<model::Service>& services;
  const Resolver& service_names;
  const SecretTable& secrets;
};

/// nullopt: its service does not resolve; routes answer 500 in its place.
std::optional<LinkedBackend> link_backend(const model::ProxyBackend& backend, const BackendTargets& targets,
                                          Findings& findings);
/// Links TLS of a backend that has `tls`; nullopt where a required secret is unusable.
std::optional<BackendTlsSettings> link_backend_tls(const model::ProxyBackend& backend, const SecretTable& secrets,
                                                   Findings& findings);
/// Returns everything but the resolved references.
LinkedBackend backend_settings(const model::ProxyBackend& backend);

// ---- Routes ---------------------------------------------------------------------------------------------------------

/// What routes refer to.
struct RouteTargets {
  const Resolver& gateways;
  const Resolver& backends;
  /// By position of the ProxyBackend: its index in LinkedConfig::backends; nullopt where its service does not resolve.
  const std::vector<std::optional<std::uint32_t>>& backend_index;
  /// By position of the ProxyGateway.
  const ListenerStates& listeners;
  const LinkedConfig& config;
};

/// nullopt: excluded because of an error.
std::optional<LinkedRoute> link_route(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings);

// ---- Policies -------------------------------------------------------------------------------------------------------

/// What policies refer to.
struct PolicyTargets {
  const Resolver& gateways;  ///< positions are those of LinkedConfig::gateways
  const Resolver& routes;    ///< positions are those of LinkedConfig::routes
  const SecretTable& secrets;
  const Resolver& backends;
  /// As RouteTargets::backend_index.
  const std::vector<std::optional<std::uint32_t>>& backend_index;
  /// With its gateways, listeners, routes and backends.
  const LinkedConfig& config;
  /// As written, in the order of LinkedConfig::routes: linked rules have no names.
  const std::vector<const model::ProxyRoute*>& written_routes;
};

struct PolicyLink {
  LinkedPolicy policy;
  /// Its target: one of the two; both only where the kind of the target is unknown.
  std::optional<std::uint32_t> gateway;     ///< index into LinkedConfig::gateways
  std::optional<std::uint32_t> route;       ///< index into LinkedConfig::routes
  std::optional<std::uint32_t> listener{};  ///< of the gateway (index into LinkedConfig::listeners): for it alone
  std::optional<std::uint32_t> rule{};      ///< of the route: for this one only
};

/// nullopt: its target does not exist.
std::optional<PolicyLink> link_policy(const model::ProxyPolicy& policy, const PolicyTargets& targets,
                                      Findings& findings);

/// Returns settings with defaults; resolves no names.
PolicySettings policy_settings(const model::ProxyPolicy& policy);

/// Assigns policies to targets: of two of one type on one target the older applies, the other is reported and excluded.
/// `policies` and `linked` correspond. Sets config.policies and the lists of gateways and routes, then
/// LinkedRoute::denied.
void assign_policies(const std::vector<model::ProxyPolicy>& policies, std::vector<std::optional<PolicyLink>> linked,
                     LinkedConfig& config, Diagnostics& diagnostics);

/// Warns of rules that have neither a backend nor an answer of the proxy's own: a redirect, or a FixedResponse policy
/// on every listener. Before rules for login paths are added.
void warn_of_unanswered(const LinkedConfig& config, Diagnostics& diagnostics);

/// Adds the statuses of BackendTLSPolicies: of two for one port of a Service the older applies, and their CAs must
/// exist.
void backend_tls_statuses(const model::ResourceSet& resources, std::vector<ResourceStatus>& statuses);

/// Adds a rule for the login paths of a route with OIDC, which it serves whatever its rules match (specification,
/// "Data-plane listeners"): the path of `redirectURL` and the logout.
void add_login_rules(LinkedConfig& config);

}  // namespace edge::compiler::link
