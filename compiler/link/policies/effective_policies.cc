#include "compiler/link/policies/effective_policies.h"

#include <algorithm>
#include <tuple>

#include "compiler/link/gateways/attach.h"
#include "program/dump/policy_type_text.h"

namespace edge::compiler {

program::PolicyType program_type(PolicyType type) {
  switch (type) {
    case PolicyType::kUnknown:
      break;
    case PolicyType::kIpAccess:
      return program::PolicyType::kIpAccess;
    case PolicyType::kMaintenance:
      return program::PolicyType::kMaintenance;
    case PolicyType::kRateLimit:
      return program::PolicyType::kRateLimit;
    case PolicyType::kConcurrencyLimit:
      return program::PolicyType::kConcurrencyLimit;
    case PolicyType::kRequestFilter:
      return program::PolicyType::kRequestFilter;
    case PolicyType::kClientCertificate:
      return program::PolicyType::kClientCertificate;
    case PolicyType::kBasicAuth:
      return program::PolicyType::kBasicAuth;
    case PolicyType::kApiKey:
      return program::PolicyType::kApiKey;
    case PolicyType::kJwt:
      return program::PolicyType::kJwt;
    case PolicyType::kOidc:
      return program::PolicyType::kOidc;
    case PolicyType::kForwardAuth:
      return program::PolicyType::kForwardAuth;
    case PolicyType::kFixedResponse:
      return program::PolicyType::kFixedResponse;
    case PolicyType::kCors:
      return program::PolicyType::kCors;
    case PolicyType::kSecurityHeaders:
      return program::PolicyType::kSecurityHeaders;
    case PolicyType::kErrorPages:
      return program::PolicyType::kErrorPages;
  }
  return program::PolicyType::kUnknown;
}

std::string_view type_text(PolicyType type) { return program::policy_type_text(program_type(type)); }

}  // namespace edge::compiler

namespace edge::compiler::link {

namespace {

/// Adds those of `targets` that are replaced by none in `chosen`, of which the first `filters` are of a rule's filters.
/// A policy of unknown type may be any: it replaces none and is replaced by none. Nor does what a rule asks for by a
/// filter replace what protects the rule by a policy: who may write routes need not be who may write policies.
void add_unreplaced(const LinkedConfig& config, const std::vector<std::uint32_t>& targets, std::size_t filters,
                    std::vector<std::uint32_t>& chosen) {
  const std::size_t own = chosen.size();
  for (const std::uint32_t policy : targets) {
    const PolicyType type = config.policies[policy].type;
    const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(protects(type) ? filters : 0);
    const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(own);
    const bool replaced = type != PolicyType::kUnknown && std::any_of(begin, end, [&](std::uint32_t other) {
                            return config.policies[other].type == type;
                          });
    if (!replaced) chosen.push_back(policy);
  }
}

std::vector<std::uint32_t> combined(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                    const std::vector<std::uint32_t>& of_rule) {
  const LinkedListener& on = config.listeners[listener];
  std::vector<std::uint32_t> filters, effective, policies;
  for (const std::uint32_t policy : of_rule) {
    (config.policies[policy].of_filter ? filters : policies).push_back(policy);
  }
  effective = filters;
  add_unreplaced(config, policies, filters.size(), effective);
  add_unreplaced(config, route.policies, filters.size(), effective);
  add_unreplaced(config, on.policies, filters.size(), effective);
  add_unreplaced(config, config.gateways[on.gateway].policies, filters.size(), effective);
  // Of one type the filter's comes last.
  const auto position = [&](std::uint32_t policy) {
    return std::tuple(config.policies[policy].type, config.policies[policy].of_filter, policy);
  };
  std::ranges::sort(effective, {}, position);
  return effective;
}

/// A policy that protects and cannot be enforced denies; a filter of Gateway API's own has its own answer.
bool denies(const LinkedPolicy& policy, bool raw) {
  // Limits count requests, of which there are none. An address is known of every connection.
  if (raw && policy.type != PolicyType::kIpAccess) {
    return protects(policy.type) && policy.type != PolicyType::kRateLimit &&
           policy.type != PolicyType::kConcurrencyLimit;
  }
  return protects(policy.type) && !policy.enforced && (!policy.of_filter || policy.named_by_filter);
}

/// Those that can be asked where there are bytes alone.
std::vector<std::uint32_t> on_bytes(const LinkedConfig& config, std::vector<std::uint32_t> effective) {
  std::erase_if(effective, [&](std::uint32_t policy) { return config.policies[policy].type != PolicyType::kIpAccess; });
  return effective;
}

bool any_denies(const LinkedConfig& config, std::uint32_t listener, const std::vector<std::uint32_t>& effective) {
  const bool raw = is_raw(config.listeners[listener].protocol);
  return std::ranges::any_of(effective, [&](std::uint32_t index) { return denies(config.policies[index], raw); });
}

}  // namespace

std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t listener,
                                              const LinkedRoute& route) {
  return combined(config, listener, route, {});
}

std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t listener,
                                              const LinkedRoute& route, const LinkedRule& rule) {
  return combined(config, listener, route, rule.policies);
}

std::vector<std::uint32_t> policies_without_route(const LinkedConfig& config, std::uint32_t listener) {
  if (is_raw(config.listeners[listener].protocol)) return {};
  return policies_on(config, listener, LinkedRoute{});
}

std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route) {
  const bool raw = is_raw(config.listeners[listener].protocol);
  return raw ? on_bytes(config, effective_policies(config, listener, route))
             : effective_policies(config, listener, route);
}

std::optional<std::uint32_t> token_policy(const LinkedConfig& config, std::uint32_t listener) {
  for (const std::uint32_t policy : policies_without_route(config, listener)) {
    if (std::holds_alternative<JwtSettings>(config.policies[policy].settings)) return policy;
  }
  return std::nullopt;
}

std::vector<bool> policies_in_use(const LinkedConfig& config) {
  std::vector<bool> used(config.policies.size(), false);
  const auto use = [&used](const std::vector<std::uint32_t>& policies) {
    for (const std::uint32_t policy : policies) used[policy] = true;
  };
  // A gateway's may be replaced on each of its routes today and not tomorrow: that is no reason to forget its secrets.
  for (const LinkedListener& listener : config.listeners) {
    use(config.gateways[listener.gateway].policies);
    use(listener.policies);
  }
  for (const LinkedRoute& route : config.routes) {
    if (route.listeners.empty()) continue;
    use(route.policies);
    for (const LinkedRule& rule : route.rules) use(rule.policies);
  }
  return used;
}

std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                       const LinkedRule& rule) {
  const bool raw = is_raw(config.listeners[listener].protocol);
  return raw ? on_bytes(config, effective_policies(config, listener, route, rule))
             : effective_policies(config, listener, route, rule);
}

bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route) {
  return any_denies(config, listener, effective_policies(config, listener, route));
}

bool denied_without_route(const LinkedConfig& config, std::uint32_t listener) {
  return !is_raw(config.listeners[listener].protocol) && denied_on(config, listener, LinkedRoute{});
}

bool replaces_backend_errors(const LinkedPolicy& policy) {
  const auto* const settings = std::get_if<ErrorPagesSettings>(&policy.settings);
  return settings != nullptr && std::ranges::any_of(settings->pages, &ErrorPage::backend_errors);
}

bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route, const LinkedRule& rule) {
  return any_denies(config, listener, effective_policies(config, listener, route, rule));
}

}  // namespace edge::compiler::link
