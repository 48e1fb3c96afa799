#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text/ascii.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/link/policies/policy_pages.h"
#include "compiler/link/stages.h"
#include "program/dump/route_tree.h"
#include "program/forward_auth.h"

namespace edge::compiler::link {
namespace {

PolicyType linked_type(model::PolicyType type) {
  switch (type) {
    case model::PolicyType::kIpAccess:
      return PolicyType::kIpAccess;
    case model::PolicyType::kRateLimit:
      return PolicyType::kRateLimit;
    case model::PolicyType::kConcurrencyLimit:
      return PolicyType::kConcurrencyLimit;
    case model::PolicyType::kBasicAuth:
      return PolicyType::kBasicAuth;
    case model::PolicyType::kApiKey:
      return PolicyType::kApiKey;
    case model::PolicyType::kRequestFilter:
      return PolicyType::kRequestFilter;
    case model::PolicyType::kClientCertificate:
      return PolicyType::kClientCertificate;
    case model::PolicyType::kJwt:
      return PolicyType::kJwt;
    case model::PolicyType::kOidc:
      return PolicyType::kOidc;
    case model::PolicyType::kForwardAuth:
      return PolicyType::kForwardAuth;
    case model::PolicyType::kCors:
      return PolicyType::kCors;
    case model::PolicyType::kSecurityHeaders:
      return PolicyType::kSecurityHeaders;
    case model::PolicyType::kMaintenance:
      return PolicyType::kMaintenance;
    case model::PolicyType::kFixedResponse:
      return PolicyType::kFixedResponse;
    case model::PolicyType::kErrorPages:
      return PolicyType::kErrorPages;
    case model::PolicyType::kUnknown:
      break;
  }
  return PolicyType::kUnknown;
}

std::string_view reason_of(SecretFault fault) {
  if (fault == SecretFault::kNotPermitted) return reason::kRefNotPermitted;
  return fault == SecretFault::kNotFound ? reason::kSecretNotFound : reason::kSecretNotUsable;
}

/// Checks one secret of a policy; a fault becomes its condition.
bool check(const model::ProxyPolicy& policy, const model::Reference& secret, const SecretNeed& need,
           const std::string& field, const SecretTable& secrets, Findings& findings) {
  const SecretFault fault = check_secret(policy.metadata, secret, {need}, field, secrets, findings);
  if (fault == SecretFault::kNone) return true;
  fail(findings.status.conditions, condition::kResolvedRefs, reason_of(fault),
       "the Secret `" + secret.name.value + "` cannot be used");
  return false;
}

/// Whether all lists that are ConfigMaps can be used. Agents know those of their files.
bool check_lists(const model::ProxyPolicy& policy, const std::vector<model::AddressList>& lists,
                 const std::string& field, const SecretTable& secrets, Findings& findings) {
  bool usable = true;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i].config_map) continue;
    const std::string at = field + "[" + std::to_string(i) + "].configMapRef";
    const SecretFault fault = check_config_map_networks(policy.metadata, *lists[i].config_map, at, secrets, findings);
    if (fault == SecretFault::kNone) continue;
    usable = false;
    fail(findings.status.conditions, condition::kResolvedRefs, reason_of(fault),
         "the ConfigMap `" + lists[i].config_map->name.value + "` cannot be used");
  }
  return usable;
}

bool check_secrets(const model::ProxyPolicy& policy, const SecretTable& secrets, Findings& findings) {
  if (const auto* basic = std::get_if<model::BasicAuth>(&policy.settings)) {
    return check(policy, basic->secret, {basic->key}, "spec.basicAuth.secretRef", secrets, findings);
  }
  if (const auto* access = std::get_if<model::IpAccess>(&policy.settings)) {
    const bool allowed = check_lists(policy, access->allow_lists, "spec.ipAccess.allowLists", secrets, findings);
    return check_lists(policy, access->deny_lists, "spec.ipAccess.denyLists", secrets, findings) && allowed;
  }
  if (const auto* jwt = std::get_if<model::Jwt>(&policy.settings)) {
    bool usable = true;
    for (const model::JwtIssuer& issuer : jwt->issuers) {
      if (issuer.jwks_secret) {
        usable &= check(policy, *issuer.jwks_secret, {kJwksKey}, issuer.field + ".jwksSecretRef", secrets, findings);
      }
      if (issuer.secret) {
        usable &= check(policy, *issuer.secret, {kHmacKey}, issuer.field + ".secretRef", secrets, findings);
      }
    }
    return usable;
  }
  if (const auto* key = std::get_if<model::ApiKey>(&policy.settings)) {
    bool usable = true;
    for (std::size_t i = 0; i < key->secrets.size(); ++i) {
      const std::string field = "spec.apiKey.secretRefs[" + std::to_string(i) + "]";
      usable &= check(policy, key->secrets[i], {kApiKeysKey}, field, secrets, findings);
    }
    return usable;
  }
  if (const auto* oidc = std::get_if<model::Oidc>(&policy.settings)) {
    const bool client =
        check(policy, oidc->client_secret, {"client-secret"}, "spec.oidc.clientSecretRef", secrets, findings);
    return check(policy, oidc->session_secret, kSessionSecretNeed, "spec.oidc.sessionSecretRef", secrets, findings) &&
           client;
  }
  return true;
}

/// Gives a ForwardAuth that asks a backend its address. \returns whether it can be asked.
bool find_service(const model::ProxyPolicy& policy, const PolicyTargets& targets, Findings& findings,
                  PolicySettings& settings) {
  const auto* written = std::get_if<model::ForwardAuth>(&policy.settings);
  if (written == nullptr || !written->backend) return true;
  const model::Reference& to = *written->backend;
  // Of a filter the route tells what is wrong (link_routes.cc).
  Diagnostics untold(0);
  Findings untold_findings{untold, findings.dependencies};
  Findings& reported = policy.target_rule && !policy.named_by_filter ? untold_findings : findings;
  const Resolved found = targets.backends.resolve(
      policy.metadata, written->backend_kind, to, [] { return std::string("spec.forwardAuth.backendRef.name"); },
      reported);
  if (!found || !targets.backend_index[found.position]) {
    fail(reported.status.conditions, condition::kResolvedRefs,
         found.fault == ReferenceFault::kNotPermitted ? reason::kRefNotPermitted : reason::kBackendNotFound,
         "the backend `" + to.name.value + "` cannot be used");
    return false;
  }
  const LinkedBackend& backend = targets.config.backends[*targets.backend_index[found.position]];
  if (backend.protocol == program::BackendProtocol::kUdp) {
    fail(reported.status.conditions, condition::kResolvedRefs, reason::kUnsupportedProtocol,
         "the backend `" + to.name.value + "` takes datagrams");
    reported.diagnostics.add({.code = DiagnosticCode::kBeyondBytes,
                              .resource = policy.metadata.text(),
                              .field = "spec.forwardAuth.backendRef.name",
                              .span = to.name.span,
                              .message = backend.identity.text() + " takes datagrams, and cannot be asked by HTTP",
                              .fix = "name a backend that speaks HTTP"});
    return false;
  }
  auto& forward = std::get<ForwardAuthSettings>(settings);
  const std::string& space = to.name_space.empty() ? policy.metadata.name_space : to.name_space;
  forward.address = program::backend_address(space, to.name.value, forward.address);
  return true;
}

/// Whether the rule answers every request 500 by itself.
bool refuses_all(const LinkedRule& rule) {
  const bool answers =
      std::ranges::any_of(rule.filters, [](const Filter& filter) { return filter.op == program::FilterOp::kRedirect; });
  return !answers &&
         std::ranges::none_of(rule.backends, [](const WeightedBackend& one) { return one.backend.has_value(); });
}

/// A target, and the type that contends for it. What a rule asks for by a filter contends with no policy, and policies
/// that its filters name not with each other: all of them apply.
std::string slot_of(const PolicyLink& link) {
  const std::string target = link.listener  ? "|l|" + std::to_string(*link.listener)
                             : link.gateway ? "|g|" + std::to_string(*link.gateway)
                                            : "|r|" + std::to_string(*link.route);
  const std::string filter = !link.policy.of_filter        ? ""
                             : link.policy.named_by_filter ? "|" + link.policy.identity.name
                                                           : "|filter";
  return std::string(type_text(link.policy.type)) + target + (link.rule ? "|" + std::to_string(*link.rule) : "") +
         filter;
}

/// The conditions of the policy on its target, as one of status.ancestors.
std::vector<Condition>& on_target(const model::ProxyPolicy& policy, Findings& findings) {
  std::vector<ParentStatus>& targets = findings.status.parents;
  if (targets.empty()) targets.push_back({.parent_ref = policy.target_number});
  return targets.front().conditions;
}

void report_second(const model::ProxyPolicy& policy, const model::ProxyPolicy& holder, PolicyType type,
                   LinkedConfig& config, Diagnostics& diagnostics) {
  Findings findings{diagnostics};
  fail(on_target(policy, findings), condition::kAccepted, reason::kConflicted,
       policy.target_field + ": " + holder.text() + " holds the target");
  config.statuses.push_back(*status_of(policy.metadata, findings));
  diagnostics.add(
      {.code = DiagnosticCode::kConflict,
       .resource = policy.metadata.text(),
       .field = policy.target_field,
       .span = policy.target.name.span,
       .message = "the target already has a policy of type " + std::string(type_text(type)) + "; this one is left out",
       .labels = {{holder.target.name.span, "the one that holds"}},
       .notes = {"of two claims the older policy's holds"}});
}

std::optional<std::uint32_t> find_target(const model::ProxyPolicy& policy, const Resolver& resolver,
                                         std::string_view kind, Findings& findings) {
  const auto field = [&] { return policy.target_field + ".name"; };
  const Resolved found = resolver.resolve(policy.metadata, kind, policy.target, field, findings);
  if (found) return found.position;
  fail(on_target(policy, findings), condition::kAccepted,
       found.fault == ReferenceFault::kNotPermitted ? reason::kRefNotPermitted : reason::kTargetNotFound,
       "the target `" + policy.target.name.value + "` cannot be used");
  return std::nullopt;
}

/// The target is there, and the part of it that is named is not.
void report_section(const model::ProxyPolicy& policy, std::string_view part, Findings& findings) {
  const bool of_ingress = policy.target_resource == "Ingress";
  std::string message =
      of_ingress ? "rules of an Ingress have no names"
                 : policy.target.name.value + " has no " + std::string(part) + " `" + policy.section->value + "`";
  fail(on_target(policy, findings), condition::kAccepted, reason::kTargetNotFound, message);
  // That an Ingress has no parts has been told (model/decode_policy_target.cc).
  if (of_ingress) return;
  findings.diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                            .resource = policy.metadata.text(),
                            .field = policy.target_field + ".sectionName",
                            .span = policy.section->span,
                            .message = std::move(message)});
}

/// Narrows the target to its `sectionName`. \returns false if there is none of that name.
bool find_section(const model::ProxyPolicy& policy, const PolicyTargets& targets, Findings& findings,
                  PolicyLink& link) {
  const std::string& name = policy.section->value;
  if (link.gateway) {
    const std::vector<LinkedListener>& listeners = targets.config.listeners;
    const auto found = std::ranges::find_if(listeners, [&](const LinkedListener& listener) {
      return listener.gateway == *link.gateway && listener.set_name.empty() && listener.name == name;
    });
    if (found == listeners.end()) {
      report_section(policy, "listener", findings);
      return false;
    }
    link.listener = static_cast<std::uint32_t>(found - listeners.begin());
    return true;
  }
  const std::vector<model::Rule>& rules = targets.written_routes[*link.route]->rules;
  const auto found =
      std::ranges::find_if(rules, [&](const model::Rule& rule) { return rule.name && rule.name->value == name; });
  if (found == rules.end()) {
    report_section(policy, "rule", findings);
    return false;
  }
  link.rule = static_cast<std::uint32_t>(found - rules.begin());
  return true;
}

/// A policy on an Ingress whose routes have copies of it (translate/translate.cc).
bool is_translated(const model::ProxyPolicy& policy, const PolicyTargets& targets) {
  if (policy.target_resource != "Ingress" || policy.target.name.value.find(':') != std::string::npos) return false;
  const std::string& space = policy.target.name_space.empty() ? policy.metadata.name_space : policy.target.name_space;
  return std::ranges::any_of(targets.written_routes, [&](const model::ProxyRoute* route) {
    return route->metadata.kind == "Ingress" && route->metadata.name_space == space &&
           route->metadata.name.starts_with(policy.target.name.value + ":");
  });
}

void find_targets(const model::ProxyPolicy& policy, const PolicyTargets& targets, Findings& findings,
                  PolicyLink& link) {
  constexpr std::string_view kGateway = "ProxyGateway";
  constexpr std::string_view kRoute = "ProxyRoute";
  const std::string& other = policy.target_resource;
  switch (policy.target_kind) {
    case model::PolicyTarget::kGateway:
      link.gateway = find_target(policy, targets.gateways, other.empty() ? kGateway : other, findings);
      return;
    case model::PolicyTarget::kRoute:
      link.route = find_target(policy, targets.routes, other.empty() ? kRoute : other, findings);
      return;
    case model::PolicyTarget::kNone:
      return;
    case model::PolicyTarget::kUnknown:
      break;
  }
  // The fault in the target was told already, and one of the two need not be there.
  Diagnostics untold(0);
  Findings untold_findings{untold, findings.dependencies};
  link.gateway = find_target(policy, targets.gateways, kGateway, untold_findings);
  link.route = find_target(policy, targets.routes, kRoute, untold_findings);
}

/// Who set a policy on a gateway may not know that a port of it cannot ask clients anything.
void report_denied_bytes(const LinkedRoute& route, const LinkedListener& listener, Diagnostics& diagnostics) {
  diagnostics.add({.code = DiagnosticCode::kBeyondBytes,
                   .severity = Severity::kWarning,
                   .resource = route.identity.text(),
                   .field = "spec",
                   .span = route.identity.span,
                   .message = "a policy protects the route, and a listener of protocol " +
                              std::string(program::protocol_name(listener.protocol)) +
                              " cannot ask for it: connections to the route are closed",
                   .labels = {{listener.span, "the listener"}},
                   .fix = "put the policy on the routes that speak HTTP rather than on the gateway"});
}

/// Whether one of the policies has to ask a request, not a connection.
bool asks_requests(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route) {
  return std::ranges::any_of(effective_policies(config, listener, route), [&](std::uint32_t policy) {
    const PolicyType type = config.policies[policy].type;
    return protects(type) && type != PolicyType::kIpAccess && type != PolicyType::kRateLimit &&
           type != PolicyType::kConcurrencyLimit;
  });
}

void set_denied(LinkedConfig& config, Diagnostics& diagnostics) {
  const auto has_some = [](const auto& target) { return !target.policies.empty(); };
  const bool on_gateways =
      std::ranges::any_of(config.gateways, has_some) || std::ranges::any_of(config.listeners, has_some);
  for (LinkedRoute& route : config.routes) {
    if (!on_gateways && route.policies.empty()) continue;
    for (const std::uint32_t listener : route.listeners) {
      if (!denied_on(config, listener, route)) continue;
      route.denied = true;
      if (is_raw(config.listeners[listener].protocol) && asks_requests(config, listener, route)) {
        report_denied_bytes(route, config.listeners[listener], diagnostics);
      }
    }
  }
}

}  // namespace

std::optional<PolicyLink> link_policy(const model::ProxyPolicy& policy, const PolicyTargets& targets,
                                      Findings& findings) {
  if (is_translated(policy, targets)) return std::nullopt;
  PolicyLink link;
  find_targets(policy, targets, findings, link);
  if (!link.gateway && !link.route) return std::nullopt;
  link.rule = policy.target_rule;
  // What is unclear applies to all that it may be meant for.
  const bool clear = link.gateway.has_value() != link.route.has_value();
  if (policy.section && clear && !find_section(policy, targets, findings, link)) return std::nullopt;
  bool whole = true;
  const auto filled = with_bodies(policy, targets.secrets, findings, whole);
  link.policy = {.identity = identity_of(policy.metadata),
                 .type = linked_type(policy.type.value),
                 .settings = policy_settings(filled ? *filled : policy),
                 .target_kind = link.gateway ? PolicyTargetKind::kGateway : PolicyTargetKind::kRoute,
                 .of_filter = policy.target_rule.has_value(),
                 .named_by_filter = policy.named_by_filter,
                 .span = policy.type.span};
  for (const std::string& header : policy.salvaged_headers) {
    link.policy.salvaged_headers.push_back(ascii_lower(header));
  }
  // It must replace no policy of something that it may not be meant for.
  if (policy.target_kind == model::PolicyTarget::kUnknown) link.policy.type = PolicyType::kUnknown;
  if (!whole) {
    // Without one of its bodies nothing of it is applied.
    link.policy.settings = std::monostate();
    return link;
  }
  if (std::holds_alternative<std::monostate>(link.policy.settings)) {
    fail(findings.status.conditions, condition::kAccepted, reason::kInvalid, "the policy's settings are at fault");
    return link;
  }
  whole = check_secrets(policy, targets.secrets, findings);
  if (!find_service(policy, targets, findings, link.policy.settings)) {
    whole = false;
    // Whoever asks it for the rule finds no settings, and refuses.
    if (link.policy.of_filter && !link.policy.named_by_filter) link.policy.settings = std::monostate();
  }
  link.policy.enforced = whole && link.policy.type != PolicyType::kUnknown;
  return link;
}

void assign_policies(const std::vector<model::ProxyPolicy>& policies, std::vector<std::optional<PolicyLink>> linked,
                     LinkedConfig& config, Diagnostics& diagnostics) {
  std::vector<std::uint32_t> by_age;
  for (std::uint32_t i = 0; i < policies.size(); ++i) {
    if (linked[i]) by_age.push_back(i);
  }
  std::sort(by_age.begin(), by_age.end(),
            [&](std::uint32_t a, std::uint32_t b) { return holds_before(policies[a].metadata, policies[b].metadata); });
  std::unordered_map<std::string, std::uint32_t> holders;
  for (const std::uint32_t index : by_age) {
    const PolicyType type = linked[index]->policy.type;
    // One of unknown type contends for none: whatever it is, it denies.
    if (type == PolicyType::kUnknown) continue;
    const auto [holder, first] = holders.emplace(slot_of(*linked[index]), index);
    if (first) continue;
    report_second(policies[index], policies[holder->second], type, config, diagnostics);
    linked[index].reset();
  }
  for (std::optional<PolicyLink>& link : linked) {
    if (!link) continue;
    // Whom a filter would ask cannot be asked, and the rule takes no request.
    const bool none = link->policy.of_filter && !link->policy.named_by_filter && link->route &&
                      !link->policy.enforced && protects(link->policy.type) &&
                      refuses_all(config.routes[*link->route].rules[*link->rule]);
    if (none) continue;
    const auto index = static_cast<std::uint32_t>(config.policies.size());
    if (link->listener) {
      config.listeners[*link->listener].policies.push_back(index);
    } else if (link->gateway) {
      config.gateways[*link->gateway].policies.push_back(index);
    }
    if (link->route) {
      LinkedRoute& route = config.routes[*link->route];
      (link->rule ? route.rules[*link->rule].policies : route.policies).push_back(index);
    }
    config.policies.push_back(std::move(link->policy));
  }
  const auto by_type = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(config.policies[a].type, a) < std::pair(config.policies[b].type, b);
  };
  for (LinkedGateway& gateway : config.gateways) {
    std::sort(gateway.policies.begin(), gateway.policies.end(), by_type);
  }
  for (LinkedListener& listener : config.listeners) std::ranges::sort(listener.policies, by_type);
  for (LinkedRoute& route : config.routes) {
    std::sort(route.policies.begin(), route.policies.end(), by_type);
    for (LinkedRule& rule : route.rules) std::ranges::sort(rule.policies, by_type);
  }
  set_denied(config, diagnostics);
}

}  // namespace edge::compiler::link
