#include "compiler/link/ordered_certificates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/ip.h"
#include "program/values/ordered_certificates.h"

namespace edge::compiler {
namespace {

bool validated(const AcmeSettings& settings, const HostPattern& host) {
  if (host.any() || parse_ip(host.text())) return false;
  const auto& kinds = settings.challenges;
  return !host.wildcard() || std::ranges::find(kinds, ChallengeKind::kDns01) != kinds.end();
}

std::set<std::string> hosts_of(const LinkedConfig& config, std::uint32_t index) {
  const LinkedListener& listener = config.listeners[index];
  const AcmeSettings& settings = *listener.tls->acme;
  std::set<std::string> hosts;
  const auto add = [&](const std::vector<Located<HostPattern>>& patterns) {
    for (const Located<HostPattern>& host : patterns) {
      if (validated(settings, host.value) && hosts.size() < kMostOrderedNames) hosts.insert(host->text());
    }
  };
  add(listener.hostnames);
  if (!listener.hostnames.empty()) return hosts;
  for (const LinkedRoute& route : config.routes) {
    if (std::ranges::binary_search(route.listeners, index)) add(route.hostnames);
  }
  return hosts;
}

AnsweringListener answering(const LinkedConfig& config, const LinkedListener& listener) {
  const Identity& gateway = config.gateways[listener.gateway].identity;
  return {stable_id(gateway.kind, gateway.name_space, gateway.name), gateway.name_space + "/" + gateway.name,
          listener.name};
}

std::vector<AnsweringListener> http_listeners(const LinkedConfig& config, std::uint32_t gateway) {
  constexpr std::uint16_t kHttpPort = 80;
  std::vector<AnsweringListener> own, others, elsewhere;
  for (const LinkedListener& listener : config.listeners) {
    if (listener.protocol != program::Protocol::kHttp) continue;
    const bool at_port = listener.port == kHttpPort;
    if (listener.gateway == gateway) {
      (at_port ? own : others).push_back(answering(config, listener));
    } else if (at_port) {
      elsewhere.push_back(answering(config, listener));
    }
  }
  if (!own.empty()) return own;
  return others.empty() ? elsewhere : others;
}

}  // namespace

bool OrderedBundle::may_have(const std::string& host) const {
  if (!on_demand || host.find('.') == std::string::npos || parse_ip(host)) return false;
  const auto matches = [&host](const HostPattern& pattern) { return pattern.matches(host); };
  if (!hostnames.empty() && std::ranges::none_of(hostnames, matches)) return false;
  return !on_demand->ask_url.empty() || !listed_by(host).empty();
}

std::string_view OrderedBundle::listed_by(const std::string& host) const {
  if (!on_demand) return {};
  const auto found = std::ranges::find_if(on_demand->allow, [&host](const std::string& text) {
    const auto pattern = HostPattern::parse(text);
    return pattern && pattern->matches(host);
  });
  return found == on_demand->allow.end() ? std::string_view() : std::string_view(*found);
}

OrderedCertificates ordered_certificates(const LinkedConfig& config) {
  struct Claim {
    std::int64_t created = 0;
    OrderedCertificate certificate;
  };
  OrderedCertificates ordered;
  std::map<std::pair<std::string, std::string>, Claim> claims;
  std::map<std::uint32_t, std::vector<AnsweringListener>> http;  // by gateway
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    const LinkedListener& listener = config.listeners[i];
    if (!listener.tls || !listener.tls->acme || listener.tls->certificates.empty()) continue;
    const Identity& gateway = config.gateways[listener.gateway].identity;
    const CertificateName& name = listener.tls->certificates.front();
    OrderedBundle& bundle = ordered.bundles.emplace_back(OrderedBundle{name.name_space, name.name, {}});
    auto& plain = http[listener.gateway];
    if (plain.empty()) plain = http_listeners(config, listener.gateway);
    if (listener.tls->on_demand) {
      bundle.on_demand = listener.tls->on_demand;
      bundle.on_demand_certificate = {name.name_space,     {},    gateway.name_space + "/" + gateway.name,
                                      *listener.tls->acme, plain, {answering(config, listener)}};
      for (const auto& pattern : listener.hostnames) bundle.hostnames.push_back(pattern.value);
    }
    for (const std::string& host : hosts_of(config, i)) {
      bundle.hosts.push_back(host);
      Claim claim{gateway.created,
                  {name.name_space, host, gateway.name_space + "/" + gateway.name, *listener.tls->acme, plain, {}}};
      const auto [known, added] = claims.try_emplace({name.name_space, host}, claim);
      const auto order = [](const Claim& one) { return std::tie(one.created, one.certificate.gateway); };
      std::vector<AnsweringListener> shown = std::move(known->second.certificate.tls_listeners);
      shown.push_back(answering(config, listener));
      if (!added && order(claim) < order(known->second)) known->second = std::move(claim);
      known->second.certificate.tls_listeners = std::move(shown);
    }
  }
  for (auto& [key, claim] : claims) ordered.certificates.push_back(std::move(claim.certificate));
  return ordered;
}

}  // namespace edge::compiler
