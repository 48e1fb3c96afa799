// Configurations for the tests of lowering and proving, written in few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::ir {

inline Located<std::string> at(std::string text) { return {std::move(text), {}}; }

/// A configuration with one gateway and one listener, to which routes are added.
struct TestConfig {
  LinkedConfig config;
  Diagnostics diagnostics;

  explicit TestConfig(std::vector<std::string> listener_hosts = {}) {
    LinkedGateway gateway;
    gateway.identity = {"ProxyGateway", "default", "edge", 0, {}};
    config.gateways.push_back(gateway);
    LinkedListener listener;
    listener.name = "http";
    listener.port = 80;
    for (const auto& host : listener_hosts) listener.hostnames.push_back({*HostPattern::parse(host), {}});
    config.listeners.push_back(listener);
  }

  LinkedRoute& route(const std::string& name, std::vector<std::string> hosts, std::vector<RuleMatch> matches) {
    LinkedRoute route;
    route.identity = {"ProxyRoute", "default", name, 0, {}};
    for (const auto& host : hosts) route.hostnames.push_back({*HostPattern::parse(host), {}});
    LinkedRule rule;
    rule.matches = std::move(matches);
    route.rules.push_back(rule);
    route.listeners = {0};
    config.routes.push_back(route);
    return config.routes.back();
  }
};

inline RuleMatch match(PathMatch::Type type, std::string path) {
  RuleMatch result;
  result.path.type = type;
  result.path.value = at(std::move(path));
  return result;
}
inline RuleMatch exact(std::string path) { return match(PathMatch::Type::kExact, std::move(path)); }
inline RuleMatch prefix(std::string path) { return match(PathMatch::Type::kPrefix, std::move(path)); }
inline RuleMatch pattern(std::string path) { return match(PathMatch::Type::kRegex, std::move(path)); }
inline RuleMatch any() { return match(PathMatch::Type::kNone, {}); }
inline RuleMatch with_header(RuleMatch m, std::string name, std::string value, MatchType type = MatchType::kExact) {
  m.headers.push_back({at(std::move(name)), at(std::move(value)), type});
  return m;
}
inline RuleMatch with_method(RuleMatch m, std::string method) {
  m.method = at(std::move(method));
  return m;
}
inline RuleMatch with_query(RuleMatch m, std::string name, std::string value) {
  m.query.push_back({at(std::move(name)), at(std::move(value)), MatchType::kExact});
  return m;
}

}  // namespace edge::compiler::ir
