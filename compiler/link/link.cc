#include "compiler/link/link.h"

#include <algorithm>
#include <utility>

#include "compiler/link/backends/values.h"
#include "compiler/link/defaults.h"
#include "compiler/link/link_clusters.h"
#include "compiler/link/policies/claim_conditions.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// Keeps what was found about one resource.
void keep_status(const model::Metadata& metadata, Findings& findings, LinkedConfig& config) {
  if (auto status = status_of(metadata, findings)) config.statuses.push_back(*std::move(status));
}

/// Gives each of `backends` its index in config.backends; nullopt where its service does not resolve.
std::vector<std::optional<std::uint32_t>> link_backends(const std::vector<model::ProxyBackend>& backends,
                                                        const BackendTargets& targets, Diagnostics& diagnostics,
                                                        LinkedConfig& config) {
  std::vector<std::optional<std::uint32_t>> index(backends.size());
  for (std::size_t i = 0; i < backends.size(); ++i) {
    Findings findings{diagnostics};
    auto linked = link_backend(backends[i], targets, findings);
    keep_status(backends[i].metadata, findings, config);
    if (!linked) continue;
    index[i] = static_cast<std::uint32_t>(config.backends.size());
    config.backends.push_back(*std::move(linked));
  }
  return index;
}

/// Gives each gateway that has a certificate for backends its own of those that are called over TLS: what is shown
/// belongs to the connections, and so do their health and their pools.
void add_variants(LinkedConfig& config) {
  const auto backends = static_cast<std::uint32_t>(config.backends.size());
  for (LinkedGateway& gateway : config.gateways) {
    if (!gateway.client_certificate) continue;
    for (std::uint32_t i = 0; i < backends; ++i) {
      if (!config.backends[i].tls || config.backends[i].tls->client_certificate) continue;
      LinkedBackend variant = config.backends[i];
      variant.identity.name +=
          ":shown-certificate-of:" + resource_path(gateway.identity.name_space, gateway.identity.name);
      if (gateway.client_certificate->name.empty()) {
        variant.tls->refused = true;
      } else {
        variant.tls->client_certificate = gateway.client_certificate;
      }
      gateway.variants.push_back({i, static_cast<std::uint32_t>(config.backends.size())});
      config.backends.push_back(std::move(variant));
    }
  }
}

/// Those that a fault leaves out are added to `refused`: policies on them have nothing to protect.
/// \returns the routes of config.routes as written.
std::vector<const model::ProxyRoute*> link_routes(const std::vector<model::ProxyRoute>& routes,
                                                  const RouteTargets& targets, Diagnostics& diagnostics,
                                                  Refused& refused, LinkedConfig& config) {
  std::vector<const model::ProxyRoute*> written;
  config.routes.reserve(routes.size());
  for (const model::ProxyRoute& route : routes) {
    Findings findings{diagnostics};
    auto linked = link_route(route, targets, findings);
    keep_status(route.metadata, findings, config);
    if (linked) {
      config.routes.push_back(*std::move(linked));
      written.push_back(&route);
    } else {
      refused.emplace(route.metadata.text(), route.metadata.span);
    }
  }
  return written;
}

void link_policies(const std::vector<model::ProxyPolicy>& policies, const PolicyTargets& targets,
                   Diagnostics& diagnostics, LinkedConfig& config) {
  std::vector<std::optional<PolicyLink>> linked;
  for (const model::ProxyPolicy& policy : policies) {
    Findings findings{diagnostics};
    linked.push_back(link_policy(policy, targets, findings));
    keep_status(policy.metadata, findings, config);
  }
  assign_policies(policies, std::move(linked), config, diagnostics);
  warn_of_unanswered(config, diagnostics);
}

NameIndex index_of_routes(const LinkedConfig& config) {
  NameIndex index;
  for (std::uint32_t i = 0; i < config.routes.size(); ++i) {
    const Identity& identity = config.routes[i].identity;
    index.add(identity.kind, identity.name_space, identity.name, i);
  }
  return index;
}

void drop_doubles(model::ResourceSet& resources, Diagnostics& diagnostics) {
  sort_and_drop_doubles(resources.vips, diagnostics);
  sort_and_drop_doubles(resources.gateways, diagnostics);
  sort_and_drop_doubles(resources.routes, diagnostics);
  sort_and_drop_doubles(resources.backends, diagnostics);
  sort_and_drop_doubles(resources.policies, diagnostics);
  sort_and_drop_doubles(resources.edge_clusters, diagnostics);
  sort_and_drop_doubles(resources.remote_clusters, diagnostics);
  sort_and_drop_doubles(resources.certificate_issuers, diagnostics);
  sort_and_drop_doubles(resources.sites, diagnostics);
  sort_and_drop_doubles(resources.wan_links, diagnostics);
  sort_and_drop_doubles(resources.wan_policies, diagnostics);
  sort_and_drop_doubles(resources.services, diagnostics);
  sort_and_drop_doubles(resources.secrets, diagnostics);
  sort_and_drop_doubles(resources.config_maps, diagnostics);
}

void refused_statuses(const std::vector<model::Metadata>& refused, Diagnostics& diagnostics, LinkedConfig& config) {
  for (const model::Metadata& metadata : refused) {
    Findings findings{diagnostics};
    fail(findings.status.conditions, condition::kAccepted, reason::kInvalid, "fields of the resource are at fault");
    keep_status(metadata, findings, config);
  }
}

}  // namespace

Identity identity_of(const model::Metadata& metadata) {
  return {.kind = metadata.kind,
          .name_space = metadata.name_space,
          .name = metadata.name,
          .created = metadata.created,
          .span = metadata.span};
}

void warn(const model::Metadata& resource, Diagnostic found, Diagnostics& diagnostics) {
  found.severity = Severity::kWarning;
  found.resource = resource.text();
  diagnostics.add(std::move(found));
}

std::optional<ResourceStatus> status_of(const model::Metadata& metadata, Findings& findings) {
  ResourceStatus& found = findings.status;
  if (found.conditions.empty() && found.parents.empty() && found.listeners.empty() && found.addresses.empty()) {
    return std::nullopt;
  }
  found.kind = metadata.kind;
  found.name_space = metadata.name_space;
  found.name = metadata.name;
  found.observed_generation = metadata.generation;
  return std::move(found);
}

Diagnostic named_as_written(Diagnostic diagnostic) {
  if (diagnostic.resource.starts_with("ProxyPolicy ")) diagnostic.resource = model::origin_text(diagnostic.resource);
  return diagnostic;
}

void name_as_written(std::vector<ResourceStatus>& statuses) {
  for (ResourceStatus& status : statuses) {
    if (status.kind == "ProxyPolicy") status.name = model::origin_text(status.name);
  }
  sort_and_merge(statuses);
}

LinkedConfig link(model::ResourceSet resources, Diagnostics& diagnostics) {
  Diagnostics said;
  LinkedConfig config = link_names(resources, said);
  for (const Diagnostic& diagnostic : said.all()) diagnostics.add(named_as_written(diagnostic));
  name_as_written(config.statuses);
  add_values(resources, config, diagnostics);
  return config;
}

LinkedConfig link_names(model::ResourceSet& resources, Diagnostics& diagnostics) {
  drop_doubles(resources, diagnostics);

  const Grants grants(resources.grants);
  Refused refused;
  for (const model::Metadata& metadata : resources.refused) refused.emplace(metadata.text(), metadata.span);
  const Scope scope{grants, refused};
  const NameIndex vip_names = index_of(resources.vips);
  const NameIndex gateway_names = index_of(resources.gateways);
  const NameIndex backend_names = index_of(resources.backends);
  const NameIndex service_names = index_of(resources.services);
  const NameIndex secret_names = index_of(resources.secrets);
  const Resolver vips(vip_names, scope);
  const Resolver gateways(gateway_names, scope);
  const Resolver backends(backend_names, scope);
  const Resolver services(service_names, scope);
  const Resolver secret_resolver(secret_names, scope);
  const NameIndex map_names = index_of(resources.config_maps);
  const Resolver map_resolver(map_names, scope);
  const NameIndex issuer_index = index_of(resources.certificate_issuers);
  const Resolver issuers(issuer_index, scope);
  const SecretTable secrets{resources.secrets, secret_resolver, &resources.config_maps, &map_resolver};

  const auto namespaces = std::make_shared<const NamespaceLabels>(resources.namespaces);
  LinkedConfig config;
  const ListenerStates listeners =
      link_gateways(resources.gateways,
                    {resources.vips, vip_names, vips, secrets, namespaces, resources.certificate_directories,
                     resources.certificate_issuers, issuers, resources.api_gateways},
                    diagnostics, config);
  const auto backend_index =
      link_backends(resources.backends, {resources.services, services, secrets}, diagnostics, config);
  add_variants(config);
  const auto written = link_routes(resources.routes, {gateways, backends, backend_index, listeners, config},
                                   diagnostics, refused, config);

  const NameIndex route_names = resources.policies.empty() ? NameIndex() : index_of_routes(config);
  const Resolver routes(route_names, scope);
  link_policies(resources.policies, {gateways, routes, secrets, backends, backend_index, config, written}, diagnostics,
                config);
  set_claimed_headers(config);
  detach_unverified_claims(written, config, diagnostics);
  add_login_rules(config);
  check_clusters(resources, {gateways, secrets, scope}, diagnostics, config);
  refused_statuses(resources.refused, diagnostics, config);
  class_statuses(resources.gateway_classes, kDefaults.controller_class, resources.gateways, config.statuses);
  backend_tls_statuses(resources, config.statuses);
  sort_and_merge(config.statuses);
  count_attached_routes(config, config.statuses);
  return config;
}

}  // namespace edge::compiler::link
