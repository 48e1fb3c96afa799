#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "compiler/link/backends/values.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/link/secrets.h"
#include "program/values/address_list.h"

namespace edge::compiler::link {
namespace {

class Names {
 public:
  std::vector<SecretKey> take() { return std::move(names_); }

  void add(SecretKey named) { names_.push_back(std::move(named)); }
  void add(const std::vector<SecretKey>& all) { names_.insert(names_.end(), all.begin(), all.end()); }
  void add(const CertificateName& certificate) {
    for (const std::string_view key : {program::kCertificateKey, program::kPrivateKeyKey, program::kStapleKey}) {
      add({certificate.name_space, certificate.name, std::string(key)});
    }
  }

 private:
  std::vector<SecretKey> names_;
};

class Collector {
 public:
  Collector(std::vector<model::Secret> secrets, std::vector<model::ConfigMap> config_maps)
      : secrets_(std::move(secrets)), config_maps_(std::move(config_maps)) {
    Diagnostics unheard(0);  // link() reported the doubles
    sort_and_drop_doubles(secrets_, unheard);
    sort_and_drop_doubles(config_maps_, unheard);
  }

  program::SecretSet take() {
    set_.sort();
    return std::move(set_);
  }

  void add(const SecretKey& named) {
    if (named.name.starts_with(model::kConfigMapPrefix)) return add_config_map(named);
    const auto secret = std::lower_bound(secrets_.begin(), secrets_.end(), std::tie(named.name_space, named.name),
                                         [](const model::Secret& s, const auto& wanted) {
                                           return std::tie(s.metadata.name_space, s.metadata.name) < wanted;
                                         });
    if (secret == secrets_.end() || secret->metadata.name_space != named.name_space ||
        secret->metadata.name != named.name) {
      return;
    }
    for (const model::SecretEntry& entry : secret->entries) {
      if (entry.key == named.key && entry.value != nullptr) keep(named, entry.value);
    }
  }

 private:
  void add_config_map(const SecretKey& named) {
    const std::string_view name = std::string_view(named.name).substr(model::kConfigMapPrefix.size());
    for (const model::ConfigMap& map : config_maps_) {
      if (map.metadata.name_space != named.name_space || map.metadata.name != name) continue;
      const auto& value = named.key == program::kNetworksKey ? map.networks : map.authorities;
      if (value != nullptr) keep(named, value);
    }
  }
  void keep(const SecretKey& named, std::shared_ptr<const std::string> value) {
    auto& all = set_.secrets;
    const auto [known, added] = places_.try_emplace({named.name_space, named.name}, all.size());
    if (added) all.push_back({named.name_space, named.name, {}});
    all[known->second].values.push_back({named.key, std::move(value)});
  }

  std::vector<model::Secret> secrets_;
  std::vector<model::ConfigMap> config_maps_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  program::SecretSet set_;
};

}  // namespace

std::vector<SecretKey> secret_names(const LinkedConfig& config) {
  Names names;
  for (const LinkedListener& listener : config.listeners) {
    if (!listener.tls) continue;
    for (const CertificateName& certificate : listener.tls->certificates) names.add(certificate);
    names.add(listener.tls->client_authorities);
    // What they have revoked, where the Secret has it. A ConfigMap has authorities alone.
    for (const SecretKey& authority : listener.tls->client_authorities) {
      if (authority.name.starts_with(model::kConfigMapPrefix)) continue;
      const bool clusters = authority.name == program::kClusterSecretName;
      names.add({authority.name_space, authority.name,
                 std::string(clusters ? program::kClusterPeersKey : program::kRevokedKey)});
    }
  }
  for (const LinkedBackend& backend : config.backends) {
    for (const LinkedCluster& cluster : backend.failover.clusters) {
      names.add(cluster.tls.authorities);
      names.add(*cluster.tls.client_certificate);
      // By whom `*` is known.
      names.add({std::string(program::kClusterSecretSpace), std::string(program::kClusterSecretName),
                 std::string(program::kClusterPeersKey)});
    }
    if (!backend.tls) continue;
    names.add(backend.tls->authorities);
    if (backend.tls->client_certificate) names.add(*backend.tls->client_certificate);
  }
  const std::vector<bool> used = policies_in_use(config);
  for (std::size_t i = 0; i < config.policies.size(); ++i) {
    if (!used[i]) continue;
    const LinkedPolicy& policy = config.policies[i];
    if (const auto* access = std::get_if<IpAccessSettings>(&policy.settings)) {
      names.add(access->allow.lists);
      names.add(access->deny.lists);
    }
    if (const auto* jwt = std::get_if<JwtSettings>(&policy.settings)) {
      for (const JwtIssuer& issuer : jwt->issuers) {
        if (!issuer.secret.name.empty()) names.add(issuer.secret);
      }
    }
    if (const auto* key = std::get_if<ApiKeySettings>(&policy.settings)) names.add(key->keys);
    if (const auto* basic = std::get_if<BasicAuthSettings>(&policy.settings)) names.add(basic->users);
    if (const auto* oidc = std::get_if<OidcSettings>(&policy.settings)) {
      names.add(oidc->client_secret);
      names.add(oidc->session_secret);
      // What it was before, where the secret has it still: sessions that it sealed go on.
      names.add({oidc->session_secret.name_space, oidc->session_secret.name, "session-secret-previous"});
    }
  }
  return names.take();
}

program::SecretSet collect_secrets(const LinkedConfig& config, const model::ResourceSet& resources) {
  Collector collector(resources.secrets, resources.config_maps);
  for (const SecretKey& named : secret_names(config)) collector.add(named);
  return collector.take();
}

}  // namespace edge::compiler::link
