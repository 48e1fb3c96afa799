#include "controller/operator/installation.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "schemas/openapi.h"
#include "schemas/schema.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// A Service is named after it, with `-controller` behind (RFC 1035: 63 bytes, a letter first).
constexpr std::size_t kMaxName = 50;
constexpr std::size_t kMaxVersion = 63;
constexpr std::size_t kMaxRepository = 255;
constexpr std::size_t kMaxSpec = 256 << 10;
/// Of a value at fault.
constexpr std::size_t kMostShown = 128;

const schemas::Object& object_of(const schemas::Object& object, std::string_view field) {
  const auto found = std::ranges::find(object.fields, field, &schemas::Field::name);
  return *found->object;
}

/// What the tables say of what is left out. Objects are filled in whether they are there or not.
void fill_in(json& value, const schemas::Object& object) {
  if (!value.is_object()) value = json::object();
  for (const schemas::Field& field : object.fields) {
    const std::string name(field.name);
    if (field.type == schemas::Type::kObject && (value.contains(name) || !field.required)) {
      // A reference that is not there refers to nothing.
      if (value.contains(name) || field.object->fields.front().required == false) fill_in(value[name], *field.object);
    } else if (!value.contains(name) && !field.default_value.empty()) {
      value[name] = json::parse(json_line(schemas::default_value(field)), nullptr, false);
    }
  }
}

Error fault(const std::string& field, const std::string& value, const std::string& takes) {
  return {ErrorCode::kInvalidArgument, field + " takes " + takes + ", not `" + value.substr(0, kMostShown) + "`"};
}

Status check_types(const json& value, const schemas::Object& object, const std::string& path);

Status check_text(const json& value, const schemas::Field& field, const std::string& path) {
  if (!value.is_string()) return fault(path, value.dump(), "a text");
  if (field.values.empty() ||
      std::ranges::find(field.values, std::string_view(text_value(value))) != field.values.end())
    return {};
  std::string allowed;
  for (const std::string_view one : field.values) allowed += (allowed.empty() ? "" : ", ") + std::string(one);
  return fault(path, text_value(value), "one of " + allowed);
}

Status check_number(const json& value, const schemas::Field& field, const std::string& path) {
  const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= field.minimum &&
                    value.get<std::int64_t>() <= field.maximum;
  if (fits) return {};
  return fault(path, value.dump(), "a number from " + std::to_string(field.minimum));
}

Status check_type(const json& value, const schemas::Field& field, schemas::Type type, const std::string& path) {
  using schemas::Type;
  switch (type) {
    case Type::kString:
      return check_text(value, field, path);
    case Type::kInteger:
      return check_number(value, field, path);
    case Type::kBoolean:
      return value.is_boolean() ? Status() : fault(path, value.dump(), "true or false");
    case Type::kIntOrString:
      return value.is_string() ? Status() : check_number(value, field, path);
    case Type::kObject:
      return check_types(value, *field.object, path);
    case Type::kAny:
      return value.is_object() ? Status() : fault(path, value.dump(), "an object");
    case Type::kStringMap:
    case Type::kList:
      break;
  }
  const bool list = type == Type::kList;
  if (list ? !value.is_array() : !value.is_object()) return fault(path, value.dump(), list ? "a list" : "an object");
  if (value.size() > field.most) return fault(path, "more", "at most " + std::to_string(field.most) + " entries");
  for (const auto& [key, entry] : value.items()) {
    const std::string here = list ? path + "[" + key + "]" : path + "." + key;
    Status status = check_type(entry, field, list ? field.item : Type::kString, here);
    if (!status) return status;
  }
  return {};
}

/// An API may hold what its definitions no longer take. Members that the tables do not know are passed over.
Status check_types(const json& value, const schemas::Object& object, const std::string& path) {
  if (!value.is_object()) return fault(path, value.dump(), "an object");
  for (const schemas::Field& field : object.fields) {
    const auto found = value.find(std::string(field.name));
    if (found == value.end()) continue;
    Status status = check_type(*found, field, field.type, path + "." + std::string(field.name));
    if (!status) return status;
  }
  return {};
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kMaxName && text.front() >= 'a' && text.front() <= 'z' && text.back() != '-' &&
         std::ranges::all_of(text, fits);
}

/// A tag of an image, and the value of a label.
bool is_version(std::string_view text) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  const auto fits = [&](char c) { return alnum(c) || c == '.' || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= kMaxVersion && alnum(text.front()) && alnum(text.back()) &&
         std::ranges::all_of(text, fits);
}

bool is_repository(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == '/' || c == ':';
  };
  return !text.empty() && text.size() <= kMaxRepository && text.front() != '/' && text.back() != '/' &&
         std::ranges::all_of(text, fits);
}

Status check_ports(const json& spec) {
  const json& agents = member_in(spec, "agents");
  const auto port = [](const json& part, const char* field, const std::string& path) -> Status {
    const std::int64_t value = integer_in(part, field);
    if (value >= 1 && value <= 65535) return {};
    return fault(path, member_in(part, field).dump(), "a port from 1 to 65535");
  };
  if (Status status = port(member_in(spec, "controller"), "grpcPort", "spec.controller.grpcPort"); !status) {
    return status;
  }
  if (Status status = port(agents, "metricsPort", "spec.agents.metricsPort"); !status) return status;
  if (Status status = port(agents, "healthPort", "spec.agents.healthPort"); !status) return status;
  if (integer_in(agents, "metricsPort") == integer_in(agents, "healthPort")) {
    return fault("spec.agents.healthPort", std::to_string(integer_in(agents, "healthPort")),
                 "another port than spec.agents.metricsPort");
  }
  return {};
}

/// 0: neither a number nor a percentage that is taken.
std::int64_t count_of(const json& value) {
  if (value.is_number_integer()) return std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, 100'000);
  const std::string& text = text_value(value);
  if (text.size() < 2 || text.back() != '%') return 0;
  std::int64_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  return error == std::errc() && end == text.data() + text.size() - 1 && percent <= 100
             ? std::max<std::int64_t>(percent, 0)
             : 0;
}

/// Whatever is in it, the API server has the last word of it.
Status check_affinity(const json& part, const std::string& path) {
  for (const auto& [name, value] : member_in(part, "affinity").items()) {
    if (name == "nodeAffinity" || name == "podAffinity" || name == "podAntiAffinity") continue;
    return fault(path + ".affinity", name, "nodeAffinity, podAffinity and podAntiAffinity");
  }
  return {};
}

Status check_variables(const json& part, const std::string& path) {
  std::size_t index = 0;
  for (const json& one : list_in(part, "env")) {
    const std::string field = path + ".env[" + std::to_string(index++) + "]";
    const std::string& name = text_in(one, "name");
    if (name.empty() || name == "NODE_NAME") return fault(field + ".name", name, "a name other than NODE_NAME");
    const bool value = member_in(one, "value").is_string();
    if (value == member_in(one, "secretKeyRef").is_object()) {
      return fault(field, one.dump(), "one of value and secretKeyRef");
    }
  }
  return {};
}

Result<std::chrono::nanoseconds> duration(const json& part, const char* field, const std::string& path) {
  const std::string& text = text_in(part, field);
  const auto read = parse_duration(text);
  if (read && *read >= std::chrono::seconds(0) && *read <= std::chrono::hours(24)) return *read;
  return fault(path + "." + field, text, "a duration of at most 24h");
}

Status check_hub(const json& controller) {
  const json& hub = member_in(controller, "hub");
  if (!hub.is_object()) return {};
  if (text_in(member_in(hub, "joinSecretRef"), "name").empty()) {
    return Error{ErrorCode::kInvalidArgument, "spec.controller.hub.joinSecretRef is required: it names a Secret"};
  }
  if (!text_in(controller, "stateClaim").empty()) return {};
  return Error{ErrorCode::kInvalidArgument,
               "spec.controller.stateClaim is required with spec.controller.hub: a pod that begins anew has nothing to "
               "come back to the hub with"};
}

/// Of a dashboard that runs. What it could not hold to is refused, as people would rely on it.
Status check_web(const json& web) {
  const json& enabled = member_in(web, "enabled");
  const json& oidc = member_in(web, "oidc");
  if (!enabled.is_boolean() || !enabled.get<bool>() || !oidc.is_object()) return {};
  const auto refused = [](const std::string& text) { return Error{ErrorCode::kInvalidArgument, text}; };
  if (!member_in(web, "tlsSecretRef").is_object()) {
    return refused("spec.web.tlsSecretRef is required with spec.web.oidc: sessions are not sent in clear text");
  }
  if (!list_in(oidc, "groups").empty()) {
    return refused("spec.web.oidc.groups is not supported: what a user may do is decided by the cluster's RBAC");
  }
  if (integer_in(web, "replicas") > 1 && !member_in(oidc, "sessionSecretRef").is_object()) {
    return refused("spec.web.oidc.sessionSecretRef is required with more than one replica, which share sessions by it");
  }
  return {};
}

Status check(const json& spec) {
  const json& agents = member_in(spec, "agents");
  const json& most = member_in(member_in(agents, "updateStrategy"), "maxUnavailable");
  if (count_of(most) == 0) {
    return fault("spec.agents.updateStrategy.maxUnavailable", most.dump(), "a number from 1, or a percentage from 1%");
  }
  if (const auto drain = duration(agents, "drainTimeout", "spec.agents"); !drain) return drain.error();
  for (const char* name : {"controller", "agents"}) {
    const std::string path = std::string("spec.") + name;
    if (Status status = check_affinity(member_in(spec, name), path); !status) return status;
    if (Status status = check_variables(member_in(spec, name), path); !status) return status;
  }
  if (Status status = check_hub(member_in(spec, "controller")); !status) return status;
  if (Status status = check_web(member_in(spec, "web")); !status) return status;
  return check_ports(spec);
}

}  // namespace

bool is_paused(const json& object) {
  const json& paused = member_in(member_in(object, "spec"), "paused");
  return paused.is_boolean() && paused.get<bool>();
}

Result<Installation> read_installation(const json& object) {
  const json& metadata = member_in(object, "metadata");
  Installation made;
  made.name = text_in(metadata, "name");
  made.name_space = text_in(metadata, "namespace");
  made.uid = text_in(metadata, "uid");
  made.generation = integer_in(metadata, "generation");
  made.paused = is_paused(object);
  if (!is_name(made.name)) {
    return fault("metadata.name", made.name, "at most 50 small letters, digits and `-`, a letter first");
  }
  json spec = member_in(object, "spec");
  fill_in(spec, object_of(schemas::kEdgeCluster, "spec"));
  Status types = check_types(spec, object_of(schemas::kEdgeCluster, "spec"), "spec");
  if (!types) return types.error();
  made.version = text_in(spec, "version");
  if (!is_version(made.version)) return fault("spec.version", made.version, "a version such as 0.1.0");
  made.repository = text_in(member_in(spec, "image"), "repository");
  if (!is_repository(made.repository)) {
    return fault("spec.image.repository", made.repository, "a repository such as registry.example.com/edge");
  }
  if (Status status = check(spec); !status) return status.error();
  const json& strategy = member_in(member_in(spec, "agents"), "updateStrategy");
  const auto held = duration(strategy, "canaryDuration", "spec.agents.updateStrategy");
  if (!held) return held.error();
  const auto ready = duration(strategy, "canaryTimeout", "spec.agents.updateStrategy");
  if (!ready) return ready.error();
  made.canary_duration = *held;
  made.canary_timeout = *ready;
  const json& enabled = member_in(member_in(spec, "web"), "enabled");
  made.wants_dashboard = enabled.is_boolean() && enabled.get<bool>();
  made.spec = json_line(spec);
  if (made.spec.size() > kMaxSpec) return Error{ErrorCode::kInvalidArgument, "spec is larger than 256 KiB"};
  return made;
}

}  // namespace edge::cluster_operator
