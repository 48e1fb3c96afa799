#include "compiler/link/link.h"

#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// Routes by name; only those that were linked, as a policy on a route that is left out has nothing to protect.
NameIndex index_of_routes(const LinkedConfig& config) {
  NameIndex index;
  index.reserve(config.routes.size());
  for (std::uint32_t i = 0; i < config.routes.size(); ++i) {
    index.add(config.routes[i].identity.name_space, config.routes[i].identity.name, i);
  }
  return index;
}

}  // namespace

Identity identity_of(const model::Metadata& metadata) {
  return {.kind = metadata.kind,
          .name_space = metadata.name_space,
          .name = metadata.name,
          .created = metadata.created,
          .span = metadata.span};
}

LinkedConfig link(model::ResourceSet resources, Diagnostics& diagnostics) {
  sort_and_drop_doubles(resources.vips, diagnostics);
  sort_and_drop_doubles(resources.gateways, diagnostics);
  sort_and_drop_doubles(resources.routes, diagnostics);
  sort_and_drop_doubles(resources.backends, diagnostics);
  sort_and_drop_doubles(resources.policies, diagnostics);
  sort_and_drop_doubles(resources.services, diagnostics);

  const Grants grants(resources.grants);
  Refused refused;
  for (const model::Metadata& metadata : resources.refused) refused.emplace(metadata.text(), metadata.span);
  const Scope scope{grants, refused, diagnostics};

  LinkedConfig config;
  link_gateways(resources.gateways, resources.vips, scope, config);
  const auto backend_index = link_backends(resources.backends, resources, scope, config);

  const NameIndex gateway_names = index_of(resources.gateways);
  const NameIndex backend_names = index_of(resources.backends);
  const Resolver gateways("ProxyGateway", gateway_names, scope);
  const Resolver backends("ProxyBackend", backend_names, scope);
  // A route that linking leaves out is refused too, as far as policies are concerned.
  std::vector<model::Metadata> routes_before;
  if (!resources.policies.empty()) {
    for (const model::ProxyRoute& route : resources.routes) routes_before.push_back(route.metadata);
  }
  link_routes(resources.routes, {gateways, backends, backend_index}, config, diagnostics);

  const NameIndex route_names = index_of_routes(config);
  for (const model::Metadata& metadata : routes_before) {
    if (!route_names.find(metadata.name_space, metadata.name)) refused.emplace(metadata.text(), metadata.span);
  }
  const Resolver routes("ProxyRoute", route_names, scope);
  link_policies(resources.policies, gateways, routes, config, diagnostics);
  return config;
}

}  // namespace edge::compiler::link
