#include "controller/cluster_object.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "compiler/link/defaults.h"
#include "compiler/link/policies/policy_pages.h"
#include "compiler/link/secrets.h"
#include "compiler/model/gateway_api.h"
#include "program/values/address_list.h"
#include "schemas/left_empty.h"
#include "schemas/schema.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

constexpr const char* kTooLargeValue = "has more than 64 KiB";
const std::string kUnreadField(compiler::model::kUnreadValues);

/// Of Secrets whose values no gateway or policy can name: tokens and releases come and go, and may be large.
constexpr std::string_view kForeignSecrets[] = {"helm.sh/release.v1", "kubernetes.io/service-account-token",
                                                "bootstrap.kubernetes.io/token", "kubernetes.io/dockerconfigjson",
                                                "kubernetes.io/dockercfg"};
/// They say nothing to a compiler, and some change every second or hold the whole object once more.
constexpr std::string_view kPassingAnnotations[] = {schemas::kLastApplied,
                                                    "endpoints.kubernetes.io/last-change-trigger-time",
                                                    "control-plane.alpha.kubernetes.io/leader"};
/// Of metadata: what the compiler reads.
constexpr std::string_view kMetadata[] = {"name",        "namespace",         "labels",
                                          "annotations", "creationTimestamp", "generation"};

Json metadata_for_compiler(const Json& metadata) {
  Json kept = Json::object();
  for (const std::string_view name : kMetadata) {
    const auto found = metadata.find(name);
    if (found != metadata.end() && !found->is_null()) kept[std::string(name)] = *found;
  }
  const auto annotations = kept.find("annotations");
  if (annotations != kept.end() && annotations->is_object()) {
    for (const std::string_view name : kPassingAnnotations) annotations->erase(std::string(name));
  }
  return kept;
}

/// Read on their own, whether or not a policy names them as bodies.
bool is_read_by_itself(std::string_view list, std::string_view key) {
  return list == "data" && (key == compiler::link::kAuthorityKey || key == program::kNetworksKey);
}

/// Of a ConfigMap authorities and networks are read, and bodies that policies name, which are bounded: of a value that
/// is too large to be one its key stays.
void cut_values(Json& object) {
  // Kubernetes writes no line ends into it.
  static const std::size_t most_encoded = to_base64(std::string(compiler::link::kMostBody, 'x')).size();
  Json kept = {{"apiVersion", text_in(object, "apiVersion")}, {"kind", "ConfigMap"}};
  Json unread = Json::object();
  for (const auto& [list, most] : {std::pair{"data", compiler::link::kMostBody}, {"binaryData", most_encoded}}) {
    const Json& values = member_in(object, list);
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items()) {
      const std::string& text = text_value(value);
      if (text.size() > most && !is_read_by_itself(list, key)) {
        unread[key] = kTooLargeValue;
      } else {
        kept[list][key] = text;
      }
    }
  }
  if (!unread.empty()) kept[kUnreadField] = std::move(unread);
  kept["metadata"] = std::move(object["metadata"]);
  for (const char* field : {"labels", "annotations", "generation"}) kept["metadata"].erase(field);
  object = std::move(kept);
}

/// Of a Service ports are read, and whether zones count. What else is in it comes from its cluster, and changes with
/// that.
void keep_ports(Json& object) {
  const Json& spec = member_in(object, "spec");
  Json kept = {{"ports", list_in(spec, "ports")}};
  if (std::string wanted = text_in(spec, "trafficDistribution"); !wanted.empty()) {
    kept["trafficDistribution"] = std::move(wanted);
  }
  object["spec"] = std::move(kept);
  Json& metadata = object["metadata"];
  for (const char* field : {"labels", "annotations", "generation"}) metadata.erase(field);
}

/// Rule D8: who is called `ours` is told by the default's name, and the default by that of ours.
void swap_class(Json& holder, const char* field, std::string_view ours) {
  const std::string usual(compiler::link::kDefaults.controller_class);
  if (ours == usual || !holder.is_object()) return;
  const std::string named = text_in(holder, field);
  if (named == ours) {
    holder[field] = usual;
  } else if (named.empty() || named == usual) {
    holder[field] = ours;
  }
}

/// Which gateways have which addresses of a pool stands in its status alone, and the next compile gives them the same.
void keep_allocations(const std::string& status, Json& object) {
  if (!member_in(member_in(object, "spec"), "pool").is_array()) return;
  Json kept = Json::array();
  const Json written = parse_json(status);
  for (const Json& one : list_in(written, "allocations")) {
    Json& allocation = kept.emplace_back(Json::object());
    for (const char* field : {"address", "kind", "namespace", "name"}) allocation[field] = text_in(one, field);
  }
  if (!kept.empty()) object["status"] = {{"allocations", std::move(kept)}};
}

void add_service(const Json& ref, const ClusterObject& route, std::set<std::string>& services) {
  const std::string& kind = text_in(ref, "kind");
  const std::string& name = text_in(ref, "name");
  if (name.empty() || !text_in(ref, "group").empty() || (!kind.empty() && kind != "Service")) return;
  const std::string& asked = text_in(ref, "namespace");
  services.insert(resource_path(asked.empty() ? route.key.name_space : asked, name));
}

/// Of RequestMirror and ExternalAuth.
void add_services_of_filters(const Json& holder, const ClusterObject& route, std::set<std::string>& services) {
  for (const Json& filter : list_in(holder, "filters")) {
    for (const char* of_type : {"requestMirror", "externalAuth"}) {
      add_service(member_in(member_in(filter, of_type), "backendRef"), route, services);
    }
  }
}

std::vector<std::string> services_of(const Json& spec, const ClusterObject& route) {
  std::set<std::string> services;
  for (const Json& rule : list_in(spec, "rules")) {
    add_services_of_filters(rule, route, services);
    for (const Json& ref : list_in(rule, "backendRefs")) {
      add_service(ref, route, services);
      add_services_of_filters(ref, route, services);
    }
  }
  return {services.begin(), services.end()};
}

void read_targets(const Json& spec, ClusterObject& object) {
  Json targets = Json::array();
  if (const Json& one = member_in(spec, "targetRef"); one.is_object()) targets.push_back(one);
  // Both exclude each other; of both, the numbers are those that the compiler counts (model/decode_policy_target.cc).
  for (const Json& target : list_in(spec, "targetRefs")) targets.push_back(target);
  for (const Json& target : targets) {
    if (!target.is_object()) continue;
    object.target += (object.target.empty() ? "" : ",") + text_in(target, "kind") + "/" + text_in(target, "name");
  }
  if (!targets.empty()) object.target_refs = json_line(targets);
}

void read_facts(const Json& spec, ClusterObject& object) {
  if (const Json& parents = member_in(spec, "parentRefs"); parents.is_array()) object.parent_refs = json_line(parents);
  object.rules = static_cast<std::uint32_t>(list_in(spec, "rules").size());
  if (object.key.kind == "Gateway") {
    const Json& infrastructure = member_in(spec, "infrastructure");
    if (infrastructure.is_object()) object.infrastructure = json_line(infrastructure);
    object.class_name = text_in(spec, "gatewayClassName");
  }
  if (object.key.kind == "Ingress") object.class_name = text_in(spec, "ingressClassName");
  read_targets(spec, object);
}

Error fault(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

void read_remote_status(const Json& status, ClusterObject& read) {
  read.was_connected = !text_in(status, "lastHeartbeat").empty();
  Json shown = Json::object();
  for (const char* field : {"certificateKey", "certificateExpires", "certificateShown"}) {
    if (const std::string& text = text_in(status, field); !text.empty()) shown[field] = text;
  }
  if (!shown.empty()) read.shown_certificate = json_line(shown);
}

}  // namespace

WatchSelectors selectors_of(std::string_view kind) {
  // One without it is no Service's.
  if (kind == "EndpointSlice") return {.labels = "kubernetes.io/service-name", .fields = {}};
  WatchSelectors selectors;
  if (kind != "Secret") return selectors;
  for (const std::string_view type : kForeignSecrets) {
    selectors.fields += (selectors.fields.empty() ? "type!=" : ",type!=") + std::string(type);
  }
  return selectors;
}

Result<std::optional<ClusterObject>> read_cluster_object(std::string_view json, std::string_view controller_class) {
  Json object = parse_json(json);
  if (!object.is_object()) return fault("an object of the cluster is no JSON object");
  const Json& metadata = member_in(object, "metadata");
  if (!metadata.is_object()) return fault("an object of the cluster has no metadata");
  ClusterObject read;
  read.key = {text_in(object, "kind"), text_in(metadata, "namespace"), text_in(metadata, "name")};
  const schemas::Kind* kind = schemas::find_kind(read.key.kind);
  if (kind == nullptr || read.key.name.empty()) return fault("an object of the cluster is of no kind that is read");
  if (read.key.kind == "Secret" &&
      std::ranges::find(kForeignSecrets, text_in(object, "type")) != std::end(kForeignSecrets)) {
    return std::optional<ClusterObject>();
  }
  // Orders and accounts at CAs (controller/acme) name nothing that is served.
  if (read.key.kind == "Secret") {
    const std::string& role = text_in(member_in(metadata, "labels"), EDGE_API_GROUP "/acme");
    if (role == "order" || role == "account") return std::optional<ClusterObject>();
  }
  read.uid = text_in(metadata, "uid");
  read.resource_version = text_in(metadata, "resourceVersion");
  read.generation = integer_in(metadata, "generation");
  if (const Json& status = member_in(object, "status"); status.is_object() && !status.empty()) {
    read.status = json_line(status);
  }
  if (read.key.kind == "EdgeRemoteCluster") read_remote_status(member_in(object, "status"), read);
  read.left_empty = schemas::restore_left_empty(*kind, object);
  Json kept = metadata_for_compiler(metadata);
  object["metadata"] = std::move(kept);
  object.erase("status");
  const auto spec = object.find("spec");
  if (read.key.kind == "ProxyVIP") keep_allocations(read.status, object);
  if (spec != object.end()) read_facts(*spec, read);
  if (read.key.kind == "Ingress" && read.class_name.empty()) {
    read.class_name = text_in(member_in(object["metadata"], "annotations"), "kubernetes.io/ingress.class");
  }
  if (spec != object.end() && !kind->own) read.services = services_of(*spec, read);
  if (read.key.kind == "ConfigMap") cut_values(object);
  if (read.key.kind == "Service") keep_ports(object);
  if (read.key.kind == "ProxyGateway" && spec != object.end()) swap_class(*spec, "loadBalancerClass", controller_class);
  if (read.key.kind == "GatewayClass" && spec != object.end()) swap_class(*spec, "controllerName", controller_class);
  if (read.key.kind == "IngressClass" && spec != object.end()) swap_class(*spec, "controller", controller_class);
  read.document = json_line(object);
  return std::optional(std::move(read));
}

void drop_values(ClusterObject& map) {
  Json read = parse_json(map.document);
  if (!read.is_object()) return;
  read.erase("binaryData");
  read.erase(kUnreadField);
  if (const auto data = read.find("data"); data != read.end() && data->is_object()) {
    Json kept = Json::object();
    for (auto& [key, value] : data->items()) {
      if (is_read_by_itself("data", key)) kept[key] = std::move(value);
    }
    *data = std::move(kept);
  }
  map.document = json_line(read);
  map.values_dropped = true;
}

}  // namespace edge::controller
