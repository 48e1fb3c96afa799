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

Error fault(const std::string& field, const std::string& value, const std::string& takes) {
  return {ErrorCode::kInvalidArgument, field + " takes " + takes + ", not `" + value + "`"};
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

Status check(const json& spec) {
  const json& agents = member_in(spec, "agents");
  const json& most = member_in(member_in(agents, "updateStrategy"), "maxUnavailable");
  if (count_of(most) == 0) {
    return fault("spec.agents.updateStrategy.maxUnavailable", most.dump(), "a number from 1, or a percentage from 1%");
  }
  const std::string& drain = text_in(agents, "drainTimeout");
  const auto timeout = parse_duration(drain);
  if (!timeout || *timeout < std::chrono::seconds(0) || *timeout > std::chrono::hours(24)) {
    return fault("spec.agents.drainTimeout", drain, "a duration of at most 24h");
  }
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
  made.version = text_in(spec, "version");
  if (!is_version(made.version)) return fault("spec.version", made.version, "a version such as 0.1.0");
  made.repository = text_in(member_in(spec, "image"), "repository");
  if (!is_repository(made.repository)) {
    return fault("spec.image.repository", made.repository, "a repository such as registry.example.com/edge");
  }
  if (Status status = check(spec); !status) return status.error();
  const json& enabled = member_in(member_in(spec, "web"), "enabled");
  made.wants_dashboard = enabled.is_boolean() && enabled.get<bool>();
  made.spec = json_line(spec);
  if (made.spec.size() > kMaxSpec) return Error{ErrorCode::kInvalidArgument, "spec is larger than 256 KiB"};
  return made;
}

}  // namespace edge::cluster_operator
