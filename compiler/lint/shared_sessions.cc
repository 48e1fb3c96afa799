// Lints rules that bind client sessions by the same cookie or header, but send them to different backends.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text/ascii.h"
#include "compiler/lint/finding.h"
#include "compiler/lint/keys.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::ProxyRoute;
using model::Rule;
using model::SessionPersistence;

/// The names of a rule's backends: a value that names one of them means something to each rule that has the same.
std::set<std::string> backends_of(const ProxyRoute& route, const Rule& rule) {
  std::set<std::string> names;
  for (const model::BackendRef& reference : rule.backends) {
    names.insert(key_of(reference.kind, reference.backend, route.metadata));
  }
  return names;
}

/// What the client sends back: rules with the same one read each other's values.
std::string carrier_of(const SessionPersistence& session, const Rule& rule) {
  if (session.by_header) return "header\n" + ascii_lower(session.name->value);
  return "cookie\n" + session.name->value + "\n" + model::cookie_path(session, rule);
}

std::string described(const SessionPersistence& session, const Rule& rule) {
  if (session.by_header) return "header " + in_quotes(session.name->value);
  return "cookie " + in_quotes(session.name->value) + " of the path " + in_quotes(model::cookie_path(session, rule));
}

/// Whether the rule's sessions have a name that was chosen: the usual names are its own, and stand for themselves.
bool has_chosen_name(const Rule& rule) { return rule.persistence && rule.persistence->name && !rule.backends.empty(); }

class SessionLinter {
 public:
  explicit SessionLinter(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void add(const ProxyRoute& route) {
    for (std::size_t i = 0; i < route.rules.size(); ++i) {
      if (has_chosen_name(route.rules[i])) add(route, i);
    }
  }

 private:
  struct Use {
    const ProxyRoute* route;
    const Rule* rule;
    std::set<std::string> backends;
  };

  void add(const ProxyRoute& route, std::size_t index) {
    const Rule& rule = route.rules[index];
    const std::string carrier = carrier_of(*rule.persistence, rule);
    const std::set<std::string> backends = backends_of(route, rule);
    std::vector<std::string> hosts;
    for (const auto& host : route.hostnames) hosts.push_back(host.value.text());
    if (hosts.empty()) hosts.emplace_back();
    for (const model::ParentRef& parent : route.parents) {
      const std::string gateway = key_of(parent.kind, parent.gateway, route.metadata);
      for (const std::string& host : hosts) {
        std::string key = gateway;
        key.append("\n").append(host).append("\n").append(carrier);
        const Use& first = uses_.try_emplace(std::move(key), Use{&route, &rule, backends}).first->second;
        if (first.backends != backends) return warn(route, index, first);
      }
    }
  }

  void warn(const ProxyRoute& route, std::size_t index, const Use& first) {
    const Rule& rule = route.rules[index];
    const SessionPersistence& session = *rule.persistence;
    const bool annotated = route.metadata.kind == "Ingress";
    Diagnostic found = warning(
        route.metadata,
        {.code = DiagnosticCode::kConflict,
         .span = session.name->span,
         .field = annotated ? "metadata.annotations" : indexed("spec.rules", index) + ".sessionPersistence.sessionName",
         .message = "the " + described(session, rule) + " is also that of a rule with other backends",
         .fix = annotated ? "leave out `session-cookie-path`, or give each Ingress a `session-cookie-name` of its own"
                          : "give each of the rules a `sessionName` of its own"});
    found.labels.push_back(
        {first.rule->persistence->name->span, "used by this rule of " + first.route->metadata.text()});
    found.notes.emplace_back("a client of both rules loses its endpoint at each change between them");
    diagnostics_.add(std::move(found));
  }

  Diagnostics& diagnostics_;
  /// The first rule by gateway, host and carrier.
  std::unordered_map<std::string, Use> uses_;
};

}  // namespace

void lint_shared_sessions(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  std::vector<const ProxyRoute*> routes;
  for (const ProxyRoute& route : resources.routes) {
    if (std::ranges::any_of(route.rules, has_chosen_name)) routes.push_back(&route);
  }
  std::ranges::sort(routes, is_before, [](const ProxyRoute* route) -> const auto& { return route->metadata; });
  SessionLinter linter(diagnostics);
  for (const ProxyRoute* const route : routes) linter.add(*route);
}

}  // namespace edge::compiler::lint
