#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/ascii.h"
#include "compiler/expr/expression.h"
#include "compiler/lint/finding.h"
#include "compiler/lint/keys.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::ProxyPolicy;
using model::ProxyRoute;

/// A header that a policy makes of a claim, too late for rules.
struct LateHeader {
  const ProxyPolicy* policy;
  std::string claim;
};
/// By the header in lower case.
using LateHeaders = std::map<std::string, LateHeader>;

/// What is true of the listeners that a parent of a route names.
struct Listeners {
  LateHeaders late;               ///< on one of them at least
  std::set<std::string> claimed;  ///< on all of them conditions see the claim
};

bool is_of_route(const ProxyPolicy& policy) { return policy.target_kind == model::PolicyTarget::kRoute; }

std::string section_of(const model::Maybe<std::string>& section) { return section ? section->value : std::string(); }

/// By header, and by policy, whose claim: several parents say the same of one.
using LateOfRoute = std::map<std::string, std::map<const ProxyPolicy*, std::string>>;

class ClaimedHeaderLinter {
 public:
  ClaimedHeaderLinter(const model::ResourceSet& resources, Diagnostics& diagnostics)
      : resources_(resources), diagnostics_(diagnostics) {
    for (const ProxyPolicy& policy : resources.policies) {
      if (!std::holds_alternative<model::Jwt>(policy.settings)) continue;
      if (is_of_route(policy)) {
        of_routes_[key_of_target(policy)].push_back(&policy);
        continue;
      }
      const ProxyPolicy*& first = of_listeners_[{key_of_target(policy), section_of(policy.section)}];
      if (first == nullptr || is_before(policy.metadata, first->metadata)) first = &policy;
    }
    for (const model::ProxyGateway& gateway : resources.gateways) gateways_[key_of(gateway.metadata)] = &gateway;
  }

  void run() {
    if (of_routes_.empty() && of_listeners_.empty()) return;
    for (const ProxyRoute& route : resources_.routes) {
      LateOfRoute late;
      const auto own = of_routes_.find(key_of(route.metadata));
      for (const model::ParentRef& parent : route.parents) {
        const Listeners& there = listeners(key_of(parent.kind, parent.gateway, route.metadata), parent);
        for (const auto& [header, by] : there.late) late[header].emplace(by.policy, by.claim);
        if (own == of_routes_.end()) continue;
        for (const ProxyPolicy* const policy : own->second) {
          // What is set on a route is set behind the choice of its rule, whatever it says.
          for (const model::ClaimHeader& each : std::get<model::Jwt>(policy->settings).claim_headers) {
            const std::string header = ascii_lower(each.header);
            if (!there.claimed.contains(header)) late[header].emplace(policy, each.claim);
          }
        }
      }
      if (!late.empty()) look_at(route, late);
    }
  }

 private:
  const Listeners& listeners(const std::string& gateway, const model::ParentRef& parent) {
    const std::string section = section_of(parent.section_name);
    const std::int64_t port = parent.port ? parent.port->value : 0;
    const auto [known, fresh] = listeners_.try_emplace({gateway, section, port});
    if (!fresh) return known->second;
    const auto found = parent.listener_set ? gateways_.end() : gateways_.find(gateway);
    if (!section.empty() || found == gateways_.end() || found->second->listeners.empty()) {
      return known->second = listener(gateway, section);
    }
    bool first = true;
    for (const auto& written : found->second->listeners) {
      if (port != 0 && written.port.value != port) continue;
      Listeners one = listener(gateway, written.name.value);
      known->second.late.merge(one.late);
      if (first) {
        known->second.claimed = std::move(one.claimed);
      } else {
        std::erase_if(known->second.claimed, [&](const std::string& header) { return !one.claimed.contains(header); });
      }
      first = false;
    }
    return known->second;
  }

  /// By the policy in force there: the listener's own, else the gateway's.
  Listeners listener(const std::string& gateway, const std::string& name) const {
    Listeners of;
    auto policy = of_listeners_.find({gateway, name});
    if (policy == of_listeners_.end()) policy = of_listeners_.find({gateway, std::string()});
    if (policy == of_listeners_.end()) return of;
    for (const model::ClaimHeader& each : std::get<model::Jwt>(policy->second->settings).claim_headers) {
      const std::string header = ascii_lower(each.header);
      if (each.before_routing) {
        of.claimed.insert(header);
      } else {
        of.late.try_emplace(header, policy->second, each.claim);
      }
    }
    return of;
  }

  void look_at(const ProxyRoute& route, const LateOfRoute& late) const {
    const auto look = [&](const std::string& header, const Located<std::string>& at, const std::string& field) {
      const auto found = late.find(ascii_lower(header));
      if (found == late.end()) return;
      for (const auto& [policy, claim] : found->second) report(route, header, at.span, {policy, claim}, field);
    };
    for (std::size_t r = 0; r < route.rules.size(); ++r) {
      const auto& matches = route.rules[r].matches;
      for (std::size_t m = 0; m < matches.size(); ++m) {
        for (std::size_t i = 0; i < matches[m].headers.size(); ++i) {
          const Located<std::string>& name = matches[m].headers[i].name;
          look(name.value, name,
               indexed("spec.rules", r) + "." + indexed("matches", m) + "." + indexed("headers", i) + ".name");
        }
      }
    }
    if (!route.expression) return;
    const expr::ParsedExpression parsed = expr::parse_expression(route.expression->value);
    if (!parsed.expression) return;
    std::set<std::string> named;
    collect_headers(*parsed.expression, named);
    for (const std::string& header : named) look(header, *route.expression, "spec.expression");
  }

  /// Depth: at most expr::kMaxExpressionDepth.
  static void collect_headers(const expr::Expression& expression, std::set<std::string>& to) {
    if (expression.kind == expr::Expression::Kind::kHeader) to.insert(expression.name);
    for (const expr::Expression& operand : expression.operands) collect_headers(operand, to);
  }

  void report(const ProxyRoute& route, const std::string& header, Span span, const LateHeader& late,
              std::string field) const {
    const std::string policy = model::origin_text(late.policy->metadata.text());
    Diagnostic found = warning(
        route.metadata,
        {.code = DiagnosticCode::kClientsClaim,
         .span = span,
         .field = route.metadata.kind == "Ingress" ? "metadata.annotations" : std::move(field),
         .message = "clients choose this rule by what they send as " + in_quotes(header) + ": " + policy +
                    " sets it from the claim " + in_quotes(late.claim) + " only after the rule is chosen",
         .fix = is_of_route(*late.policy) ? "put the policy on the gateway, with `beforeRouting: true` for the header"
                                          : "set `beforeRouting: true` for the header in " + policy});
    found.labels.push_back({late.policy->type.span, "this policy verifies the token"});
    diagnostics_.add(std::move(found));
  }

  std::map<std::string, std::vector<const ProxyPolicy*>> of_routes_;
  std::map<std::pair<std::string, std::string>, const ProxyPolicy*> of_listeners_;  ///< by target, and its section
  std::unordered_map<std::string, const model::ProxyGateway*> gateways_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, Listeners> listeners_;  ///< by parents asked for
  const model::ResourceSet& resources_;
  Diagnostics& diagnostics_;
};

}  // namespace

void lint_claimed_headers(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  ClaimedHeaderLinter(resources, diagnostics).run();
}

}  // namespace edge::compiler::lint
