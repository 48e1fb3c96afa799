#include "compiler/link/ordered_certificates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

}  // namespace

OrderedCertificates ordered_certificates(const LinkedConfig& config) {
  struct Claim {
    std::int64_t created = 0;
    OrderedCertificate certificate;
  };
  OrderedCertificates ordered;
  std::map<std::pair<std::string, std::string>, Claim> claims;
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    const LinkedListener& listener = config.listeners[i];
    if (!listener.tls || !listener.tls->acme || listener.tls->certificates.empty()) continue;
    const Identity& gateway = config.gateways[listener.gateway].identity;
    const CertificateName& name = listener.tls->certificates.front();
    OrderedBundle& bundle = ordered.bundles.emplace_back(OrderedBundle{name.name_space, name.name, {}});
    for (const std::string& host : hosts_of(config, i)) {
      bundle.hosts.push_back(host);
      Claim claim{gateway.created,
                  {name.name_space, host, gateway.name_space + "/" + gateway.name, *listener.tls->acme}};
      const auto [known, added] = claims.try_emplace({name.name_space, host}, claim);
      const auto order = [](const Claim& one) { return std::tie(one.created, one.certificate.gateway); };
      if (!added && order(claim) < order(known->second)) known->second = std::move(claim);
    }
  }
  for (auto& [key, claim] : claims) ordered.certificates.push_back(std::move(claim.certificate));
  return ordered;
}

}  // namespace edge::compiler
