#include "compiler/link/secrets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "program/values/address_list.h"

namespace edge::compiler::link {
namespace {

const model::SecretEntry* find_entry(const model::Secret& secret, std::string_view key) {
  const auto found = std::find_if(secret.entries.begin(), secret.entries.end(),
                                  [&](const model::SecretEntry& entry) { return entry.key == key; });
  return found == secret.entries.end() ? nullptr : &*found;
}

/// Empty: it holds what is needed.
std::string unfitness(const model::Secret& secret, const SecretNeed& need) {
  if (!need.type.empty() && secret.type != need.type) {
    return "is of type `" + secret.type.substr(0, 60) + "`, not `" + std::string(need.type) + "`";
  }
  const model::SecretEntry* entry = find_entry(secret, need.key);
  const std::string key = "`" + std::string(need.key) + "`";
  if (entry == nullptr) return "has no key " + key;
  if (entry->size == 0) return "has nothing under its key " + key;
  if (need.size != 0 && entry->size != need.size) {
    return "holds " + std::to_string(entry->size) + " bytes under " + key + " where " + std::to_string(need.size) +
           " are needed";
  }
  if (!need.pem.empty() && entry->value != nullptr && !has_pem(*entry->value, need.pem)) {
    return "has no PEM block `" + std::string(need.pem) + "` under its key " + key;
  }
  return {};
}

/// ` has no ...`, or why a controller has left the value out.
std::string lack(const model::ConfigMap& map, std::string_view key, std::string_view what) {
  const auto value = std::ranges::find(map.values, key, &model::ConfigMapValue::key);
  const bool unread = value != map.values.end() && !value->unread.empty();
  if (unread) return " has under its key `" + std::string(key) + "` a value that " + value->unread;
  return " has no " + std::string(what) + "`" + std::string(key) + "`";
}

}  // namespace

std::string blotted(const model::SecretEntry& entry) {
  if (entry.size == 0 || entry.value == nullptr) return std::string(entry.size, 'x');
  std::string value;
  for (const std::string_view label : {kCertificateNeed.pem, kPrivateKeyNeed.pem}) {
    if (!has_pem(*entry.value, label)) continue;
    value += (value.empty() ? "-----BEGIN " : "") + std::string(label) + "-----";
  }
  if (!value.empty()) value += "-----END ";
  // No other is asked for its size.
  value.resize(entry.key == kSessionSecretNeed.key ? entry.size : std::max<std::size_t>(value.size(), 1), 'x');
  return value;
}

bool has_pem(std::string_view text, std::string_view label) {
  const std::string end_of_line = std::string(label) + "-----";
  const std::size_t begin = text.find("-----BEGIN ");
  if (begin == std::string_view::npos) return false;
  const std::size_t named = text.find(end_of_line, begin);
  return named != std::string_view::npos && text.find("-----END ", named) != std::string_view::npos;
}

SecretFault check_secret(const model::Metadata& from, const model::Reference& reference,
                         const std::vector<SecretNeed>& needs, const std::string& field, const SecretTable& table,
                         Findings& findings) {
  const Resolved found = table.names.resolve(from, "Secret", reference, [&] { return field + ".name"; }, findings);
  if (found.fault == ReferenceFault::kNotPermitted) return SecretFault::kNotPermitted;
  if (!found) return SecretFault::kNotFound;
  const model::Secret& secret = table.secrets[found.position];
  for (const SecretNeed& need : needs) {
    const std::string what = unfitness(secret, need);
    if (what.empty()) continue;
    findings.diagnostics.add({.code = DiagnosticCode::kUnfitSecret,
                              .resource = from.text(),
                              .field = field + ".name",
                              .span = reference.name.span,
                              .message = secret.metadata.text() + " " + what,
                              .labels = {{secret.metadata.span, "the secret"}}});
    return SecretFault::kUnfit;
  }
  return SecretFault::kNone;
}

SecretFault check_config_map_authority(const model::Metadata& from, const model::Reference& reference,
                                       const std::string& field, const SecretTable& table, Findings& findings) {
  if (table.config_maps == nullptr) return SecretFault::kNotFound;
  model::Reference named = reference;
  named.name.value.erase(0, model::kConfigMapPrefix.size());
  const Resolved found = table.config_map_names->resolve(from, "ConfigMap", named, [&] { return field; }, findings);
  if (found.fault == ReferenceFault::kNotPermitted) return SecretFault::kNotPermitted;
  if (!found) return SecretFault::kNotFound;
  const model::ConfigMap& map = (*table.config_maps)[found.position];
  if (map.authorities != nullptr && has_pem(*map.authorities, kAuthorityNeed.pem)) return SecretFault::kNone;
  findings.diagnostics.add({.code = DiagnosticCode::kUnfitSecret,
                            .resource = from.text(),
                            .field = field,
                            .span = reference.name.span,
                            .message = map.metadata.text() + lack(map, kAuthorityKey, "certificates under a key "),
                            .labels = {{map.metadata.span, "the ConfigMap"}}});
  return SecretFault::kUnfit;
}

SecretFault check_config_map_networks(const model::Metadata& from, const model::Reference& reference,
                                      const std::string& field, const SecretTable& table, Findings& findings) {
  if (table.config_maps == nullptr) return SecretFault::kNotFound;
  const Resolved found =
      table.config_map_names->resolve(from, "ConfigMap", reference, [&] { return field + ".name"; }, findings);
  if (found.fault == ReferenceFault::kNotPermitted) return SecretFault::kNotPermitted;
  if (!found) return SecretFault::kNotFound;
  const model::ConfigMap& map = (*table.config_maps)[found.position];
  std::string what = lack(map, program::kNetworksKey, "key ");
  if (map.networks != nullptr) {
    const Result<std::vector<Cidr>> networks = program::read_address_list(*map.networks);
    if (networks) return SecretFault::kNone;
    what = ": " + std::string(program::kNetworksKey) + ", " + networks.error().text;
  }
  findings.diagnostics.add({.code = DiagnosticCode::kUnfitSecret,
                            .resource = from.text(),
                            .field = field + ".name",
                            .span = reference.name.span,
                            .message = map.metadata.text() + what,
                            .labels = {{map.metadata.span, "the ConfigMap"}},
                            .notes = {"a list is used as a whole or not at all: what the policy protects is refused"}});
  return SecretFault::kUnfit;
}

std::string blotted_networks(const std::string& text) {
  if (program::read_address_list(text)) return {};
  return text;
}

SecretKey secret_key(const model::Metadata& from, const model::Reference& reference, std::string_view key) {
  return {.name_space = reference.name_space.empty() ? from.name_space : reference.name_space,
          .name = reference.name.value,
          .key = std::string(key)};
}

}  // namespace edge::compiler::link
