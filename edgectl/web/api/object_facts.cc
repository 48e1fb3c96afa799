#include "edgectl/web/api/object_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/redact.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostConditions = 1024;

/// Conditions that are good when `True`.
constexpr std::array<std::string_view, 8> kGoodTypes = {"Accepted", "Programmed", "ResolvedRefs", "Ready",
                                                        "Healthy",  "Available",  "Connected",    "Announced"};
/// Conditions that are good when `False`.
constexpr std::array<std::string_view, 8> kBadTypes = {
    "Shadowed", "Conflicted", "Degraded", "PartiallyInvalid", "OverlappingTLSConfig", "Expired", "Drained", "Rejected"};

void add_list(const Json& conditions, const std::string& of, std::vector<Condition>& out) {
  if (!conditions.is_array()) return;
  for (const Json& one : conditions) {
    if (out.size() == kMostConditions) return;
    out.push_back({.of = of,
                   .type = text_in(one, "type"),
                   .status = text_in(one, "status"),
                   .reason = text_in(one, "reason"),
                   .message = text_in(one, "message"),
                   .since = text_in(one, "lastTransitionTime")});
    // Messages quote values that were refused.
    redact_user_information(out.back().message);
  }
}

/// Returns what an entry of `parents`, `ancestors` or `listeners` is about.
std::string name_of_entry(const Json& entry) {
  std::string name = text_in(entry, "name");
  if (name.empty()) name = text_in(entry, "gateway");
  for (const char* ref : {"parentRef", "ancestorRef"}) {
    const Json& of = member_in(entry, ref);
    if (name.empty()) name = text_in(of, "name");
    if (const std::string& section = text_in(of, "sectionName"); !section.empty()) name += "/" + section;
  }
  return name;
}

Health health_of(const Condition& condition) {
  const bool good_when_true = std::ranges::find(kGoodTypes, condition.type) != kGoodTypes.end();
  const bool good_when_false = std::ranges::find(kBadTypes, condition.type) != kBadTypes.end();
  if (!good_when_true && !good_when_false) return Health::kUnknown;
  if (condition.status == "Unknown") return Health::kPending;
  if (good_when_true) return condition.status == "True" ? Health::kGood : Health::kBad;
  return condition.status == "True" ? Health::kWarning : Health::kGood;
}

/// The kind that a field refers to where it names none.
std::string implied_kind(std::string_view field, std::string_view of_kind) {
  const bool own = of_kind.starts_with("Proxy");
  if (field == "parentRefs") return own ? "ProxyGateway" : "Gateway";
  if (field == "gatewayRefs") return "ProxyGateway";
  if (field == "backendRef" || field == "backendRefs") return own ? "ProxyBackend" : "Service";
  if (field == "vipRef") return "ProxyVIP";
  if (field == "serviceRef") return "Service";
  if (field == "siteRef" || field == "siteRefs") return "Site";
  if (field == "linkRefs") return "WANLink";
  if (field == "remoteClusterRef") return "EdgeRemoteCluster";
  if (field == "configMapRef") return "ConfigMap";
  if (field == "caCertificateRef" || field == "caCertificateRefs") return own ? "Secret" : "ConfigMap";
  const bool secret = field.ends_with("ecretRef") || field == "secretRefs" || field == "secretKeyRef" ||
                      field.ends_with("ertificateRef") || field.ends_with("ertificateRefs");
  return secret ? "Secret" : std::string();
}

bool is_reference(std::string_view field) { return field.ends_with("Ref") || field.ends_with("Refs"); }

class References {
 public:
  explicit References(const Json& object)
      : kind_(text_in(object, "kind")), name_space_(text_in(member_in(object, "metadata"), "namespace")) {}

  void walk(const Json& value) {
    if (value.is_array()) {
      for (const Json& inner : value) walk(inner);
    } else if (value.is_object()) {
      for (const auto& [field, inner] : value.items()) {
        if (is_reference(field)) add_all(field, inner);
        if (field == "service" && inner.is_object()) add("service", "Service", {}, text_in(inner, "name"));
        if (field == "gatewayClassName") add(field, "GatewayClass", {}, text_value(inner));
        if (field == "ingressClassName") add(field, "IngressClass", {}, text_value(inner));
        walk(inner);
      }
    }
  }

  std::vector<Reference> take() {
    std::ranges::sort(found_);
    const auto twice = std::ranges::unique(found_);
    found_.erase(twice.begin(), twice.end());
    return std::move(found_);
  }

 private:
  void add_all(const std::string& field, const Json& value) {
    if (value.is_array()) {
      for (const Json& one : value) add_one(field, one);
    } else {
      add_one(field, value);
    }
  }

  void add_one(const std::string& field, const Json& value) {
    std::string kind = text_in(value, "kind");
    if (kind.empty()) kind = implied_kind(field, kind_);
    if (kind.empty()) return;
    const std::string& name = value.is_string() ? text_value(value) : text_in(value, "name");
    add(field, std::move(kind), text_in(value, "namespace"), name);
  }

  void add(const std::string& field, std::string kind, std::string name_space, std::string name) {
    if (name.empty() || found_.size() >= kMostReferences) return;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      name_space = name.substr(0, slash);
      name.erase(0, slash + 1);
    }
    const bool of_cluster = kind == "GatewayClass" || kind == "IngressClass" || kind == "Namespace";
    if (of_cluster) {
      name_space.clear();
    } else if (name_space.empty()) {
      name_space = name_space_;
    }
    found_.push_back({std::move(kind), std::move(name_space), std::move(name), field});
  }

  const std::string& kind_;
  const std::string& name_space_;
  std::vector<Reference> found_;
};

}  // namespace

std::string_view word_of(Health health) {
  switch (health) {
    case Health::kGood:
      return "good";
    case Health::kPending:
      return "pending";
    case Health::kWarning:
      return "warning";
    case Health::kBad:
      return "bad";
    case Health::kUnknown:
      break;
  }
  return "unknown";
}

std::vector<Condition> conditions_of(const Json& object) {
  std::vector<Condition> out;
  const Json& status = member_in(object, "status");
  add_list(member_in(status, "conditions"), {}, out);
  for (const char* list : {"parents", "ancestors", "listeners"}) {
    for (const Json& entry : list_in(status, list)) {
      add_list(member_in(entry, "conditions"), name_of_entry(entry), out);
    }
  }
  return out;
}

Verdict verdict_of(const std::vector<Condition>& conditions) {
  Verdict verdict;
  for (const Condition& condition : conditions) {
    const Health health = health_of(condition);
    if (health <= verdict.health) continue;
    verdict.health = health;
    if (health < Health::kPending) continue;
    verdict.problem = condition.type;
    // Many reasons repeat the type.
    if (condition.reason != condition.type) verdict.problem += ": " + condition.reason;
    if (!condition.message.empty()) verdict.problem += ": " + condition.message;
  }
  return verdict;
}

std::vector<Reference> references_of(const Json& object) {
  References references(object);
  references.walk(member_in(object, "spec"));
  return references.take();
}

}  // namespace edge::edgectl::web
