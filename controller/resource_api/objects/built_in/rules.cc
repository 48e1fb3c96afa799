// Validation rules of built-in kinds beyond their schemas, as far as the proxy and its clients depend on them.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/built_in/built_in.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::size_t kMaxSecretBytes = std::size_t{1} << 20;

/// In kinds with types null is the same as absent.
void drop_nulls(Json& value) {
  if (value.is_object()) {
    for (auto at = value.begin(); at != value.end();) {
      if (at->is_null()) {
        at = value.erase(at);
      } else {
        drop_nulls(*at);
        ++at;
      }
    }
  } else if (value.is_array()) {
    for (Json& item : value) drop_nulls(item);
  }
}

void check_port(const Json& value, const std::string& path, Causes& causes) {
  const bool good = value.is_number_integer() && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= 65535;
  if (!good) causes.push_back(value_invalid(path, value, "must be between 1 and 65535, inclusive"));
}

void check_one_of(const Json& value, const std::string& path, const std::vector<std::string>& supported,
                  Causes& causes) {
  if (value.is_null() || std::ranges::find(supported, text_value(value)) != supported.end()) return;
  causes.push_back(value_not_supported(path, value, supported));
}

void check_service(const Json& object, Causes& causes) {
  const Json& spec = member_in(object, "spec");
  check_one_of(member_in(spec, "type"), "spec.type", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, causes);
  check_one_of(member_in(spec, "sessionAffinity"), "spec.sessionAffinity", {"ClientIP", "None"}, causes);
  const Json& ports = member_in(spec, "ports");
  const bool has_ports = ports.is_array() && !ports.empty();
  if (!has_ports && text_in(spec, "clusterIP") != "None" && text_in(spec, "type") != "ExternalName") {
    causes.push_back(value_required("spec.ports"));
  }
  if (!has_ports) return;
  std::set<std::string> names;
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < ports.size() && causes.size() < kMaxCauses; ++i) {
    const std::string path = below("spec.ports", i);
    const std::string name(text_in(ports[i], "name"));
    if (name.empty() && ports.size() > 1) {
      causes.push_back(value_required(below(path, "name")));
    } else if (!name.empty()) {
      if (const std::string fault = name_fault(name, NameRule::kLabel); !fault.empty()) {
        causes.push_back(value_invalid(below(path, "name"), name, fault));
      }
      if (!names.insert(name).second) causes.push_back(value_duplicate(below(path, "name"), name));
    }
    check_port(member_in(ports[i], "port"), below(path, "port"), causes);
    check_one_of(member_in(ports[i], "protocol"), below(path, "protocol"), {"SCTP", "TCP", "UDP"}, causes);
    if (const Json& target = member_in(ports[i], "targetPort"); target.is_number()) {
      check_port(target, below(path, "targetPort"), causes);
    }
    if (!numbers.insert(member_in(ports[i], "protocol").dump() + member_in(ports[i], "port").dump()).second) {
      causes.push_back(value_duplicate(path, ports[i]));
    }
  }
}

void check_data(const Json& object, const std::vector<const char*>& fields, Causes& causes) {
  std::size_t bytes = 0;
  std::set<std::string> keys;
  for (const char* field : fields) {
    const Json& data = member_in(object, field);
    if (!data.is_object()) continue;
    for (const auto& [key, value] : data.items()) {
      bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
      const bool good =
          !key.empty() && key.size() <= 253 && key != "." && key != ".." && std::ranges::all_of(key, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                   c == '.';
          });
      if (causes.size() >= kMaxCauses) return;
      if (!good) {
        causes.push_back(value_invalid(below_key(field, key), key,
                                       "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                                       "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                                       "'[-._a-zA-Z0-9]+')"));
      }
      if (!keys.insert(key).second)
        causes.push_back(value_invalid(below_key(field, key), key, "duplicate of key present in data"));
    }
  }
  // In base64 a third more.
  if (bytes > kMaxSecretBytes + kMaxSecretBytes / 3) causes.push_back(value_too_long("", kMaxSecretBytes));
}

void check_immutable(const Json& object, const Json& old, const std::vector<const char*>& fields, Causes& causes) {
  if (member_in(old, "immutable") != Json(true)) return;
  if (member_in(object, "immutable") != Json(true)) {
    causes.push_back(value_forbidden("immutable", "field is immutable when `immutable` is set"));
  }
  for (const char* field : fields) {
    if (member_in(object, field) != member_in(old, field)) {
      causes.push_back(value_forbidden(field, "field is immutable when `immutable` is set"));
    }
  }
}

void check_secret(const Json& object, const Json* old, Causes& causes) {
  check_data(object, {"data"}, causes);
  const std::string type(text_in(object, "type"));
  if (type == "kubernetes.io/tls") {
    for (const char* key : {"tls.crt", "tls.key"}) {
      if (!member_in(member_in(object, "data"), key).is_string())
        causes.push_back(value_required(below_key("data", key)));
    }
  }
  if (old == nullptr) return;
  if (member_in(object, "type") != member_in(*old, "type")) {
    causes.push_back(value_invalid("type", member_in(object, "type"), "field is immutable"));
  }
  check_immutable(object, *old, {"data"}, causes);
}

void check_ingress(const Json& object, Causes& causes) {
  const Json& spec = member_in(object, "spec");
  const Json& rules = member_in(spec, "rules");
  if ((!rules.is_array() || rules.empty()) && member_in(spec, "defaultBackend").is_null()) {
    causes.push_back(value_invalid("spec", rules, "either `defaultBackend` or `rules` must be specified"));
  }
  if (!rules.is_array()) return;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Json& paths = member_in(member_in(rules[i], "http"), "paths");
    if (!paths.is_array()) continue;
    for (std::size_t j = 0; j < paths.size() && causes.size() < kMaxCauses; ++j) {
      const std::string at = below(words({below("spec.rules", i), ".http.paths"}), j);
      const std::string type(text_in(paths[j], "pathType"));
      if (type.empty()) {
        causes.push_back(value_required(below(at, "pathType"), "pathType must be specified"));
      } else {
        check_one_of(member_in(paths[j], "pathType"), below(at, "pathType"),
                     {"Exact", "ImplementationSpecific", "Prefix"}, causes);
      }
      const std::string path(text_in(paths[j], "path"));
      if (type != "ImplementationSpecific" && !path.starts_with('/')) {
        causes.push_back(value_invalid(below(at, "path"), path, "must be an absolute path"));
      }
    }
  }
}

}  // namespace

void apply_built_in_defaults(std::string_view group, std::string_view kind, Json& object) {
  drop_nulls(object);
  apply_defaults(built_in_schema(group, kind), object);
  if (!group.empty() || kind != "Service" || !member_in(object, "spec").is_object()) return;
  Json& spec = object["spec"];
  if (!member_in(spec, "ports").is_array()) return;
  for (Json& port : spec["ports"]) {
    if (port.is_object() && !port.contains("targetPort") && port.contains("port")) port["targetPort"] = port["port"];
  }
}

void validate_built_in(std::string_view group, std::string_view kind, const Json& object, const Json* old,
                       Causes& causes) {
  if (group == "networking.k8s.io" && kind == "Ingress") return check_ingress(object, causes);
  if (group == "rbac.authorization.k8s.io" && kind.ends_with("Binding") && old != nullptr &&
      member_in(object, "roleRef") != member_in(*old, "roleRef")) {
    causes.push_back(value_invalid("roleRef", member_in(object, "roleRef"), "cannot change roleRef"));
  }
  if (!group.empty()) return;
  if (kind == "Service") check_service(object, causes);
  if (kind == "Secret") check_secret(object, old, causes);
  if (kind == "ConfigMap") {
    check_data(object, {"data", "binaryData"}, causes);
    if (old != nullptr) check_immutable(object, *old, {"data", "binaryData"}, causes);
  }
}

}  // namespace edge::resource_api::objects
