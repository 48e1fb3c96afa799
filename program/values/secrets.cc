#include "program/values/secrets.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/json_sax.h"
#include "program/format/records.h"
#include "program/json_events.h"

namespace edge::program {
namespace {

constexpr std::size_t kMaxSecretsBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxSecrets = 100'000;

class SecretsReader : public JsonEvents {
 public:
  SecretSet take() { return std::move(set_); }

  bool start_object(std::size_t) override {
    switch (position_) {
      case Level::kStart:
        return enter(Level::kRoot);
      case Level::kSecrets:
        if (set_.secrets.size() == kMaxSecrets) return fail("more than 100,000 secrets");
        set_.secrets.emplace_back();
        return enter(Level::kSecret);
      case Level::kSecret:
        return at() == "data" ? enter(Level::kData) : unexpected("an object");
      default:
        return unexpected("an object");
    }
  }
  bool end_object() override {
    switch (position_) {
      case Level::kData:
        return enter(Level::kSecret);
      case Level::kSecret:
        if (set_.secrets.back().name_space.empty() || set_.secrets.back().name.empty()) {
          return fail("a secret needs `namespace` and `name`");
        }
        return enter(Level::kSecrets);
      default:
        return enter(Level::kEnd);
    }
  }
  bool key(string_t& name) override {
    const bool known = position_ == Level::kData || (position_ == Level::kRoot && name == "secrets") ||
                       (position_ == Level::kSecret && (name == "namespace" || name == "name" || name == "data"));
    return take_key(name, known);
  }
  bool start_array(std::size_t) override {
    return position_ == Level::kRoot ? enter(Level::kSecrets) : unexpected("a list");
  }
  bool end_array() override { return enter(Level::kRoot); }
  bool string(string_t& text) override {
    if (position_ == Level::kData) return add(text);
    if (position_ == Level::kSecret && at() == "namespace") return set_.secrets.back().name_space = text, true;
    if (position_ == Level::kSecret && at() == "name") return set_.secrets.back().name = text, true;
    return unexpected("a string");
  }

 private:
  enum class Level { kStart, kRoot, kSecrets, kSecret, kData, kEnd };

  bool add(const std::string& text) {
    auto value = from_base64(text);
    if (!value) return fail("the value of `" + at().substr(0, kShown) + "` is not base64");
    set_.secrets.back().values.push_back({at(), std::make_shared<const std::string>(*std::move(value))});
    return true;
  }
  bool enter(Level position) {
    position_ = position;
    return true;
  }

  SecretSet set_;
  Level position_ = Level::kStart;
};

bool before(const NamedSecret& a, const NamedSecret& b) {
  return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
}

}  // namespace

const std::string* SecretSet::find(std::string_view name_space, std::string_view name, std::string_view key) const {
  const auto named = std::tuple(name_space, name);
  const auto secret = std::lower_bound(secrets.begin(), secrets.end(), named, [](const NamedSecret& s, const auto& n) {
    return std::tuple<std::string_view, std::string_view>(s.name_space, s.name) < n;
  });
  if (secret == secrets.end() || secret->name_space != name_space || secret->name != name) return nullptr;
  const auto value = std::find_if(secret->values.begin(), secret->values.end(),
                                  [&](const SecretValue& candidate) { return candidate.key == key; });
  return value == secret->values.end() ? nullptr : value->value.get();
}

const std::string* SecretSet::find(const SectionView& section, const SecretRecord& record, std::string_view key) const {
  const std::string_view own = section.string(record.key);
  return find(section.string(record.name_space), section.string(record.name), own.empty() ? key : own);
}

void SecretSet::sort() {
  std::stable_sort(secrets.begin(), secrets.end(), before);
  const auto same = [](const NamedSecret& a, const NamedSecret& b) { return !before(a, b) && !before(b, a); };
  secrets.erase(std::unique(secrets.begin(), secrets.end(), same), secrets.end());
  for (NamedSecret& secret : secrets) {
    auto& values = secret.values;
    std::stable_sort(values.begin(), values.end(),
                     [](const SecretValue& a, const SecretValue& b) { return a.key < b.key; });
    values.erase(std::unique(values.begin(), values.end(),
                             [](const SecretValue& a, const SecretValue& b) { return a.key == b.key; }),
                 values.end());
  }
}

Result<SecretSet> read_secrets(std::string_view json) {
  const auto invalid = [](const std::string& what) { return Error{ErrorCode::kInvalidArgument, "secrets: " + what}; };
  if (json.size() > kMaxSecretsBytes) return invalid("larger than 256 MiB");
  SecretsReader reader;
  if (!parse_events(json, reader)) return invalid(reader.fault());
  SecretSet set = reader.take();
  const std::size_t count = set.secrets.size();
  set.sort();
  if (set.secrets.size() != count) return invalid("a secret stands twice");
  return set;
}

std::string write_secrets(const SecretSet& secrets) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NamedSecret& secret : secrets.secrets) {
    nlohmann::ordered_json data = nlohmann::ordered_json::object();
    for (const SecretValue& value : secret.values) data[value.key] = to_base64(*value.value);
    list.push_back({{"namespace", secret.name_space}, {"name", secret.name}, {"data", std::move(data)}});
  }
  const nlohmann::ordered_json document = {{"secrets", std::move(list)}};
  return indented_json(document, 1);
}

SecretSet named_by(const SectionView& listeners, const SectionView& backends, const SectionView& policies,
                   const SecretSet& all) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  const auto add = [&names](const SectionView& section, std::span<const SecretRecord> records) {
    for (const SecretRecord& record : records) {
      names.emplace(section.string(record.name_space), section.string(record.name));
    }
  };
  for (const ListenerRecord& listener : listeners.array(listeners.header<ListenersHeader>().listeners)) {
    for (const ListenerTlsRecord& tls : listeners.array(listener.tls)) {
      add(listeners, listeners.array(tls.certificates));
      add(listeners, listeners.array(tls.client_authorities));
    }
  }
  for (const BackendRecord& backend : backends.array(backends.header<BackendsHeader>().backends)) {
    for (const BackendTlsRecord& tls : backends.array(backend.tls)) {
      add(backends, backends.array(tls.authorities));
      add(backends, backends.array(tls.client_certificate));
    }
  }
  for (const ClusterRefRecord& cluster : backends.array(backends.header<BackendsHeader>().clusters)) {
    for (const BackendTlsRecord& tls : backends.array(cluster.tls)) {
      add(backends, backends.array(tls.authorities));
      add(backends, backends.array(tls.client_certificate));
    }
  }
  const auto& header = policies.header<PoliciesHeader>();
  for (const IpAccessRecord& access : policies.array(header.ip_accesses)) {
    add(policies, policies.array(access.allow.lists));
    add(policies, policies.array(access.deny.lists));
  }
  for (const BasicAuthRecord& basic : policies.array(header.basic_auths)) add(policies, {&basic.users, 1});
  for (const JwtRecord& jwt : policies.array(header.jwts)) {
    for (const JwtIssuerRecord& issuer : policies.array(jwt.issuers)) {
      if (issuer.keys == JwtKeys::kSecret || issuer.keys == JwtKeys::kShared) add(policies, {&issuer.secret, 1});
    }
  }
  for (const ApiKeyRecord& key : policies.array(header.api_keys)) add(policies, policies.array(key.keys));
  for (const OidcRecord& oidc : policies.array(header.oidcs)) {
    add(policies, {&oidc.client_secret, 1});
    add(policies, {&oidc.session_secret, 1});
  }
  SecretSet named;
  for (const NamedSecret& secret : all.secrets) {
    if (names.contains({secret.name_space, secret.name})) named.secrets.push_back(secret);
  }
  return named;
}

}  // namespace edge::program
