#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

std::string_view type_text(model::PolicyType type) {
  switch (type) {
    case model::PolicyType::kBasicAuth:
      return "BasicAuth";
    case model::PolicyType::kForwardAuth:
      return "ForwardAuth";
    case model::PolicyType::kOidc:
      return "OIDC";
    case model::PolicyType::kJwt:
      return "JWT";
    case model::PolicyType::kRateLimit:
      return "RateLimit";
    case model::PolicyType::kCors:
      return "CORS";
    case model::PolicyType::kSecurityHeaders:
      return "SecurityHeaders";
    case model::PolicyType::kUnknown:
      break;
  }
  return "?";
}

/// Whether leaving the policy out would serve what it keeps back.
bool protects(model::PolicyType type) {
  return type != model::PolicyType::kCors && type != model::PolicyType::kSecurityHeaders;
}

struct Target {
  model::PolicyTarget kind;
  std::uint32_t index;
};

std::optional<Target> resolve(const model::ProxyPolicy& policy, const Resolver& gateways, const Resolver& routes) {
  const bool gateway = policy.target_kind == model::PolicyTarget::kGateway;
  const auto field = [] { return std::string("spec.targetRef.name"); };
  const auto found = (gateway ? gateways : routes).resolve(policy.metadata, policy.target, field);
  if (!found) return std::nullopt;
  return Target{policy.target_kind, *found};
}

void deny(Target target, LinkedConfig& config) {
  if (target.kind == model::PolicyTarget::kRoute) {
    config.routes[target.index].denied = true;
    return;
  }
  for (LinkedRoute& route : config.routes) {
    route.denied |= std::any_of(route.listeners.begin(), route.listeners.end(), [&](std::uint32_t listener) {
      return config.listeners[listener].gateway == target.index;
    });
  }
}

}  // namespace

void link_policies(const std::vector<model::ProxyPolicy>& policies, const Resolver& gateways, const Resolver& routes,
                   LinkedConfig& config, Diagnostics& diagnostics) {
  // Of two of a type on one target the older holds.
  std::vector<const model::ProxyPolicy*> by_age;
  for (const model::ProxyPolicy& policy : policies) by_age.push_back(&policy);
  std::sort(by_age.begin(), by_age.end(), [](const model::ProxyPolicy* a, const model::ProxyPolicy* b) {
    return holds_before(a->metadata, b->metadata);
  });
  std::unordered_map<std::string, const model::ProxyPolicy*> holders;
  std::vector<bool> gateway_denied(config.gateways.size(), false);
  for (const model::ProxyPolicy* policy : by_age) {
    const auto target = resolve(*policy, gateways, routes);
    if (!target) continue;
    const bool gateway = target->kind == model::PolicyTarget::kGateway;
    const std::string key =
        std::string(type_text(policy->type.value)) + (gateway ? "|g|" : "|r|") + std::to_string(target->index);
    const auto [holder, first] = holders.emplace(key, policy);
    if (!first) {
      diagnostics.add({.code = DiagnosticCode::kConflict,
                       .resource = policy->metadata.text(),
                       .field = "spec.targetRef",
                       .span = policy->target.name.span,
                       .message = "the target already has a policy of type " +
                                  std::string(type_text(policy->type.value)) + "; this one is left out",
                       .labels = {{holder->second->target.name.span, "the one that holds"}},
                       .notes = {"of two claims the older policy's holds"}});
      continue;
    }
    const std::string type(type_text(policy->type.value));
    if (!protects(policy->type.value)) {
      not_served(policy->metadata, policy->type.span, "spec.type",
                 "policies of type " + type + " are not applied by this version", diagnostics);
      continue;
    }
    not_served(
        policy->metadata, policy->type.span, "spec.type",
        "policies of type " + type + " are not enforced by this version; requests to what it protects are answered 503",
        diagnostics);
    // One pass over the routes a gateway is enough, however many policies it has.
    if (gateway && gateway_denied[target->index]) continue;
    if (gateway) gateway_denied[target->index] = true;
    deny(*target, config);
  }
}

}  // namespace edge::compiler::link
