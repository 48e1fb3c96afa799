// metadata.managedFields as values: who owns which fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/resource_api/objects/field_set.h"

namespace edge::resource_api::objects {

/// One entry.
struct Owner {
  std::string manager;
  bool applies = false;     ///< operation Apply, else Update
  std::string api_version;  ///< as last written
  std::string time;
  std::string subresource;
  FieldSet fields;

  /// Two writes of the same are one entry: an apply whatever its version, an update by version too.
  bool same_as(const Owner& other) const;
  bool operator==(const Owner&) const = default;
};
using Owners = std::vector<Owner>;

/// nullopt: it is not what an API server writes.
std::optional<Owners> read_owners(const Json& managed_fields);
/// In the order of an API server: applies first, then by time and name. Owners of nothing are left out. Of more than
/// ten updates the oldest become one entry, `ancient-changes`.
Json owners_json(Owners owners);

/// As a conflict names it: `"kubectl" using apps/v1`.
std::string owner_text(const Owner& owner);

}  // namespace edge::resource_api::objects
