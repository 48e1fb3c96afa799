#include "controller/resource_api/storage/garbage.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/crds.h"
#include "controller/resource_api/requests/remove.h"

namespace edge::resource_api {
namespace {

using objects::Json;

// Changes of one pass: requests that wait meanwhile wait some milliseconds.
constexpr std::size_t kBudget = 256;

Json parse(const Object& object) { return Json::parse(object.text, nullptr, false); }

bool has_finalizer(const Json& object, std::string_view name) {
  const Json finalizers = object["metadata"].value("finalizers", Json::array());
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}

/// The reference of `dependent` to `uid`; null when there is none.
Json reference_to(const Json& dependent, const std::string& uid) {
  for (const Json& reference : dependent["metadata"].value("ownerReferences", Json::array())) {
    if (text_in(reference, "uid") == uid) return reference;
  }
  return {};
}

bool is_served(const Registry& registry, const Json& reference) {
  const std::string api_version = text_in(reference, "apiVersion");
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  return registry.find_kind(group, version, text_in(reference, "kind")) != nullptr;
}

/// Without the references for which `gone` says so.
template <typename Gone>
void drop_references(Json& dependent, const Gone& gone) {
  Json& metadata = dependent["metadata"];
  std::erase_if(metadata["ownerReferences"].get_ref<Json::array_t&>(), gone);
  if (metadata["ownerReferences"].empty()) metadata.erase("ownerReferences");
}

}  // namespace

void Garbage::begin() {
  for (const Collection* collection : changes_.store().collections()) {
    for (const auto& [key, object] : collection->objects) push_if_due(*collection, *object);
  }
}

void Garbage::note(std::span<const Committed> committed) {
  for (const Committed& change : committed) {
    const Object& object = *change.event.object;
    if (change.event.type != Event::Type::kDeleted) {
      push_if_due(*change.collection, object);
      continue;
    }
    for (const Store::Location& dependent : changes_.store().owned_by(object.uid)) {
      push(*dependent.collection, dependent.object->key);
    }
    push_owners(object);
    // It may have been the last in a namespace, or of a kind, that goes.
    const Collection& namespaces = changes_.store().collection(kNamespaces);
    const ObjectPtr home = changes_.store().find(namespaces, {"", object.key.name_space});
    if (home && home->deleting) push(namespaces, home->key);
    const Collection& crds = changes_.store().collection(kCustomResourceDefinitions);
    const std::size_t slash = change.collection->name.find('/');
    const std::string crd = change.collection->name.substr(slash + 1) + "." + change.collection->name.substr(0, slash);
    if (const ObjectPtr kind = changes_.store().find(crds, {"", crd}); kind && kind->deleting) push(crds, kind->key);
  }
}

void Garbage::push(const Collection& collection, const ObjectKey& key) {
  if (queued_.emplace(&collection, key).second) queue_.emplace_back(&collection, key);
}

void Garbage::push_if_due(const Collection& collection, const Object& object) {
  if (object.deleting || !object.owners.empty()) push(collection, object.key);
}

void Garbage::push_owners(const Object& object) {
  for (const std::string& uid : object.owners) {
    const Store::Location owner = changes_.store().find_uid(uid);
    if (owner.object && owner.object->deleting) push(*owner.collection, owner.object->key);
  }
}

void Garbage::work() {
  budget_ = kBudget;
  while (!queue_.empty() && budget_ > 0) {
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(item);
    spend();
    look_at(item);
  }
}

bool Garbage::spend() {
  if (budget_ == 0) return false;
  --budget_;
  return true;
}

void Garbage::look_at(const Item& item) {
  const auto& [collection, key] = item;
  if (const ObjectPtr object = changes_.store().find(*collection, key); object && !object->owners.empty()) {
    look_at_owned(*collection, *object);
  }
  if (const ObjectPtr object = changes_.store().find(*collection, key); object && object->deleting) {
    look_at_deleting(*collection, *object);
  }
}

bool Garbage::owner_lives(const Json& reference, const Object& dependent) const {
  if (!reference.is_object()) return false;
  const Store::Location owner = changes_.store().find_uid(text_in(reference, "uid"));
  // Of a kind that is not served here, nobody can say that it is gone.
  if (!owner.object) return !is_served(changes_.registry(), reference);
  if (owner.object->key.name != text_in(reference, "name")) return false;
  // An owner in another namespace is none.
  const std::string& home = owner.object->key.name_space;
  if (!home.empty() && home != dependent.key.name_space) return false;
  const ResourceTypePtr type = changes_.registry().storage_of(owner.collection->name);
  return !type || type->kind == text_in(reference, "kind");
}

void Garbage::look_at_owned(const Collection& collection, const Object& object) {
  Json value = parse(object);
  const Json references = value["metadata"].value("ownerReferences", Json::array());
  std::size_t living = 0;
  for (const Json& reference : references) living += owner_lives(reference, object) ? 1 : 0;
  if (living == references.size()) return;
  if (living == 0) {
    if (!object.deleting) remove_object(changes_, collection, object, Propagation::kUnset);
    return;
  }
  drop_references(value, [&](const Json& reference) { return !owner_lives(reference, object); });
  changes_.put(collection, std::move(value));
}

void Garbage::look_at_deleting(const Collection& collection, const Object& object) {
  const Json value = parse(object);
  const auto again = [&] { push(collection, object.key); };
  if (has_finalizer(value, kOrphanFinalizer)) {
    if (!release_dependents(object)) return again();
    return drop_finalizer(collection, object, kOrphanFinalizer);
  }
  if (has_finalizer(value, kForegroundFinalizer)) {
    // The last dependent that goes brings this one back into the queue.
    if (!remove_dependents(object)) return budget_ == 0 ? again() : void();
    return drop_finalizer(collection, object, kForegroundFinalizer);
  }
  if (collection.name == kNamespaces) {
    if (!empty_namespace(object.key.name)) return budget_ == 0 ? again() : void();
    Json empty = value;
    if (empty["spec"].is_object()) empty["spec"].erase("finalizers");
    changes_.put_or_remove(collection, std::move(empty));
  } else if (collection.name == kCustomResourceDefinitions && has_finalizer(value, kCrdFinalizer)) {
    if (!empty_collection(crd_collection(value))) return budget_ == 0 ? again() : void();
    drop_finalizer(collection, object, kCrdFinalizer);
  }
}

bool Garbage::release_dependents(const Object& owner) {
  for (const Store::Location& dependent : changes_.store().owned_by(owner.uid)) {
    if (!spend()) return false;
    Json value = parse(*dependent.object);
    drop_references(value, [&](const Json& reference) { return text_in(reference, "uid") == owner.uid; });
    changes_.put(*dependent.collection, std::move(value));
  }
  return true;
}

/// True: none is left that holds up its owner.
bool Garbage::remove_dependents(const Object& owner) {
  bool held = false;
  for (const Store::Location& dependent : changes_.store().owned_by(owner.uid)) {
    Json value = parse(*dependent.object);
    const Json reference = reference_to(value, owner.uid);
    if (!owner_lives(reference, *dependent.object)) continue;
    std::size_t others = 0;
    for (const Json& other : value["metadata"].value("ownerReferences", Json::array())) {
      const Store::Location position = changes_.store().find_uid(text_in(other, "uid"));
      if (position.object && !position.object->deleting && owner_lives(other, *dependent.object)) ++others;
    }
    const bool blocks = reference.value("blockOwnerDeletion", Json()) == true;
    if (dependent.object->deleting) {
      held = held || blocks;
      continue;
    }
    if (!spend()) return false;
    if (others > 0) {
      drop_references(value, [&](const Json& each) { return text_in(each, "uid") == owner.uid; });
      changes_.put(*dependent.collection, std::move(value));
      continue;
    }
    const bool owns = !changes_.store().owned_by(dependent.object->uid).empty();
    const ObjectPtr left = remove_object(changes_, *dependent.collection, *dependent.object,
                                         owns ? Propagation::kForeground : Propagation::kUnset);
    held = held || (left && blocks);
  }
  return !held;
}

bool Garbage::empty_namespace(const std::string& name) {
  bool empty = true;
  // By what is there, not by what is served: a kind may serve no version now and some later.
  for (const Collection* collection : changes_.store().collections()) {
    std::vector<ObjectPtr> content;
    for (auto at = collection->objects.lower_bound({name, ""});
         at != collection->objects.end() && at->first.name_space == name; ++at) {
      content.push_back(at->second);
    }
    for (const ObjectPtr& object : content) {
      if (object->deleting) {
        empty = false;
        continue;
      }
      if (!spend()) return false;
      if (remove_object(changes_, *collection, *object, Propagation::kUnset)) empty = false;
    }
  }
  return empty;
}

bool Garbage::empty_collection(const std::string& name) {
  const Collection& collection = changes_.store().collection(name);
  std::vector<ObjectPtr> content;
  for (const auto& [key, object] : collection.objects) content.push_back(object);
  bool empty = true;
  for (const ObjectPtr& object : content) {
    if (object->deleting) {
      empty = false;
      continue;
    }
    if (!spend()) return false;
    if (remove_object(changes_, collection, *object, Propagation::kUnset)) empty = false;
  }
  return empty;
}

void Garbage::drop_finalizer(const Collection& collection, const Object& object, std::string_view finalizer) {
  Json value = parse(object);
  Json& finalizers = value["metadata"]["finalizers"];
  std::erase_if(finalizers.get_ref<Json::array_t&>(), [&](const Json& name) { return name == finalizer; });
  if (finalizers.empty()) value["metadata"].erase("finalizers");
  changes_.put_or_remove(collection, std::move(value));
}

}  // namespace edge::resource_api
