#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/link/path_value.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

constexpr std::string_view kLogoutPath = "/oauth2/logout";

/// The path of an absolute URL, as requests are matched; nullopt where it has none that a request can have.
std::optional<std::string> path_of_url(std::string_view url) {
  const std::size_t authority = url.find("://");
  if (authority == std::string_view::npos) return std::nullopt;
  url.remove_prefix(authority + 3);
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t path = url.find('/');
  return path == std::string_view::npos ? std::nullopt : path_value(url.substr(path));
}

void add_exact(std::string path, Span span, LinkedRule& rule) {
  RuleMatch& match = rule.matches.emplace_back();
  match.path = {.type = PathMatch::Type::kExact, .value = {std::move(path), span}};
  match.span = span;
}

/// The rule for the paths of the OIDC policies that hold for the route on some listener; without matches: there is
/// none.
LinkedRule login_rule(const LinkedConfig& config, const LinkedRoute& route) {
  LinkedRule rule;
  rule.implied = true;
  for (const std::uint32_t listener : route.listeners) {
    for (const std::uint32_t index : policies_on(config, listener, route)) {
      const LinkedPolicy& policy = config.policies[index];
      const auto* oidc = std::get_if<OidcSettings>(&policy.settings);
      if (oidc == nullptr) continue;
      const auto callback = path_of_url(oidc->redirect_url);
      const auto known = [&](const RuleMatch& match) { return callback && match.path.value.value == *callback; };
      if (callback && std::none_of(rule.matches.begin(), rule.matches.end(), known)) {
        add_exact(*callback, policy.span, rule);
      }
      rule.span = policy.span;
    }
  }
  if (!rule.matches.empty()) add_exact(std::string(kLogoutPath), rule.span, rule);
  return rule;
}

}  // namespace

void add_login_rules(LinkedConfig& config) {
  const bool any = std::any_of(config.policies.begin(), config.policies.end(),
                               [](const LinkedPolicy& policy) { return policy.type == PolicyType::kOidc; });
  if (!any) return;
  for (LinkedRoute& route : config.routes) {
    LinkedRule rule = login_rule(config, route);
    if (rule.matches.empty()) continue;
    const auto served = std::find_if(route.rules.begin(), route.rules.end(),
                                     [](const LinkedRule& written) { return !written.backends.empty(); });
    // The policy answers; where it lets a request pass, it goes where the route's others go.
    if (served != route.rules.end()) rule.backends = served->backends;
    for (WeightedBackend& backend : rule.backends) backend.filters.reset();
    route.rules.push_back(std::move(rule));
  }
}

}  // namespace edge::compiler::link
