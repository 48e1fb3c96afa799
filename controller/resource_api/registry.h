// The existing resources: built-in ones and those of installed CustomResourceDefinitions. Discovery, OpenAPI and
// request dispatch use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::resource_api {

namespace objects {
struct Schema;
struct Column;
}  // namespace objects

/// One resource in one served version. Immutable once published.
struct ResourceType {
  std::string group;  ///< empty: the core group
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  bool namespaced = true;
  /// Has `/status`: writes of the status and of the rest are separate.
  bool status = false;
  /// The storage version; managed fields and conversions start from it.
  bool storage = true;
  /// From a CustomResourceDefinition: strategic merge patches get 415, unknown fields are pruned by the schema.
  bool custom = false;
  bool deprecated = false;
  std::string deprecation_warning{};
  /// The columns of `kubectl get` after Name.
  std::shared_ptr<const std::vector<objects::Column>> columns{};
  /// `.spec.nodeName` and others, with the leading dot, in addition to metadata.name and metadata.namespace.
  std::vector<std::string> selectable_fields{};
  /// The CRD's openAPIV3Schema; null for built-in kinds.
  std::shared_ptr<const nlohmann::json> schema{};
  /// The compiled schema, of built-in kinds too. Never null.
  std::shared_ptr<const objects::Schema> shape{};
  /// The collection of the store with the objects: `<group>/<plural>`. Two views of the same objects share it (events).
  std::string collection{};

  /// `v1`, `apps/v1`.
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

using ResourceTypePtr = std::shared_ptr<const ResourceType>;

class Registry {
 public:
  /// Has the built-in kinds.
  Registry();

  /// Returns all types by group, then version (the preferred first), then plural.
  std::span<const ResourceTypePtr> types() const { return types_; }
  /// nullptr: there is none.
  ResourceTypePtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  ResourceTypePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// Returns the storage version of a collection; nullptr when no version of it is served.
  ResourceTypePtr storage_of(std::string_view collection) const;

  /// Changes with each change; documents made from the registry can be cached until then.
  std::uint64_t generation() const { return generation_; }

  /// Replaces the versions of one CustomResourceDefinition, identified by `collection`. Empty: it was deleted.
  void replace(std::string_view collection, std::vector<ResourceTypePtr> versions);

 private:
  void sort();

  std::vector<ResourceTypePtr> types_;
  std::uint64_t generation_ = 1;
};

/// Compares by Kubernetes' order of versions, the best first: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name.
bool better_version(std::string_view a, std::string_view b);

}  // namespace edge::resource_api
