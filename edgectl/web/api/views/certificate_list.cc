#include "edgectl/web/api/views/certificate_list.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/times.h"
#include "net/tls/certificate_facts.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::int64_t kNotKnown = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kTlsType = "kubernetes.io/tls";

std::string secret_key(const Json& reference, const std::string& name_space) {
  const std::string& other = text_in(reference, "namespace");
  return (other.empty() ? name_space : other) + "/" + text_in(reference, "name");
}

/// The certificates that one listener's `tls` names.
void add_tls(const Json& tls, const CertificateUse& use, CertificateUses& uses) {
  for (const Json& reference : list_in(tls, "certificateRefs")) {
    const std::string& kind = text_in(reference, "kind");
    if (kind.empty() || kind == "Secret") uses.secrets[secret_key(reference, use.name_space)].push_back(use);
  }
  if (const Json& reference = member_in(tls, "secretRef"); reference.is_object()) {
    uses.secrets[secret_key(reference, use.name_space)].push_back(use);
  }
  if (const std::string& file = text_in(tls, "certFile"); !file.empty()) uses.files[file].push_back(use);
}

OrderedJson uses_json(const std::vector<CertificateUse>& uses) {
  OrderedJson list = OrderedJson::array();
  for (const CertificateUse& use : uses) {
    list.push_back({{"kind", use.kind},
                    {"plural", use.plural},
                    {"namespace", use.name_space},
                    {"name", use.name},
                    {"listener", use.listener}});
  }
  return list;
}

struct Entry {
  std::int64_t not_after = 0;  ///< 0: it cannot be read
  std::string key;
  OrderedJson json;
};

Entry entry_of(std::string source, const std::string& key, const std::vector<CertificateUse>& uses, std::string fault) {
  const std::size_t slash = source == "secret" ? key.find('/') : std::string::npos;
  OrderedJson json = {{"source", std::move(source)},
                      {"namespace", slash == std::string::npos ? std::string() : key.substr(0, slash)},
                      {"name", slash == std::string::npos ? key : key.substr(slash + 1)},
                      {"fault", std::move(fault)},
                      {"names", OrderedJson::array()},
                      {"subject", ""},
                      {"issuer", ""},
                      {"selfSigned", false},
                      {"keyType", ""},
                      {"intermediates", 0},
                      {"notBefore", ""},
                      {"notAfter", ""},
                      {"usedBy", uses_json(uses)}};
  return {0, key, std::move(json)};
}

/// Fills in what `tls.crt` of a Secret says.
void read_secret(const Json& secret, Entry& entry) {
  const auto chain = from_base64(text_in(member_in(secret, "data"), "tls.crt"));
  if (!chain || chain->empty()) {
    entry.json["fault"] = "the Secret has no tls.crt";
    return;
  }
  const auto facts = net::tls::certificate_facts(*chain);
  if (!facts) {
    entry.json["fault"] = "tls.crt: " + facts.error().text;
    return;
  }
  entry.not_after = facts->not_after;
  entry.json["names"] = facts->names;
  entry.json["subject"] = facts->subject;
  entry.json["issuer"] = facts->issuer;
  entry.json["selfSigned"] = facts->self_signed;
  entry.json["keyType"] = facts->key_type;
  entry.json["intermediates"] = facts->intermediates;
  entry.json["notBefore"] = rfc3339(facts->not_before);
  entry.json["notAfter"] = rfc3339(facts->not_after);
}

}  // namespace

CertificateUses certificate_uses(const StoreView& view) {
  CertificateUses uses;
  for (const std::string_view name : {"ProxyGateway", "Gateway", "ListenerSet"}) {
    const StoredKind* kind = view.find_kind(name);
    if (kind == nullptr) continue;
    view.each(*kind, [&](const std::string&, const StoredObject& object) {
      const Json json = parse_json(object.text);
      for (const Json& listener : list_in(member_in(json, "spec"), "listeners")) {
        const CertificateUse use{std::string(kind->kind.kind), std::string(kind->kind.plural), object.name_space,
                                 object.name, text_in(listener, "name")};
        add_tls(member_in(listener, "tls"), use, uses);
      }
    });
  }
  if (const StoredKind* kind = view.find_kind("Ingress"); kind != nullptr) {
    view.each(*kind, [&](const std::string&, const StoredObject& object) {
      const Json json = parse_json(object.text);
      for (const Json& tls : list_in(member_in(json, "spec"), "tls")) {
        const std::string& secret = text_in(tls, "secretName");
        if (secret.empty()) continue;
        uses.secrets[object.name_space + "/" + secret].push_back(
            {std::string(kind->kind.kind), std::string(kind->kind.plural), object.name_space, object.name, {}});
      }
    });
  }
  return uses;
}

OrderedJson certificates_json(const CertificateUses& uses, const std::vector<kube::Object>& secrets,
                              const std::string& fault) {
  std::map<std::string, Entry> found;
  std::size_t left_out = 0;
  for (const auto& [key, used] : uses.secrets) {
    const std::string missing = fault.empty() ? "the Secret does not exist" : "Secrets cannot be read: " + fault;
    found.emplace(key, entry_of("secret", key, used, missing));
  }
  for (const kube::Object& object : secrets) {
    const std::string key = object.key();
    auto known = found.find(key);
    // Most Secrets are not read further than to their type.
    if (known == found.end() && object.text.find(kTlsType) == std::string::npos) continue;
    const Json secret = parse_json(object.text);
    if (known == found.end()) {
      if (text_in(secret, "type") != kTlsType) continue;
      if (found.size() >= kMostCertificates) {
        ++left_out;
        continue;
      }
      known = found.emplace(key, entry_of("secret", key, {}, {})).first;
    }
    known->second.json["fault"] = "";
    read_secret(secret, known->second);
  }
  for (const auto& [path, used] : uses.files) {
    Entry entry = entry_of("file", path, used, {});
    // Agents alone read it.
    entry.not_after = kNotKnown;
    found.emplace("file " + path, std::move(entry));
  }
  std::vector<Entry> entries;
  for (auto& [key, entry] : found) entries.push_back(std::move(entry));
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return std::tie(entry.not_after, entry.key); });
  OrderedJson items = OrderedJson::array();
  for (Entry& entry : entries) items.push_back(std::move(entry.json));
  return {{"items", std::move(items)}, {"leftOut", left_out}, {"fault", fault}};
}

}  // namespace edge::edgectl::web
