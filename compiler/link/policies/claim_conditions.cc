#include "compiler/link/policies/claim_conditions.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text/ascii.h"
#include "compiler/expr/expression.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// Depth: at most expr::kMaxExpressionDepth.
void add_of_expression(const expr::Expression& tree, const Located<std::string>& text,
                       std::vector<ClaimCondition>& conditions) {
  using Kind = expr::Expression::Kind;
  for (const expr::Expression& operand : tree.operands) add_of_expression(operand, text, conditions);
  if (tree.kind != Kind::kClaim && tree.kind != Kind::kClaimContains) return;
  ClaimCondition& condition = conditions.emplace_back(tree.name, std::nullopt, "spec.expression", text.span);
  if (tree.kind == Kind::kClaimContains) condition.item = tree.value;
}

/// Few expressions are about claims, and reading one costs.
bool may_name_claims(std::string_view expression) { return ascii_lower(expression).find("claim") != std::string::npos; }

/// The listeners of one gateway that a route cannot be served on.
struct Unverified {
  std::vector<std::uint32_t> listeners;
  std::optional<std::uint32_t> unreadable;  ///< the JWT policy that there is
};

std::map<std::uint32_t, Unverified> unverified(const LinkedConfig& config, const LinkedRoute& route) {
  std::map<std::uint32_t, Unverified> by_gateway;
  for (const std::uint32_t listener : route.listeners) {
    if (token_policy(config, listener)) continue;
    Unverified& of = by_gateway[config.listeners[listener].gateway];
    of.listeners.push_back(listener);
    for (const std::uint32_t policy : policies_without_route(config, listener)) {
      if (config.policies[policy].type == PolicyType::kJwt) of.unreadable = policy;
    }
  }
  return by_gateway;
}

std::string listeners_text(const LinkedConfig& config, const Unverified& of) {
  std::string text = of.listeners.size() == 1 ? "the listener `" : "the listeners `";
  for (std::size_t i = 0; i < of.listeners.size(); ++i) {
    text += (i == 0 ? "" : "`, `") + config.listeners[of.listeners[i]].name;
  }
  return text + "`";
}

Diagnostic diagnostic_of(const LinkedConfig& config, const LinkedRoute& route, const Unverified& of) {
  const ClaimCondition& condition = route.claims.front();
  const LinkedListener& listener = config.listeners[of.listeners.front()];
  const Identity& gateway = config.gateways[listener.gateway].identity;
  const std::string there = listeners_text(config, of) + " of " + gateway.text();
  Diagnostic diagnostic{.code = DiagnosticCode::kClaimNotVerified};
  diagnostic.resource = route.identity.text();
  diagnostic.field = condition.where;
  diagnostic.span = condition.span;
  diagnostic.labels = {{listener.span, "the route does not attach here"}};
  diagnostic.notes.emplace_back("the whole route is left out there: a route is never widened by a fault in it");
  if (of.unreadable) {
    diagnostic.message = "nothing can be told of the claim `" + condition.claim + "`: on " + there +
                         " the settings of " + config.policies[*of.unreadable].identity.text() + " are at fault";
    diagnostic.fix = "mend that policy of type JWT";
  } else {
    diagnostic.message =
        "nobody verifies the claim `" + condition.claim + "`: no policy of type JWT is in force on " + there;
    diagnostic.fix = "add a ProxyPolicy of type JWT whose `targetRef` names the " + gateway.kind + " `" + gateway.name +
                     "`; one on the route alone verifies only after the rule is chosen";
  }
  return diagnostic;
}

bool names(const model::ParentRef& parent, const model::Metadata& from, const LinkedConfig& config,
           std::uint32_t index) {
  const LinkedListener& listener = config.listeners[index];
  const Identity& gateway = config.gateways[listener.gateway].identity;
  const std::string& name_space = parent.gateway.name_space.empty() ? from.name_space : parent.gateway.name_space;
  return parent.kind == gateway.kind && parent.gateway.name.value == gateway.name && name_space == gateway.name_space &&
         (!parent.section_name || parent.section_name->value == listener.name) &&
         (!parent.port || parent.port->value == listener.port);
}

/// The parents that are left with no listener refuse the route.
ResourceStatus status_of(const LinkedConfig& config, const model::ProxyRoute& written, const LinkedRoute& route,
                         const std::vector<std::uint32_t>& detached, const std::string& message) {
  ResourceStatus status{.kind = written.metadata.kind,
                        .name_space = written.metadata.name_space,
                        .name = written.metadata.name,
                        .observed_generation = written.metadata.generation};
  bool whole = true;
  for (std::size_t i = 0; i < written.parents.size(); ++i) {
    const auto is_named = [&](std::uint32_t listener) {
      return names(written.parents[i], written.metadata, config, listener);
    };
    if (std::ranges::none_of(detached, is_named)) continue;
    if (std::ranges::any_of(route.listeners, is_named)) {
      whole = false;
      continue;
    }
    ParentStatus& parent = status.parents.emplace_back();
    parent.parent_ref = static_cast<std::uint32_t>(i);
    fail(parent.conditions, condition::kAccepted, reason::kUnsupportedValue, message);
  }
  if (!whole) {
    set_condition(status.conditions, {std::string(condition::kPartiallyInvalid), ConditionStatus::kTrue,
                                      std::string(reason::kUnsupportedValue), message});
  }
  return status;
}

}  // namespace

std::vector<ClaimCondition> claim_conditions(const model::ProxyRoute& route) {
  std::vector<ClaimCondition> conditions;
  for (std::size_t r = 0; r < route.rules.size(); ++r) {
    const auto& matches = route.rules[r].matches;
    for (std::size_t m = 0; m < matches.size(); ++m) {
      for (std::size_t i = 0; i < matches[m].claims.size(); ++i) {
        const model::ValueCondition& written = matches[m].claims[i];
        ClaimCondition& condition =
            conditions.emplace_back(written.name.value, std::nullopt,
                                    "spec.rules[" + std::to_string(r) + "].matches[" + std::to_string(m) + "].claims[" +
                                        std::to_string(i) + "]",
                                    written.name.span);
        if (written.type == model::ValueType::kContains) condition.item = written.value.value;
      }
    }
  }
  if (route.expression && may_name_claims(route.expression->value)) {
    const expr::ParsedExpression parsed = expr::parse_expression(route.expression->value);
    if (parsed.expression) add_of_expression(*parsed.expression, *route.expression, conditions);
  }
  return conditions;
}

void set_claimed_headers(LinkedConfig& config) {
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    std::vector<ClaimHeader>& claimed = config.listeners[i].claimed_headers;
    for (const std::uint32_t policy : policies_without_route(config, i)) {
      const auto claim = [&claimed](const ClaimHeader& each) {
        std::erase_if(claimed, [&](const ClaimHeader& other) { return other.header == each.header; });
        if (each.before_routing) claimed.push_back(each);
      };
      // Of two claims for one header the later is what the backend is sent.
      if (const auto* jwt = std::get_if<JwtSettings>(&config.policies[policy].settings)) {
        std::ranges::for_each(jwt->claim_headers, claim);
      }
      // Of a policy at fault, they remain a claim's, and of one that no token has: no client may set them meanwhile.
      for (const std::string& header : config.policies[policy].salvaged_headers) claim({"", header, true});
    }
    std::ranges::sort(claimed, {}, &ClaimHeader::header);
  }
}

void detach_unverified_claims(const std::vector<const model::ProxyRoute*>& written, LinkedConfig& config,
                              Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    LinkedRoute& route = config.routes[i];
    if (route.claims.empty()) continue;
    std::vector<std::uint32_t> detached;
    std::string message;
    for (const auto& [gateway, of] : unverified(config, route)) {
      Diagnostic diagnostic = diagnostic_of(config, route, of);
      message += (message.empty() ? "" : "; ") + diagnostic.message;
      diagnostics.add(std::move(diagnostic));
      detached.insert(detached.end(), of.listeners.begin(), of.listeners.end());
    }
    if (detached.empty()) continue;
    std::erase_if(route.listeners,
                  [&](std::uint32_t listener) { return std::ranges::find(detached, listener) != detached.end(); });
    config.statuses.push_back(status_of(config, *written[i], route, detached, message));
  }
}

}  // namespace edge::compiler::link
