// Of ValueIndex: certificates that are ordered from CAs, of the names of listeners and of those that clients have asked
// for, which are kept in Secrets.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/endpoints/value_index.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller {

namespace model = compiler::model;

std::shared_ptr<const program::NamedSecret> ValueIndex::find_bundle(const SecretName& name) const {
  const auto bundle = bundles_.find(name);
  if (bundle == bundles_.end()) return nullptr;
  program::NamedSecret named{name.first, name.second, {}};
  for (const std::string& host : bundle->second.hosts) {
    const model::Secret* const secret = held_secret({name.first, program::certificate_secret_of(host)});
    if (secret == nullptr) continue;
    for (const model::SecretEntry& entry : secret->entries) {
      const bool used = entry.key == program::kCertificateKey || entry.key == program::kPrivateKeyKey ||
                        entry.key == program::kStapleKey;
      if (used && entry.value != nullptr) {
        named.values.push_back({program::ordered_value_key(host, entry.key), entry.value});
      }
    }
  }
  if (bundle->second.patterns != nullptr) {
    named.values.push_back({std::string(program::kOnDemandKey), bundle->second.patterns});
  }
  if (named.values.empty()) return nullptr;
  std::ranges::sort(named.values, {}, &program::SecretValue::key);
  return std::make_shared<const program::NamedSecret>(std::move(named));
}

void ValueIndex::follow_ordered(const compiler::LinkedConfig& config) {
  ordered_base_ = compiler::ordered_certificates(config);
  on_demand_.clear();
  for (std::size_t i = 0; i < ordered_base_.bundles.size(); ++i) {
    const compiler::OrderedBundle& bundle = ordered_base_.bundles[i];
    if (bundle.on_demand) on_demand_[{bundle.name_space, program::on_demand_secret_of(bundle.name)}] = i;
  }
  compose_ordered();
}

/// The names of a listener that its configuration allows still, the last used first up to its bound.
std::vector<std::string> ValueIndex::names_on_demand(const compiler::OrderedBundle& bundle) const {
  const model::Secret* const secret = held_secret({bundle.name_space, program::on_demand_secret_of(bundle.name)});
  if (secret == nullptr) return {};
  const auto value = std::ranges::find(secret->entries, program::kOnDemandNamesKey, &model::SecretEntry::key);
  if (value == secret->entries.end() || value->value == nullptr) return {};
  const nlohmann::json names = parse_json(*value->value);
  std::vector<std::pair<std::int64_t, std::string>> used;
  if (!names.is_object()) return {};
  for (const auto& [host, time] : names.items()) {
    const auto pattern = HostPattern::parse(host);
    if (!time.is_number_integer() || !pattern || pattern->text() != host || pattern->wildcard()) continue;
    if (bundle.may_have(host)) used.emplace_back(-time.get<std::int64_t>(), host);
  }
  std::ranges::sort(used);
  if (used.size() > bundle.on_demand->max_names) used.resize(bundle.on_demand->max_names);
  std::vector<std::string> hosts;
  for (auto& [time, host] : used) hosts.push_back(std::move(host));
  return hosts;
}

void ValueIndex::compose_ordered() {
  bundles_.clear();
  bundles_of_secret_.clear();
  std::map<std::pair<std::string, std::string>, compiler::OrderedCertificate> ordered;
  for (const compiler::OrderedCertificate& one : ordered_base_.certificates)
    ordered.emplace(std::pair(one.name_space, one.host), one);
  for (const compiler::OrderedBundle& bundle : ordered_base_.bundles) {
    const SecretName name{bundle.name_space, bundle.name};
    Bundle& composed = bundles_[name];
    composed.hosts = bundle.hosts;
    if (bundle.on_demand) {
      std::string patterns;
      for (const std::string& pattern : bundle.on_demand->allow) patterns += pattern + "\n";
      if (!bundle.on_demand->ask_url.empty()) patterns = "*\n";
      composed.patterns = std::make_shared<const std::string>(std::move(patterns));
      for (std::string& host : names_on_demand(bundle)) {
        compiler::OrderedCertificate certificate = bundle.on_demand_certificate;
        certificate.host = host;
        ordered.try_emplace({bundle.name_space, host}, std::move(certificate));
        if (std::ranges::find(composed.hosts, host) == composed.hosts.end()) composed.hosts.push_back(std::move(host));
      }
    }
    for (const std::string& host : composed.hosts) {
      bundles_of_secret_[{name.first, program::certificate_secret_of(host)}].insert(name);
    }
  }
  auto made = std::make_shared<compiler::OrderedCertificates>();
  made->bundles = ordered_base_.bundles;
  for (auto& [name, certificate] : ordered) made->certificates.push_back(std::move(certificate));
  ordered_ = std::move(made);
}

}  // namespace edge::controller
