#include "edgectl/install/plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/text/json.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/install.h"
#include "schemas/crd.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxNamespace = 63;
constexpr std::size_t kMaxField = 4096;

Planned planned(Part part, const OrderedJson& object) {
  const OrderedJson& metadata = object["metadata"];
  return {.part = part,
          .api_version = object["apiVersion"],
          .kind = object["kind"],
          .name = metadata["name"],
          .name_space = metadata.value("namespace", std::string()),
          .text = json_line(object)};
}

/// RFC 1123: a label.
bool is_namespace(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kMaxNamespace && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, fits);
}

Error wrong_field(const std::string& given, const std::string& why) {
  return {ErrorCode::kInvalidArgument, "`--set " + given + "`: " + why};
}

const schemas::Field* find_field(const schemas::Object& object, std::string_view name) {
  const auto found = std::ranges::find(object.fields, name, &schemas::Field::name);
  return found == object.fields.end() ? nullptr : &*found;
}

/// Sets what `given` says, such as `agents.metricsPort=9190`, in an EdgeCluster's spec.
Status set_field(OrderedJson& spec, const std::string& given) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || given.size() > kMaxField) {
    return wrong_field(given.substr(0, kMaxField), "it takes FIELD=VALUE, such as agents.metricsPort=9190");
  }
  std::string_view path(given.data(), equals);
  const std::string value = given.substr(equals + 1);
  const schemas::Object* object = find_field(schemas::kEdgeCluster, "spec")->object;
  OrderedJson* place = &spec;
  for (;;) {
    const std::string name(path.substr(0, path.find('.')));
    const schemas::Field* field = object == nullptr ? nullptr : find_field(*object, name);
    if (field == nullptr) {
      std::vector<std::string_view> names;
      if (object != nullptr) {
        for (const schemas::Field& one : object->fields) names.push_back(one.name);
      }
      const std::string_view near = nearest_name(name, names);
      return wrong_field(given, "an EdgeCluster's spec has no field `" + std::string(given.data(), equals) + "`" +
                                    (near.empty() ? "; `edgectl schema clusters` lists them"
                                                  : "; did you mean `" + std::string(near) + "`?"));
    }
    const bool last = path.size() == name.size();
    if (!last) path.remove_prefix(name.size() + 1);
    if (!place->is_object() && !place->is_null()) return wrong_field(given, "another --set made no object of it");
    place = &(*place)[name];
    if (last) {
      const bool text = field->type == schemas::Type::kString;
      const OrderedJson parsed = text ? OrderedJson() : parse_ordered_json(value);
      *place = text || parsed.is_discarded() ? OrderedJson(value) : parsed;
      return {};
    }
    if (field->type == schemas::Type::kStringMap && (place->is_object() || place->is_null())) {
      // The rest is a key, dots and all: edge.example.com/pool
      (*place)[std::string(path)] = value;
      return {};
    }
    object = field->type == schemas::Type::kObject ? field->object : nullptr;
  }
}

void add_definitions(std::vector<Planned>& all) {
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    all.push_back(planned(Part::kDefinitions, parse_ordered_json(schemas::crd_json(kind))));
  }
}

Result<Planned> edge_cluster(const InstallOptions& options) {
  OrderedJson object = {{"apiVersion", EDGE_API_GROUP "/v1alpha1"},
                        {"kind", "EdgeCluster"},
                        {"metadata", {{"name", options.cluster}, {"namespace", options.name_space}}},
                        {"spec", {{"version", options.tag}, {"image", {{"repository", options.repository}}}}}};
  for (const std::string& field : options.fields) {
    if (Status status = set_field(object["spec"], field); !status) return status.error();
  }
  const auto read = cluster_operator::read_installation(parse_json(json_line(object)));
  if (!read) return read.error();
  return planned(Part::kCluster, object);
}

}  // namespace

std::string rights_selector(std::string_view component, const std::string& name_space) {
  return "app.kubernetes.io/component=" + std::string(component) + "," +
         std::string(cluster_operator::kClusterNamespaceLabel) + "=" + name_space;
}

Result<std::vector<Planned>> plan(const InstallOptions& options) {
  if (!is_namespace(options.name_space)) {
    return Error{ErrorCode::kInvalidArgument,
                 "`--namespace` takes a name of small letters, digits and `-`, not `" + options.name_space + "`"};
  }
  std::vector<Planned> all;
  add_definitions(all);
  const OrderedJson name_space = {
      {"apiVersion", "v1"},
      {"kind", "Namespace"},
      {"metadata", {{"name", options.name_space}, {"labels", {{"app.kubernetes.io/part-of", "edge"}}}}}};
  all.push_back(planned(Part::kNamespace, name_space));
  const cluster_operator::OperatorPlace place{
      .name_space = options.name_space,
      .image = options.repository + "/" + std::string(kOperatorDeployment) + ":" + options.tag,
      .pull_policy = "IfNotPresent"};
  for (const OrderedJson& object : cluster_operator::operator_objects(place)) {
    all.push_back(planned(Part::kOperator, object));
  }
  if (options.acme) {
    for (const std::string& one : options.acme_namespaces) {
      if (!is_namespace(one)) return Error{ErrorCode::kInvalidArgument, "`--acme-namespace` takes no `" + one + "`"};
    }
    const std::string& cluster = options.cluster;
    for (const OrderedJson& object :
         cluster_operator::ordering_objects(options.name_space, cluster, options.acme_namespaces)) {
      all.push_back(planned(Part::kOperator, object));
    }
  }
  if (options.federation) {
    for (const std::string& one : options.federation_namespaces) {
      if (is_namespace(one)) continue;
      return Error{ErrorCode::kInvalidArgument, "`--federation-namespace` takes no `" + one + "`"};
    }
    for (const OrderedJson& object :
         cluster_operator::federation_objects(options.name_space, options.cluster, options.federation_namespaces)) {
      all.push_back(planned(Part::kOperator, object));
    }
  }
  if (options.cluster.empty()) return all;
  auto cluster = edge_cluster(options);
  if (!cluster) return cluster.error();
  all.push_back(std::move(*cluster));
  return all;
}

}  // namespace edge::edgectl
