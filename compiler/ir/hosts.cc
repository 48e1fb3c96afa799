// Computes which hosts each route serves (rule D2 and the listeners' names).
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "compiler/ir/lower.h"

namespace edge::compiler::ir {
namespace {

struct KeyHash {
  std::size_t operator()(const HostKey& key) const { return hash_bytes(key.listener, key.pattern.text()); }
};

template <typename Visit>
void for_each_host(const LinkedConfig& config, const LinkedRoute& route, Visit visit) {
  for (const std::uint32_t listener : route.listeners) {
    // A route without names serves every host of the listener, and comes after the routes that name theirs.
    if (route.hostnames.empty()) visit(HostKey{listener, HostPattern()});
    const auto& own = config.listeners[listener].hostnames;
    for (const Located<HostPattern>& name : route.hostnames) {
      if (own.empty()) visit(HostKey{listener, name.value});
      for (const Located<HostPattern>& pattern : own) {
        if (auto shared = HostPattern::intersect(name.value, pattern.value))
          visit(HostKey{listener, std::move(*shared)});
      }
    }
  }
}

}  // namespace

std::vector<HostKey> hosts_of(const LinkedConfig& config, const LinkedRoute& route) {
  std::vector<HostKey> hosts;
  for_each_host(config, route, [&hosts](HostKey key) { hosts.push_back(std::move(key)); });
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

HostRoutes collect_hosts(const LinkedConfig& config) {
  // Hashed while it grows, ordered once at the end: there are many more routes than hosts.
  std::unordered_map<HostKey, std::vector<std::uint32_t>, KeyHash> found;
  for (std::uint32_t route = 0; route < config.routes.size(); ++route) {
    for_each_host(config, config.routes[route], [&](HostKey key) {
      std::vector<std::uint32_t>& routes = found[std::move(key)];
      if (routes.empty() || routes.back() != route) routes.push_back(route);
    });
  }
  HostRoutes hosts;
  for (auto& [key, routes] : found) hosts.emplace(key, std::move(routes));
  return hosts;
}

}  // namespace edge::compiler::ir
