#include "compiler/cache/served_hosts.h"

#include <algorithm>

#include "compiler/cache/fingerprint.h"
#include "compiler/link/policies/effective_policies.h"

namespace edge::compiler {

void ServedHosts::collect(const LinkedConfig& config) {
  routes_of_ = ir::collect_hosts(config);
  in_order_.forget();
  hosts_of_.assign(config.routes.size(), {});
  for (const auto& [key, routes] : routes_of_) {
    for (const std::uint32_t route : routes) hosts_of_[route].push_back(&key);
  }
}

ServedHosts::Moved ServedHosts::move(const LinkedConfig& config, const std::vector<std::uint32_t>& routes) {
  Moved moved;
  hosts_of_.resize(std::max(hosts_of_.size(), config.routes.size()));
  for (const std::uint32_t route : routes) {
    for (const ir::HostKey* key : hosts_of_[route]) {
      std::erase(routes_of_.at(*key), route);
      moved.touched.insert(*key);
    }
    hosts_of_[route].clear();
    for (ir::HostKey& key : ir::hosts_of(config, config.routes[route])) {
      const auto [host, added] = routes_of_.try_emplace(key);
      moved.added |= added;
      if (added) in_order_.came(*host);
      host->second.insert(std::ranges::lower_bound(host->second, route), route);
      hosts_of_[route].push_back(&host->first);
      moved.touched.insert(std::move(key));
    }
  }
  for (auto key = moved.touched.begin(); key != moved.touched.end();) {
    const auto host = routes_of_.find(*key);
    if (!host->second.empty()) {
      ++key;
      continue;
    }
    in_order_.goes(*host);
    routes_of_.erase(host);
    moved.gone.insert(*key);
    key = moved.touched.erase(key);
  }
  return moved;
}

ServedHosts::Keys ServedHosts::together(const Keys& keys) const {
  Keys found = keys;
  std::vector<const ir::HostKey*> open;
  for (const ir::HostKey& key : keys) open.push_back(&key);
  std::vector<bool> seen(hosts_of_.size(), false);
  while (!open.empty()) {
    const std::vector<std::uint32_t>& routes = routes_of_.at(*open.back());
    open.pop_back();
    for (const std::uint32_t route : routes) {
      if (seen[route]) continue;
      seen[route] = true;
      for (const ir::HostKey* key : hosts_of_[route]) {
        if (found.insert(*key).second) open.push_back(key);
      }
    }
  }
  return found;
}

program::Hash host_inputs(const LinkedConfig& config, const ir::HostKey& host,
                          const std::vector<std::uint32_t>& routes) {
  Fingerprint inputs;
  const LinkedListener& listener = config.listeners[host.listener];
  inputs.add(host.pattern);
  inputs.add(listener);
  inputs.add(config.gateways[listener.gateway]);
  for (const std::uint32_t index : routes) {
    const LinkedRoute& route = config.routes[index];
    inputs.add(route);
    // Numbers say nothing of what they refer to.
    for (const LinkedRule& rule : route.rules) {
      for (const WeightedBackend& backend : rule.backends) {
        if (backend.backend) inputs.add(config.backends[*backend.backend].identity);
      }
      for (const Mirror& mirror : rule.mirrors) {
        if (mirror.backend) inputs.add(config.backends[*mirror.backend].identity);
      }
    }
    // A host names its policies and knows which deny; what they ask for stands elsewhere.
    const auto add_policies = [&](const std::vector<std::uint32_t>& policies) {
      for (const std::uint32_t number : policies) {
        const LinkedPolicy& policy = config.policies[number];
        inputs.add(policy.identity);
        inputs.add(policy.type);
        inputs.add(policy.enforced);
        inputs.add(link::replaces_backend_errors(policy));
      }
    };
    add_policies(link::effective_policies(config, host.listener, route));
    for (const LinkedRule& rule : route.rules) add_policies(rule.policies);
  }
  return inputs.take();
}

}  // namespace edge::compiler
