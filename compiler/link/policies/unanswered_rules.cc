#include <algorithm>
#include <string>

#include "compiler/link/gateways/attach.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/link/stages.h"
#include "program/filter_table.h"

namespace edge::compiler::link {
namespace {

bool redirects(const LinkedRule& rule) {
  return !rule.filters.empty() && row_of(rule.filters.back().op).order == program::FilterOrder::kAnswer;
}

/// Whether a policy answers all requests of the rule that it does not refuse, wherever they come in.
bool has_fixed_response(const LinkedConfig& config, const LinkedRoute& route, const LinkedRule& rule) {
  const auto fixed = [&](std::uint32_t policy) { return config.policies[policy].type == PolicyType::kFixedResponse; };
  // A route that is attached nowhere has its own policies alone.
  if (route.listeners.empty()) {
    return std::ranges::any_of(rule.policies, fixed) || std::ranges::any_of(route.policies, fixed);
  }
  return std::ranges::all_of(route.listeners, [&](std::uint32_t listener) {
    return std::ranges::any_of(policies_on(config, listener, route, rule), fixed);
  });
}

}  // namespace

void warn_of_unanswered(const LinkedConfig& config, Diagnostics& diagnostics) {
  for (const LinkedRoute& route : config.routes) {
    for (std::size_t index = 0; index < route.rules.size(); ++index) {
      const LinkedRule& rule = route.rules[index];
      if (!rule.backends.empty() || redirects(rule) || has_fixed_response(config, route, rule)) continue;
      diagnostics.add({.code = DiagnosticCode::kMissingField,
                       .severity = Severity::kWarning,
                       .resource = route.identity.text(),
                       .field = "spec.rules[" + std::to_string(index) + "].backendRefs",
                       .span = rule.span,
                       .message = "the rule has no backend and no redirect: its requests are answered 500"});
    }
  }
}

}  // namespace edge::compiler::link
