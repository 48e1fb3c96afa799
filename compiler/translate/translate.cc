#include "compiler/translate/translate.h"

#include <iterator>
#include <utility>

#include "base/resource_id.h"
#include "compiler/translate/gateway_api.h"
#include "compiler/translate/ingress.h"

namespace edge::compiler::translate {

void KeptTranslation::let_go(const std::function<bool(const std::string&)>& users) {
  for (auto made = backends.begin(); made != backends.end();) {
    std::erase_if(made->second.users, users);
    made = made->second.users.empty() ? backends.erase(made) : std::next(made);
  }
}

namespace {

NamedPolicies named_policies(const std::vector<model::ProxyPolicy>& policies) {
  NamedPolicies named;
  for (const model::ProxyPolicy& policy : policies) {
    if (policy.target_kind != model::PolicyTarget::kNone) continue;
    named.emplace(resource_path(policy.metadata.name_space, policy.metadata.name), &policy);
  }
  return named;
}

/// A policy on an Ingress is one on each of the routes that were made of it.
void add_policies_on_ingresses(const std::vector<model::ProxyPolicy>& policies, model::ResourceSet& made) {
  constexpr std::string_view kIngress = "Ingress";
  for (const model::ProxyPolicy& policy : policies) {
    if (policy.target_resource != kIngress) continue;
    const std::string& space = policy.target.name_space.empty() ? policy.metadata.name_space : policy.target.name_space;
    const std::string routes = policy.target.name.value + ":";
    for (const model::ProxyRoute& route : made.routes) {
      const model::Metadata& metadata = route.metadata;
      if (metadata.kind != kIngress || metadata.name_space != space || !metadata.name.starts_with(routes)) continue;
      model::ProxyPolicy& on_route = made.policies.emplace_back(policy);
      on_route.metadata.name += "@" + metadata.name.substr(routes.size());
      on_route.target.name.value = metadata.name;
    }
  }
}

}  // namespace

model::ResourceSet translate(const model::ResourceSet& resources, std::string_view controller, Diagnostics& diagnostics,
                             KeptTranslation* kept) {
  model::ResourceSet made;
  // Most configurations hold own kinds alone, and need no index of the Services.
  const bool kept_of_others = kept != nullptr && kept->others;
  if (resources.api_gateways.empty() && resources.api_routes.empty() && resources.ingresses.empty() &&
      !kept_of_others) {
    return made;
  }
  KeptTranslation nothing;
  ServiceBackends backends(resources, (kept != nullptr ? *kept : nothing).backends, diagnostics);
  const OthersGateways others = translate_gateways(resources, controller, made, diagnostics);
  const ListenerSetParents sets = listener_set_parents(resources);
  const NamedPolicies policies = named_policies(resources.policies);
  for (const model::ApiRoute& route : resources.api_routes) {
    translate_route(route, others, sets, policies, backends, made, diagnostics);
  }
  const auto& wanted = kept != nullptr ? kept->ingresses : nothing.ingresses;
  translate_ingresses(resources, controller, wanted ? &*wanted : nullptr, backends, made, diagnostics);
  add_policies_on_ingresses(resources.policies, made);
  made.backends = backends.all();
  return made;
}

void append(model::ResourceSet made, model::ResourceSet& resources) {
  const auto add = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  add(made.gateways, resources.gateways);
  add(made.routes, resources.routes);
  add(made.backends, resources.backends);
  add(made.policies, resources.policies);
  add(made.grants, resources.grants);
}

}  // namespace edge::compiler::translate
