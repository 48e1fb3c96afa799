#include "controller/resource_api/crds.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/crd.h"

namespace edge::resource_api {
namespace {

using objects::Json;

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> values;
  if (!list.is_array()) return values;
  for (const Json& value : list) values.push_back(text_value(value));
  return values;
}

struct Conflict {
  std::string reason;
  std::string message;
};

/// What of the CRD's names another resource of the group has; an empty reason: nothing.
Conflict conflict_of(const Json& crd, const Registry& registry) {
  const Json& names = member_in(member_in(crd, "spec"), "names");
  const std::string group = text_in(member_in(crd, "spec"), "group");
  const std::string collection = crd_collection(crd);
  const std::vector<std::string> short_names = texts(member_in(names, "shortNames"));
  const auto taken = [](std::string_view reason, const std::string& name) {
    return Conflict{std::string(reason), "\"" + name + "\" is already in use"};
  };
  for (const ResourceTypePtr& type : registry.types()) {
    if (type->group != group || type->collection == collection) continue;
    const auto named = [&](const std::string& name) {
      return name == type->plural || name == type->singular ||
             std::find(type->short_names.begin(), type->short_names.end(), name) != type->short_names.end();
    };
    if (const std::string name = text_in(names, "plural"); named(name)) return taken("PluralConflict", name);
    if (const std::string name = text_in(names, "singular"); named(name)) return taken("SingularConflict", name);
    for (const std::string& name : short_names) {
      if (named(name)) return taken("ShortNamesConflict", name);
    }
    if (const std::string name = text_in(names, "kind"); name == type->kind || name == type->list_kind) {
      return taken("KindConflict", name);
    }
    if (const std::string name = text_in(names, "listKind"); name == type->kind || name == type->list_kind) {
      return taken("ListKindConflict", name);
    }
  }
  return {};
}

void set_condition(Json& conditions, const char* type, bool holds, std::string_view reason, std::string_view message,
                   const std::string& time) {
  const char* status = holds ? "True" : "False";
  Json condition = {
      {"type", type}, {"status", status}, {"reason", reason}, {"message", message}, {"lastTransitionTime", time}};
  for (Json& old : conditions) {
    if (member_in(old, "type") != type) continue;
    if (member_in(old, "status") == status && member_in(old, "lastTransitionTime").is_string()) {
      condition["lastTransitionTime"] = old["lastTransitionTime"];
    }
    old = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

bool condition_holds(const Json& crd, std::string_view type) {
  const Json& conditions = member_in(member_in(crd, "status"), "conditions");
  if (!conditions.is_array()) return false;
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& condition) {
    return member_in(condition, "type") == type && member_in(condition, "status") == "True";
  });
}

}  // namespace

std::string crd_collection(const Json& crd) {
  const Json& spec = member_in(crd, "spec");
  return text_in(spec, "group") + "/" + text_in(member_in(spec, "names"), "plural");
}

void accept_crd_names(Json& crd, const Registry& registry, const std::string& time) {
  const Conflict conflict = conflict_of(crd, registry);
  const bool accepted = conflict.reason.empty();
  const bool was_established = condition_holds(crd, "Established");
  Json& status = crd["status"];
  if (!status.is_object()) status = Json::object();
  status["acceptedNames"] = accepted ? crd["spec"]["names"] : Json{{"kind", ""}, {"plural", ""}};
  std::vector<std::string> stored = texts(member_in(status, "storedVersions"));
  for (const Json& version : crd["spec"]["versions"]) {
    const std::string name = text_in(version, "name");
    if (member_in(version, "storage") == true && std::find(stored.begin(), stored.end(), name) == stored.end()) {
      stored.push_back(name);
    }
  }
  status["storedVersions"] = stored;
  Json conditions = member_in(status, "conditions");
  if (!conditions.is_array()) conditions = Json::array();
  set_condition(conditions, "NamesAccepted", accepted, accepted ? "NoConflicts" : conflict.reason,
                accepted ? "no conflicts found" : conflict.message, time);
  set_condition(conditions, "Established", accepted, accepted ? "InitialNamesAccepted" : "NotAccepted",
                accepted          ? "the initial names have been accepted"
                : was_established ? "the names are no longer accepted"
                                  : "not all names are accepted",
                time);
  if (member_in(member_in(crd, "metadata"), "deletionTimestamp").is_string()) {
    set_condition(conditions, "Terminating", true, "InstanceDeletionInProgress",
                  "CustomResource deletion is in progress", time);
  }
  status["conditions"] = std::move(conditions);
}

bool is_established(const Json& crd) { return condition_holds(crd, "Established"); }

std::vector<ResourceTypePtr> crd_types(const Json& crd) {
  std::vector<ResourceTypePtr> types;
  if (!is_established(crd)) return types;
  const Json& spec = member_in(crd, "spec");
  const Json& names = member_in(spec, "names");
  for (const Json& version : member_in(spec, "versions")) {
    if (member_in(version, "served") != true) continue;
    auto type = std::make_shared<ResourceType>();
    type->group = text_in(spec, "group");
    type->version = text_in(version, "name");
    type->kind = text_in(names, "kind");
    type->list_kind = text_in(names, "listKind");
    type->plural = text_in(names, "plural");
    type->singular = text_in(names, "singular");
    type->short_names = texts(member_in(names, "shortNames"));
    type->categories = texts(member_in(names, "categories"));
    type->namespaced = member_in(spec, "scope") == "Namespaced";
    type->status = member_in(member_in(version, "subresources"), "status").is_object();
    type->storage = member_in(version, "storage") == true;
    type->custom = true;
    type->deprecated = member_in(version, "deprecated") == true;
    type->deprecation_warning = text_in(version, "deprecationWarning");
    if (type->deprecated && type->deprecation_warning.empty()) {
      type->deprecation_warning = type->api_version() + " " + type->kind + " is deprecated";
    }
    type->columns = std::make_shared<const objects::Columns>(objects::crd_columns(crd, type->version));
    type->shape = objects::crd_schema(crd, type->version);
    if (!type->shape) type->shape = objects::schemaless();
    type->schema = std::make_shared<const Json>(member_in(member_in(version, "schema"), "openAPIV3Schema"));
    if (const Json& fields = member_in(version, "selectableFields"); fields.is_array()) {
      for (const Json& field : fields) type->selectable_fields.push_back(text_in(field, "jsonPath"));
    }
    type->collection = crd_collection(crd);
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace edge::resource_api
