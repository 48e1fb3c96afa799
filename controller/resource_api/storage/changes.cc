#include "controller/resource_api/storage/changes.h"

#include <algorithm>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/crds.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api {
namespace {

using objects::Json;

bool empty_list(const Json& object, const char* part, const char* field) {
  const auto inner = object.find(part);
  if (inner == object.end() || !inner->is_object()) return true;
  const auto list = inner->find(field);
  return list == inner->end() || !list->is_array() || list->empty();
}

/// What decides which types a CRD brings about.
bool same_types(const Json& a, const Json& b) {
  return a.value("spec", Json()) == b.value("spec", Json()) && is_established(a) == is_established(b);
}

}  // namespace

bool is_free(const Json& object, const Collection& collection) {
  return empty_list(object, "metadata", "finalizers") &&
         (collection.name != kNamespaces || empty_list(object, "spec", "finalizers"));
}

std::string Changes::time() const { return objects::time_text(seconds()); }

ObjectPtr Changes::put(const Collection& collection, Json object) {
  if (collection.name != kCustomResourceDefinitions) return store_.put(collection, std::move(object));
  accept_crd_names(object, registry_, time());
  const ObjectPtr old = store_.find(collection, {"", object["metadata"]["name"].get<std::string>()});
  const bool changed = !old || !same_types(Json::parse(old->text, nullptr, false), object);
  if (changed) publish(object);
  return store_.put(collection, std::move(object));
}

void Changes::remove(const Collection& collection, const ObjectKey& key) {
  const ObjectPtr old = store_.find(collection, key);
  store_.remove(collection, key);
  if (!old || collection.name != kCustomResourceDefinitions) return;
  const Json crd = Json::parse(old->text, nullptr, false);
  if (is_established(crd)) {
    registry_.replace(crd_collection(crd), {});
    watches_.end(crd_collection(crd));
  }
  // Another one may have waited for these names.
  update_other_definitions(crd["spec"]["group"].get<std::string>());
}

ObjectPtr Changes::put_or_remove(const Collection& collection, Json object) {
  if (object["metadata"].contains("deletionTimestamp") && is_free(object, collection)) {
    remove(collection, {object["metadata"].value("namespace", ""), object["metadata"].value("name", "")});
    return nullptr;
  }
  return put(collection, std::move(object));
}

void Changes::publish(const Json& crd) {
  registry_.replace(crd_collection(crd), crd_types(crd));
  watches_.end(crd_collection(crd));
}

void Changes::update_other_definitions(std::string_view group) {
  const Collection& crds = store_.collection(kCustomResourceDefinitions);
  std::vector<ObjectPtr> all;
  for (const auto& [key, object] : crds.objects) all.push_back(object);
  for (const ObjectPtr& object : all) {
    Json crd = Json::parse(object->text, nullptr, false);
    if (crd["spec"]["group"] != group || is_established(crd)) continue;
    Json settled = crd;
    accept_crd_names(settled, registry_, time());
    if (settled != crd) put(crds, std::move(settled));
  }
}

void Changes::rebuild_registry() {
  std::set<std::string> custom;
  for (const ResourceTypePtr& type : registry_.types()) {
    if (type->custom) custom.insert(type->collection);
  }
  for (const std::string& collection : custom) registry_.replace(collection, {});
  for (const auto& [key, object] : store_.collection(kCustomResourceDefinitions).objects) {
    const Json crd = Json::parse(object->text, nullptr, false);
    if (auto types = crd_types(crd); !types.empty()) registry_.replace(crd_collection(crd), std::move(types));
  }
}

void Changes::show_defaults() {
  std::set<std::string> custom;
  for (const ResourceTypePtr& type : registry_.types()) {
    if (type->custom) custom.insert(type->collection);
  }
  for (const std::string& collection : custom) show_defaults_of(collection);
}

void Changes::show_defaults(std::span<const Committed> committed) {
  for (const Committed& change : committed) {
    if (change.collection->name != kCustomResourceDefinitions || change.event.type == Event::Type::kDeleted) continue;
    show_defaults_of(crd_collection(Json::parse(change.event.object->text, nullptr, false)));
  }
}

void Changes::show_defaults_of(std::string_view collection) {
  const ResourceTypePtr type = registry_.storage_of(collection);
  if (type == nullptr || !objects::has_defaults(*type->shape)) return;
  const Collection& stored = store_.collection(collection);
  std::vector<std::pair<ObjectKey, std::string>> filled;
  for (const auto& [key, object] : stored.objects) {
    const Json old = Json::parse(object->text, nullptr, false);
    Json next = old;
    objects::apply_defaults(*type->shape, next);
    if (next != old) filled.emplace_back(key, json_line(next));
  }
  for (auto& [key, text] : filled) store_.show(stored, key, std::move(text));
}

}  // namespace edge::resource_api
