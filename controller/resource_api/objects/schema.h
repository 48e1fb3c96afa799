// The schema of a kind: a structural OpenAPI v3 schema, compiled once, for validation, pruning, defaults, unknown
// fields and list merging. Built-in kinds have one too (built_in.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/pattern.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

enum class SchemaType : std::uint8_t {
  kAny,  ///< unspecified
  kObject,
  kArray,
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kIntOrString,
};

/// x-kubernetes-list-type. kUnset is atomic for server-side apply, and is not checked for duplicates.
enum class ListType : std::uint8_t { kUnset, kAtomic, kSet, kMap };

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;
class CelRule;

struct NumberBound {
  double value = 0;
  bool exclusive = false;
};

/// Constraints of a value in addition to its type. Separate, because most nodes have none.
struct ValueRules {
  std::shared_ptr<const Json> values;  ///< enum, an array
  std::string format;
  std::shared_ptr<const Pattern> pattern;
  std::optional<NumberBound> minimum;
  std::optional<NumberBound> maximum;
  std::optional<double> multiple_of;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
  std::vector<std::string> required;
  std::vector<SchemaPtr> all_of, any_of, one_of;
  SchemaPtr negated;  ///< not
  std::vector<std::shared_ptr<const CelRule>> cel;
};

struct Schema {
  SchemaType type = SchemaType::kAny;
  ListType list_type = ListType::kUnset;
  bool nullable = false;
  bool preserve_unknown = false;   ///< x-kubernetes-preserve-unknown-fields
  bool embedded_resource = false;  ///< x-kubernetes-embedded-resource
  bool atomic_map = false;         ///< x-kubernetes-map-type: atomic
  bool any_additional = false;     ///< additionalProperties: true
  // Strategic merge patch, for built-in kinds.
  bool patch_merges = false;        ///< x-kubernetes-patch-strategy has `merge`
  bool patch_retains_keys = false;  ///< ... has `retainKeys`
  std::string patch_merge_key;
  std::vector<std::string> map_keys;  ///< x-kubernetes-list-map-keys
  std::map<std::string, SchemaPtr, std::less<>> properties;
  SchemaPtr additional;  ///< for the values of a map
  SchemaPtr items;
  std::shared_ptr<const Json> default_value;
  std::shared_ptr<const ValueRules> rules;

  /// Returns the schema of a field by name; nullptr: unknown, or unspecified.
  const Schema* field(std::string_view name) const;
  /// Returns whether unknown fields are preserved.
  bool open() const { return preserve_unknown || any_additional || (type == SchemaType::kAny && properties.empty()); }
};

/// kWithoutPatterns: patterns are known to be regular expressions.
enum class Checks : std::uint8_t { kAll, kWithoutPatterns };

/// Compiles an `openAPIV3Schema`. What no structural schema may say, or says wrongly, is added to `causes` with paths
/// below `path`; nullptr when there was any. Bounded: depth 64, 100,000 nodes. apiVersion, kind and metadata of the
/// root are put in as every resource has them.
SchemaPtr compile_schema(const Json& open_api, std::string_view path, Causes& causes, Checks checks = Checks::kAll);

/// Returns the schema of an unknown kind: all fields are preserved, lists are atomic.
SchemaPtr schemaless();

/// Validates `object`, adding at most kMaxCauses errors to `causes`. Does not check metadata (metadata.h). `old` is the
/// object before an update, for CEL transition rules. nullptr: created.
void validate(const Schema& schema, const Json& object, const Json* old, Causes& causes);

/// Fills in defaults, recursively. Null counts as absent where it is not allowed and there is a default.
void apply_defaults(const Schema& schema, Json& object);
/// Returns whether the schema has defaults.
bool has_defaults(const Schema& schema);

/// Removes fields that are not in the schema; adds their paths (`spec.a[0].b`) to `dropped` if given. fieldValidation
/// words them: `unknown field "spec.a[0].b"`.
void prune(const Schema& schema, Json& object, std::vector<std::string>* dropped = nullptr);

/// Returns the paths of unknown fields, without removing them.
std::vector<std::string> unknown_fields(const Schema& schema, const Json& object);

}  // namespace edge::resource_api::objects
