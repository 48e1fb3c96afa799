// Which resources exist: the built-in ones and those of installed CustomResourceDefinitions. Discovery, OpenAPI and
// the dispatch of requests are functions of it.
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

/// One resource in one version that is served. Immutable once published.
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
  /// Has `/status`: writes of it and of the rest are kept apart.
  bool status = false;
  /// The version whose form is kept; managed fields and conversions start from it.
  bool storage = true;
  /// Of a CustomResourceDefinition: strategic merge patches get 415, unknown fields are pruned by the schema.
  bool custom = false;
  bool deprecated = false;
  std::string deprecation_warning{};
  /// What `kubectl get` shows behind Name.
  std::shared_ptr<const std::vector<objects::Column>> columns{};
  /// `.spec.nodeName` and the like, with the leading dot, beside metadata.name and metadata.namespace.
  std::vector<std::string> selectable_fields{};
  /// openAPIV3Schema as the CRD has it; null for built-in kinds.
  std::shared_ptr<const nlohmann::json> schema{};
  /// The same, or a built-in kind's shape, compiled. Never null.
  std::shared_ptr<const objects::Schema> shape{};
  /// In which collection of the store the objects are: `<group>/<plural>`. Views of one thing share it (events).
  std::string collection{};

  /// `v1`, `apps/v1`.
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

using ResourceTypePtr = std::shared_ptr<const ResourceType>;

class Registry {
 public:
  /// With the built-in kinds.
  Registry();

  /// By group, then version (the preferred first), then plural.
  std::span<const ResourceTypePtr> types() const { return types_; }
  /// nullptr: there is none.
  ResourceTypePtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  ResourceTypePtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  /// The version in which a collection is kept; nullptr when no version of it is served.
  ResourceTypePtr storage_of(std::string_view collection) const;

  /// Grows with each change; documents made from the registry may be kept until it does.
  std::uint64_t generation() const { return generation_; }

  /// All versions of one CustomResourceDefinition, in place of what was there under `collection`. Empty: it is gone.
  void replace(std::string_view collection, std::vector<ResourceTypePtr> versions);

 private:
  void sort();

  std::vector<ResourceTypePtr> types_;
  std::uint64_t generation_ = 1;
};

/// Kubernetes' order of versions, the best first: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name.
bool better_version(std::string_view a, std::string_view b);

}  // namespace edge::resource_api
