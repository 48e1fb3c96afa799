#include "compiler/lint/path_detours.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/lint/finding.h"
#include "compiler/lint/keys.h"

namespace edge::compiler::lint {
namespace {

using model::Match;
using model::ParentRef;
using model::PathType;
using model::PolicyType;
using model::ProxyGateway;
using model::ProxyPolicy;
using model::ProxyRoute;
using model::Rule;

/// A spelling of a path that some servers treat as the same path, and the field that rejects it.
struct Spelling {
  std::string path;
  std::string_view field;
};

/// What a gateway lets pass of the spellings of `path`, which is not `/`.
std::vector<Spelling> spellings(const ProxyGateway& gateway, const std::string& path) {
  const auto& paths = gateway.paths;
  const auto is_set = [](const auto& field, std::string_view keep) { return field && field->value != keep; };
  std::vector<Spelling> found;
  if (!paths || !paths->merge_slashes || !paths->merge_slashes->value) found.push_back({"/" + path, "mergeSlashes"});
  if (!paths || !is_set(paths->escaped_slashes, "Keep")) {
    found.push_back({"/%2F" + path.substr(1), "escapedSlashes"});
    found.push_back({path + "%2F", "escapedSlashes"});
  }
  if (!paths || !is_set(paths->path_parameters, "Keep")) found.push_back({path + ";x=1", "pathParameters"});
  return found;
}

bool authenticates(PolicyType type) {
  return type == PolicyType::kBasicAuth || type == PolicyType::kForwardAuth || type == PolicyType::kOidc ||
         type == PolicyType::kJwt || type == PolicyType::kApiKey || type == PolicyType::kClientCertificate;
}

/// Requests of one parent reference: routes that name it alike see the same ones.
std::string parent_key(const ParentRef& parent, const model::Metadata& from) {
  return key_of(parent.kind, parent.gateway, from) + '\n' + (parent.section_name ? parent.section_name->value : "") +
         '\n' + (parent.port ? std::to_string(parent.port->value) : "") + '\n';
}

std::string_view without_end_slash(std::string_view path) {
  return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

/// The prefixes that a path lies below, the longest first; then `` for rules without a path.
std::vector<std::string_view> prefixes_of(std::string_view path) {
  std::vector<std::string_view> prefixes;
  for (std::string_view rest = path; rest.size() > 1; rest = rest.substr(0, rest.rfind('/'))) prefixes.push_back(rest);
  prefixes.emplace_back("/");
  prefixes.emplace_back();
  return prefixes;
}

/// The patterns that cover what `host` covers, the most specific first; the last is that of every host.
std::vector<std::string> patterns_of(const HostPattern& host) {
  std::vector<std::string> patterns;
  if (!host.any()) patterns.push_back(host.text());
  std::string_view domain = host.domain();
  for (std::size_t dot = domain.find('.'); dot != std::string_view::npos; dot = domain.find('.')) {
    domain.remove_prefix(dot + 1);
    patterns.push_back("*." + std::string(domain));
  }
  patterns.emplace_back();
  return patterns;
}

class DetourLinter {
 public:
  DetourLinter(const model::ResourceSet& resources, Diagnostics& diagnostics)
      : resources_(resources), diagnostics_(diagnostics) {
    for (const ProxyGateway& gateway : resources.gateways) {
      const ProxyGateway*& kept = gateways_[key_of(gateway.metadata)];
      if (kept == nullptr || is_before(gateway.metadata, kept->metadata)) kept = &gateway;
    }
    for (const ProxyPolicy& policy : resources.policies) {
      if (authenticates(policy.type.value)) authenticated_.insert(key_of_target(policy));
    }
    for (const ProxyRoute& route : resources.routes) collect(route);
  }

  void run() {
    for (const ProxyRoute& route : resources_.routes) {
      if (authenticated_.contains(key_of(route.metadata))) lint(route);
    }
  }

 private:
  struct Taker {
    const ProxyRoute* route;
    const Rule* rule;
    /// Whatever else a request has, it is taken where its host and path fit.
    bool always;
  };

  void collect(const ProxyRoute& route) {
    static const Match everything{};
    std::vector<std::string> hosts;
    for (const Located<HostPattern>& host : route.hostnames) hosts.push_back(host.value.text());
    if (hosts.empty()) hosts.emplace_back();
    for (const ParentRef& parent : route.parents) {
      for (const std::string& host : hosts) {
        const std::string key = parent_key(parent, route.metadata) + host + '\n';
        for (const Rule& rule : route.rules) {
          if (rule.matches.empty()) add(key, route, rule, everything);
          for (const Match& match : rule.matches) add(key, route, rule, match);
        }
      }
    }
  }

  void add(const std::string& key, const ProxyRoute& route, const Rule& rule, const Match& match) {
    if (match.path && match.path->type == PathType::kRegex) {
      patterns_.insert(key);
    } else if (!match.path || match.path->type == PathType::kPrefix) {
      const std::string_view prefix = match.path ? without_end_slash(match.path->value.value) : std::string_view();
      const bool always =
          match.headers.empty() && match.query.empty() && match.claims.empty() && !match.method && !route.expression;
      takers_[key + std::string(prefix)].push_back({&route, &rule, always});
    }
  }

  /// The rule that takes a path, where that can be told: before it no rule has a pattern, and none has more conditions.
  std::optional<Taker> taker_of(const ParentRef& parent, const model::Metadata& from, const HostPattern& host,
                                std::string_view path) const {
    for (const std::string& pattern : patterns_of(host)) {
      const std::string key = parent_key(parent, from) + pattern + '\n';
      if (patterns_.contains(key)) return std::nullopt;
      for (const std::string_view prefix : prefixes_of(path)) {
        const auto found = takers_.find(key + std::string(prefix));
        if (found == takers_.end()) continue;
        const bool certain = found->second.size() == 1 && found->second.front().always;
        return certain ? std::optional(found->second.front()) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  static bool share_backend(const ProxyRoute& a, const Rule& of_a, const ProxyRoute& b, const Rule& of_b) {
    return std::ranges::any_of(of_a.backends, [&](const model::BackendRef& one) {
      return std::ranges::any_of(of_b.backends, [&](const model::BackendRef& other) {
        return key_of(one.kind, one.backend, a.metadata) == key_of(other.kind, other.backend, b.metadata);
      });
    });
  }

  void lint(const ProxyRoute& route) {
    for (const ParentRef& parent : route.parents) {
      const std::string gateway_key = key_of(parent.kind, parent.gateway, route.metadata);
      const auto gateway = gateways_.find(gateway_key);
      // Others than our own kind have no setting for it; a policy of the gateway holds for all of its routes.
      if (gateway == gateways_.end() || parent.kind != "ProxyGateway" || authenticated_.contains(gateway_key)) {
        continue;
      }
      for (const Rule& rule : route.rules) {
        for (const Match& match : rule.matches) {
          if (!match.path || match.path->type == PathType::kRegex) continue;
          const std::string path(without_end_slash(match.path->value.value));
          if (path.size() > 1 && warned(route, rule, *match.path, parent, *gateway->second, path)) return;
        }
      }
    }
  }

  bool warned(const ProxyRoute& route, const Rule& rule, const model::PathCondition& condition, const ParentRef& parent,
              const ProxyGateway& gateway, const std::string& path) {
    const HostPattern host = route.hostnames.empty() ? HostPattern() : route.hostnames.front().value;
    std::optional<Taker> taker;
    std::vector<Spelling> open;
    for (Spelling& spelling : spellings(gateway, path)) {
      const auto takes = taker_of(parent, route.metadata, host, spelling.path);
      if (!takes || authenticated_.contains(key_of(takes->route->metadata))) continue;
      if (!share_backend(route, rule, *takes->route, *takes->rule)) continue;
      if (!taker) taker = takes;
      open.push_back(std::move(spelling));
    }
    if (open.empty()) return false;
    std::string settings;
    std::string others;
    for (const Spelling& spelling : open) {
      if (settings.find(spelling.field) == std::string::npos) {
        settings.append(settings.empty() ? "" : ", ").append(spelling.field);
      }
      if (&spelling != &open.front()) others.append(others.empty() ? "" : ", ").append(spelling.path);
    }
    Diagnostic found = warning(
        route.metadata,
        {.code = DiagnosticCode::kPathDetour,
         .span = condition.value.span,
         .field = "spec.rules[" + std::to_string(&rule - route.rules.data()) + "].matches",
         .message = "GET http://" + shown(host, gateway) + open.front().path +
                    " goes to the same backend without the policy, and many servers read it as " + in_quotes(path),
         .fix = "set " + settings + " in `spec.paths` of " + gateway.metadata.text() +
                ", or give the other route the policy too"});
    found.labels.push_back({taker->rule->span, "this rule of " + taker->route->metadata.text() + " takes it"});
    if (!others.empty()) found.notes.push_back("so do " + others);
    diagnostics_.add(std::move(found));
    return true;
  }

  /// Some host that the rule's requests may have.
  static std::string shown(const HostPattern& host, const ProxyGateway& gateway) {
    HostPattern pattern = host;
    for (const model::Listener& listener : gateway.listeners) {
      if (pattern.any() && !listener.hostnames.empty()) pattern = listener.hostnames.front().value;
    }
    if (pattern.any()) return "example.com";
    return (pattern.wildcard() ? "www." : "") + std::string(pattern.domain());
  }

  const model::ResourceSet& resources_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, const ProxyGateway*> gateways_;
  /// Routes and gateways with a policy that authenticates.
  std::unordered_set<std::string> authenticated_;
  /// By parent, host and prefix.
  std::unordered_map<std::string, std::vector<Taker>> takers_;
  /// By parent and host: some rule has a regular expression.
  std::unordered_set<std::string> patterns_;
};

}  // namespace

void lint_path_detours(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  const bool asked = std::ranges::any_of(resources.policies,
                                         [](const ProxyPolicy& policy) { return authenticates(policy.type.value); });
  if (asked) DetourLinter(resources, diagnostics).run();
}

}  // namespace edge::compiler::lint
