#include <algorithm>
#include <unordered_map>

#include "compiler/lint/finding.h"
#include "compiler/lint/hostnames.h"
#include "compiler/lint/lint.h"
#include "compiler/lint/redirect_loop.h"

namespace edge::compiler::lint {
namespace {

using model::BackendRef;
using model::ProxyRoute;
using model::Rule;

std::string rule_field(std::size_t rule, std::string_view field) {
  return indexed("spec.rules", rule) + "." + std::string(field);
}

/// Shares of nothing: every request of the rule is answered 500.
void weights(const ProxyRoute& route, std::size_t index, Diagnostics& diagnostics) {
  const Rule& rule = route.rules[index];
  const auto is_zero = [](const BackendRef& backend) { return backend.weight && backend.weight->value == 0; };
  if (rule.backends.empty() || !std::ranges::all_of(rule.backends, is_zero)) return;
  Diagnostic found =
      warning(route.metadata, {.code = DiagnosticCode::kZeroWeights,
                               .span = rule.backends[0].weight->span,
                               .field = rule_field(index, "backendRefs[0].weight"),
                               .message = rule.backends.size() == 1 ? "the rule's only backend has the weight 0"
                                                                    : "every backend of the rule has the weight 0",
                               .fix = "give one of them a weight of at least 1"});
  found.notes.emplace_back("its requests are answered 500, save those with `X-Canary: true`");
  diagnostics.add(std::move(found));
}

/// Shares of one backend that are written apart add up, which is seldom what the second entry was meant for.
void doubles(const ProxyRoute& route, std::size_t index, Diagnostics& diagnostics) {
  const Rule& rule = route.rules[index];
  if (rule.backends.size() < 2) return;
  std::unordered_map<std::string, const BackendRef*> seen;
  for (std::size_t i = 0; i < rule.backends.size(); ++i) {
    const model::Reference& backend = rule.backends[i].backend;
    const auto [first, added] = seen.emplace(backend.name_space + "/" + backend.name.value, &rule.backends[i]);
    if (added) continue;
    Diagnostic found =
        warning(route.metadata, {.code = DiagnosticCode::kBackendTwice,
                                 .span = backend.name.span,
                                 .field = rule_field(index, indexed("backendRefs", i) + ".name"),
                                 .message = "the rule names the backend " + in_quotes(backend.name.value) + " twice",
                                 .fix = "name the other backend, or add the weights up in one entry"});
    found.labels.push_back({first->second->backend.name.span, "first given here"});
    diagnostics.add(std::move(found));
  }
}

void loops(const ProxyRoute& route, std::size_t index, Diagnostics& diagnostics) {
  const auto loop = find_redirect_loop(route, index);
  if (!loop) return;
  Diagnostic found =
      warning(route.metadata,
              {.code = DiagnosticCode::kRedirectLoop,
               .span = loop->span,
               .field = rule_field(index, "filters"),
               .message = "the redirect leads to " + in_quotes(loop->path) + ", which this rule redirects again",
               .fix = "redirect to another path or host, or match the old path exactly"});
  if (loop->match.somewhere()) found.labels.push_back({loop->match, "the rule takes the new path too"});
  found.notes.emplace_back("browsers give up after some twenty rounds");
  diagnostics.add(std::move(found));
}

}  // namespace

void lint(const ProxyRoute& route, Diagnostics& diagnostics) {
  lint_hostnames(route.metadata, route.hostnames, "spec.hostnames", diagnostics);
  for (std::size_t i = 0; i < route.rules.size(); ++i) {
    weights(route, i, diagnostics);
    doubles(route, i, diagnostics);
    loops(route, i, diagnostics);
  }
}

}  // namespace edge::compiler::lint
