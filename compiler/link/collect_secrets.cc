#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "compiler/link/effective_policies.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/secrets.h"

namespace edge::compiler::link {
namespace {

class Collector {
 public:
  Collector(const std::vector<model::Secret>& secrets, const std::vector<model::ConfigMap>& config_maps)
      : secrets_(secrets), config_maps_(config_maps) {}

  program::SecretSet take() {
    set_.sort();
    return std::move(set_);
  }

  void add(const SecretKey& named) {
    if (named.name.starts_with(model::kConfigMapPrefix)) return add_config_map(named);
    add(named.name_space, named.name, named.key);
  }
  void add(const std::vector<SecretKey>& all) {
    for (const SecretKey& named : all) add(named);
  }
  void add(const CertificateName& certificate) {
    for (const std::string_view key : {program::kCertificateKey, program::kPrivateKeyKey, program::kStapleKey}) {
      add(certificate.name_space, certificate.name, key);
    }
  }

 private:
  void add(const std::string& name_space, const std::string& name, std::string_view key) {
    const auto secret = std::lower_bound(secrets_.begin(), secrets_.end(), std::tie(name_space, name),
                                         [](const model::Secret& s, const auto& wanted) {
                                           return std::tie(s.metadata.name_space, s.metadata.name) < wanted;
                                         });
    if (secret == secrets_.end() || secret->metadata.name_space != name_space || secret->metadata.name != name) return;
    for (const model::SecretEntry& entry : secret->entries) {
      if (entry.key == key && entry.value != nullptr) keep(name_space, name, entry.key, entry.value);
    }
  }
  void add_config_map(const SecretKey& named) {
    const std::string_view name = std::string_view(named.name).substr(model::kConfigMapPrefix.size());
    for (const model::ConfigMap& map : config_maps_) {
      if (map.metadata.name_space == named.name_space && map.metadata.name == name && map.authorities != nullptr) {
        keep(named.name_space, named.name, named.key, map.authorities);
      }
    }
  }
  void keep(const std::string& name_space, const std::string& name, const std::string& key,
            std::shared_ptr<const std::string> value) {
    auto& all = set_.secrets;
    const auto [known, added] = places_.try_emplace({name_space, name}, all.size());
    if (added) all.push_back({name_space, name, {}});
    all[known->second].values.push_back({key, std::move(value)});
  }

  const std::vector<model::Secret>& secrets_;
  const std::vector<model::ConfigMap>& config_maps_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  program::SecretSet set_;
};

}  // namespace

program::SecretSet collect_secrets(const LinkedConfig& config, const std::vector<model::Secret>& secrets,
                                   const std::vector<model::ConfigMap>& config_maps) {
  Collector collector(secrets, config_maps);
  for (const LinkedListener& listener : config.listeners) {
    if (!listener.tls) continue;
    for (const CertificateName& certificate : listener.tls->certificates) collector.add(certificate);
    collector.add(listener.tls->client_authorities);
    // What they have revoked, where the Secret has it. A ConfigMap has authorities alone.
    for (const SecretKey& authority : listener.tls->client_authorities) {
      if (authority.name.starts_with(model::kConfigMapPrefix)) continue;
      collector.add({authority.name_space, authority.name, std::string(program::kRevokedKey)});
    }
  }
  for (const LinkedBackend& backend : config.backends) {
    if (!backend.tls) continue;
    collector.add(backend.tls->authorities);
    if (backend.tls->client_certificate) collector.add(*backend.tls->client_certificate);
  }
  const std::vector<bool> used = policies_in_use(config);
  for (std::size_t i = 0; i < config.policies.size(); ++i) {
    if (!used[i]) continue;
    const LinkedPolicy& policy = config.policies[i];
    if (const auto* basic = std::get_if<BasicAuthSettings>(&policy.settings)) collector.add(basic->users);
    if (const auto* oidc = std::get_if<OidcSettings>(&policy.settings)) {
      collector.add(oidc->client_secret);
      collector.add(oidc->session_secret);
      // What it was before, where the secret has it still: sessions that it sealed go on.
      collector.add({oidc->session_secret.name_space, oidc->session_secret.name, "session-secret-previous"});
    }
  }
  return collector.take();
}

}  // namespace edge::compiler::link
