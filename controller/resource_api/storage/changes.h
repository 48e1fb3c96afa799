// Makes all changes of objects, so that the registry stays in step with the CustomResourceDefinitions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "controller/resource_api/registry.h"
#include "controller/resource_api/requests/watch.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

class Changes {
 public:
  /// All must outlive this object. `now`: milliseconds since 1970.
  Changes(Store& store, Registry& registry, Watches& watches, std::function<std::int64_t()> now)
      : store_(store), registry_(registry), watches_(watches), now_(std::move(now)) {}

  Store& store() { return store_; }
  const Registry& registry() const { return registry_; }
  std::int64_t seconds() const { return now_() / 1000; }
  /// Returns RFC 3339.
  std::string time() const;

  /// Creates or replaces an object in its stored form. For a CRD also sets the status and updates its types.
  ObjectPtr put(const Collection& collection, nlohmann::json object);
  void remove(const Collection& collection, const ObjectKey& key);
  /// As `put`, but removes an object that is being deleted and has no finalizers. nullptr: it was removed.
  ObjectPtr put_or_remove(const Collection& collection, nlohmann::json object);

  /// Rebuilds the registry from the stored CRDs: at the start, and after changes that did not become durable.
  void rebuild_registry();
  /// Applies the defaults of the storage version to stored objects of custom kinds, as an API server does when reading:
  /// objects may be older than the schema. For all kinds; and for those whose definitions a commit has changed.
  void show_defaults();
  void show_defaults(std::span<const Committed> committed);

 private:
  void publish(const nlohmann::json& crd);
  void update_other_definitions(std::string_view group);
  void show_defaults_of(std::string_view collection);

  Store& store_;
  Registry& registry_;
  Watches& watches_;
  std::function<std::int64_t()> now_;
};

/// Returns whether the object has no finalizers: metadata.finalizers, and for a namespace spec.finalizers.
bool is_free(const nlohmann::json& object, const Collection& collection);

}  // namespace edge::resource_api
