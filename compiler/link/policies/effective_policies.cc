#include "compiler/link/policies/effective_policies.h"

#include <algorithm>
#include <tuple>

#include "compiler/link/gateways/attach.h"

namespace edge::compiler {

std::string_view type_text(PolicyType type) {
  switch (type) {
    case PolicyType::kUnknown:
      break;
    case PolicyType::kIpAccess:
      return "IPAccess";
    case PolicyType::kRateLimit:
      return "RateLimit";
    case PolicyType::kBasicAuth:
      return "BasicAuth";
    case PolicyType::kJwt:
      return "JWT";
    case PolicyType::kOidc:
      return "OIDC";
    case PolicyType::kForwardAuth:
      return "ForwardAuth";
    case PolicyType::kCors:
      return "CORS";
    case PolicyType::kSecurityHeaders:
      return "SecurityHeaders";
  }
  return "?";
}

}  // namespace edge::compiler

namespace edge::compiler::link {

namespace {

/// Adds those of `targets` that are replaced by none in `chosen`, of which the first `of_rule` are a rule's own. A
/// policy of unknown type may be any: it replaces none and is replaced by none. Nor does what a rule asks for by a
/// filter replace what protects the rule by a policy: who may write routes need not be who may write policies.
void add_unreplaced(const LinkedConfig& config, const std::vector<std::uint32_t>& targets, std::size_t of_rule,
                    std::vector<std::uint32_t>& chosen) {
  const std::size_t own = chosen.size();
  for (const std::uint32_t policy : targets) {
    const PolicyType type = config.policies[policy].type;
    const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(protects(type) ? of_rule : 0);
    const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(own);
    const bool replaced = type != PolicyType::kUnknown && std::any_of(begin, end, [&](std::uint32_t other) {
                            return config.policies[other].type == type;
                          });
    if (!replaced) chosen.push_back(policy);
  }
}

std::vector<std::uint32_t> combined(const LinkedConfig& config, std::uint32_t gateway, const LinkedRoute& route,
                                    std::vector<std::uint32_t> effective) {
  const std::vector<std::uint32_t> rule = effective;
  add_unreplaced(config, route.policies, rule.size(), effective);
  add_unreplaced(config, config.gateways[gateway].policies, rule.size(), effective);
  // Of one type the rule's own comes last.
  const auto position = [&](std::uint32_t policy) {
    const bool own = std::ranges::find(rule, policy) != rule.end();
    return std::tuple(config.policies[policy].type, own, policy);
  };
  std::ranges::sort(effective, {}, position);
  return effective;
}

}  // namespace

std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route) {
  return combined(config, gateway, route, {});
}

std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route, const LinkedRule& rule) {
  return combined(config, gateway, route, rule.policies);
}

std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route) {
  const LinkedListener& on = config.listeners[listener];
  if (is_raw(on.protocol)) return {};
  return effective_policies(config, on.gateway, route);
}

std::vector<bool> policies_in_use(const LinkedConfig& config) {
  std::vector<bool> used(config.policies.size(), false);
  const auto use = [&used](const std::vector<std::uint32_t>& policies) {
    for (const std::uint32_t policy : policies) used[policy] = true;
  };
  // A gateway's may be replaced on each of its routes today and not tomorrow: that is no reason to forget its secrets.
  for (const LinkedListener& listener : config.listeners) use(config.gateways[listener.gateway].policies);
  for (const LinkedRoute& route : config.routes) {
    if (route.listeners.empty()) continue;
    use(route.policies);
    for (const LinkedRule& rule : route.rules) use(rule.policies);
  }
  return used;
}

std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                       const LinkedRule& rule) {
  const LinkedListener& on = config.listeners[listener];
  if (is_raw(on.protocol)) return {};
  return effective_policies(config, on.gateway, route, rule);
}

bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route) {
  const LinkedListener& on = config.listeners[listener];
  const std::vector<std::uint32_t> effective = effective_policies(config, on.gateway, route);
  return std::any_of(effective.begin(), effective.end(), [&](std::uint32_t index) {
    const LinkedPolicy& policy = config.policies[index];
    // A rate limit counts requests, of which there are none.
    if (is_raw(on.protocol)) return protects(policy.type) && policy.type != PolicyType::kRateLimit;
    return protects(policy.type) && !policy.enforced;
  });
}

}  // namespace edge::compiler::link
