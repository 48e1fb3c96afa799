// The parts of linking, in the order in which link.cc calls them. Each resolves one kind of resource.
//
// Linking one route, backend or policy is a function of that resource and of what it refers to: of the tables given,
// and of nothing that other resources of its kind did. Lookups are recorded in Findings, so that whoever keeps the
// tables can link anew the one resource that changed, and those that had looked for it.
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
/// What was found about a resource, with its name; nullopt when it is plainly fine.
std::optional<ResourceStatus> status_of(const model::Metadata& metadata, Findings& findings);

// ---- Gateways -------------------------------------------------------------------------------------------------------

/// What became of one listener of a ProxyGateway.
struct ListenerState {
  /// Index into LinkedConfig::listeners; nullopt: left out.
  std::optional<std::uint32_t> linked;
  /// Why it is left out (conditions.h); empty when it is not.
  std::string_view reason{};
  /// Who holds what it asks for; empty where that is not why.
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
  /// For selectors; nullptr: nothing is known of the namespaces but their names.
  std::shared_ptr<const NamespaceLabels> namespaces{};
  /// As ResourceSet has them.
  const std::optional<std::vector<std::string>>& certificate_directories;
  /// Those of other controllers too: their addresses of pools stay theirs.
  const std::vector<model::Gateway>& api_gateways;
};

/// By position of the gateway, then of the listener in spec.listeners.
using ListenerStates = std::vector<std::vector<ListenerState>>;

/// Fills config.gateways (one for each of `gateways`, same order), config.listeners and the gateways' statuses. Over
/// all of them, as they contend for ports and names.
ListenerStates link_gateways(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets,
                             Diagnostics& diagnostics, LinkedConfig& config);

/// The gateway's settings with their defaults; nothing where a feature is off.
void link_gateway_settings(const model::ProxyGateway& gateway, LinkedGateway& linked);
/// One whose access log has a format that cannot be read writes it as `json`: no request goes unlogged for a slip.
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
/// TLS towards the endpoints of a backend that has `tls`; nullopt where a secret that it needs cannot be used.
std::optional<BackendTlsSettings> link_backend_tls(const model::ProxyBackend& backend, const SecretTable& secrets,
                                                   Findings& findings);
/// All but what is looked up.
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

/// nullopt: a fault in it leaves it out whole.
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
};

struct PolicyLink {
  LinkedPolicy policy;
  /// What it holds for: one of the two; both only where the kind of the target cannot be told.
  std::optional<std::uint32_t> gateway;  ///< index into LinkedConfig::gateways
  std::optional<std::uint32_t> route;    ///< index into LinkedConfig::routes
  std::optional<std::uint32_t> rule{};   ///< of the route: for this one alone
};

/// nullopt: its target is not there.
std::optional<PolicyLink> link_policy(const model::ProxyPolicy& policy, const PolicyTargets& targets,
                                      Findings& findings);

/// Settings with their defaults; looks up no name.
PolicySettings policy_settings(const model::ProxyPolicy& policy);

/// Gives each target its policies: of two of a type on one target the older holds, the other is reported and left out.
/// `policies` and `linked` go together. Fills config.policies and the lists of gateways and routes, then
/// LinkedRoute::denied.
void assign_policies(const std::vector<model::ProxyPolicy>& policies, std::vector<std::optional<PolicyLink>> linked,
                     LinkedConfig& config, Diagnostics& diagnostics);

/// Statuses of the BackendTLSPolicies: of two for one port of a Service the older holds, and authorities must be there.
void backend_tls_statuses(const model::ResourceSet& resources, std::vector<ResourceStatus>& statuses);

/// A route behind OIDC serves the paths of the login, too, whatever its rules match (specification, "Data-plane
/// listeners"): one more rule, for the path of `redirectURL` and for the logout.
void add_login_rules(LinkedConfig& config);

}  // namespace edge::compiler::link
