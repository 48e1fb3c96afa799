// Parses a request's path and query to an Operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controller/resource_api/api.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/objects/table.h"
#include "controller/resource_api/registry.h"
#include "controller/resource_api/requests/selectors.h"

namespace edge::resource_api {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };
enum class VersionMatch : std::uint8_t { kUnset, kExact, kNotOlderThan };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

/// The form in which objects are returned.
struct Form {
  enum class As : std::uint8_t { kObject, kTable, kMetadata };
  As as = As::kObject;
  /// Version of meta.k8s.io: v1 or v1beta1.
  std::string version{};
  objects::IncludeObject include = objects::IncludeObject::kMetadata;
};

struct Operation {
  Verb verb = Verb::kGet;
  ResourceTypePtr type{};
  std::string name_space{};  ///< empty: cluster-scoped, or all namespaces
  std::string name{};
  std::string subresource{};  ///< empty, `status`, `finalize`

  Form form{};
  Selector selector{};
  bool dry_run = false;

  // For lists and watches.
  std::optional<std::int64_t> version{};  ///< resourceVersion, as given
  VersionMatch match = VersionMatch::kUnset;
  std::size_t limit = 0;  ///< 0: none
  std::string continued{};
  std::optional<std::int64_t> timeout_seconds{};
  bool bookmarks = false;
  std::optional<bool> initial_events{};

  // For writes.
  FieldValidation field_validation = FieldValidation::kWarn;
  std::string manager{};
  bool manager_given = false;
  bool force = false;
  PatchType patch = PatchType::kJson;

  objects::Subject subject() const { return {type->group, type->plural, type->kind}; }
};

/// 404 for an unknown path; 405, 406, 415, 400 and 422 for invalid parameters.
objects::Answer<Operation> read_operation(const ApiRequest& request, const Registry& registry);

/// Returns the last value of a query parameter; nullptr: absent.
const std::string* parameter(const ApiRequest& request, std::string_view name);

/// `application/json; charset=utf-8` -> `application/json`, in lower case.
std::string media_type(std::string_view content_type);

}  // namespace edge::resource_api
