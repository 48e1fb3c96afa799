#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/text/ascii.h"
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
/// By the policy's target, then by the header in lower case.
using LateHeaders = std::unordered_map<std::string, std::unordered_map<std::string, LateHeader>>;

bool is_of_route(const ProxyPolicy& policy) { return policy.target_kind == model::PolicyTarget::kRoute; }

LateHeaders late_headers(const std::vector<ProxyPolicy>& policies) {
  LateHeaders late;
  for (const ProxyPolicy& policy : policies) {
    const auto* const jwt = std::get_if<model::Jwt>(&policy.settings);
    if (jwt == nullptr) continue;
    for (const model::ClaimHeader& header : jwt->claim_headers) {
      // What is set on a route is set behind the choice of its rule, whatever it says.
      if (header.before_routing && !is_of_route(policy)) continue;
      late[key_of_target(policy)].try_emplace(ascii_lower(header.header), &policy, header.claim);
    }
  }
  return late;
}

class ClaimedHeaderLinter {
 public:
  ClaimedHeaderLinter(const model::ResourceSet& resources, Diagnostics& diagnostics)
      : late_(late_headers(resources.policies)), resources_(resources), diagnostics_(diagnostics) {}

  void run() const {
    if (late_.empty()) return;
    for (const ProxyRoute& route : resources_.routes) {
      look_at(route, key_of(route.metadata));
      for (const model::ParentRef& parent : route.parents) {
        look_at(route, key_of(parent.kind, parent.gateway, route.metadata));
      }
    }
  }

 private:
  void look_at(const ProxyRoute& route, const std::string& target) const {
    const auto headers = late_.find(target);
    if (headers == late_.end()) return;
    for (std::size_t r = 0; r < route.rules.size(); ++r) {
      const auto& matches = route.rules[r].matches;
      for (std::size_t m = 0; m < matches.size(); ++m) {
        for (std::size_t i = 0; i < matches[m].headers.size(); ++i) {
          const auto late = headers->second.find(ascii_lower(matches[m].headers[i].name.value));
          if (late == headers->second.end()) continue;
          report(route, matches[m].headers[i].name, late->second,
                 indexed("spec.rules", r) + "." + indexed("matches", m) + "." + indexed("headers", i) + ".name");
        }
      }
    }
  }

  void report(const ProxyRoute& route, const Located<std::string>& name, const LateHeader& late,
              std::string field) const {
    const std::string policy = model::origin_text(late.policy->metadata.text());
    Diagnostic found = warning(
        route.metadata,
        {.code = DiagnosticCode::kClientsClaim,
         .span = name.span,
         .field = route.metadata.kind == "Ingress" ? "metadata.annotations" : std::move(field),
         .message = "clients choose this rule by what they send as " + in_quotes(name.value) + ": " + policy +
                    " sets it from the claim " + in_quotes(late.claim) + " only after the rule is chosen",
         .fix = is_of_route(*late.policy) ? "put the policy on the gateway, with `beforeRouting: true` for the header"
                                          : "set `beforeRouting: true` for the header in " + policy});
    found.labels.push_back({late.policy->type.span, "this policy verifies the token"});
    diagnostics_.add(std::move(found));
  }

  LateHeaders late_;
  const model::ResourceSet& resources_;
  Diagnostics& diagnostics_;
};

}  // namespace

void lint_claimed_headers(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  ClaimedHeaderLinter(resources, diagnostics).run();
}

}  // namespace edge::compiler::lint
