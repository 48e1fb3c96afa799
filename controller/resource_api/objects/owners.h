// The parsed form of metadata.managedFields: which manager owns which fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/resource_api/objects/field_set.h"

namespace edge::resource_api::objects {

/// One entry of managedFields.
struct Owner {
  std::string manager;
  bool applies = false;     ///< operation Apply, else Update
  std::string api_version;  ///< as last written
  std::string time;
  std::string subresource;
  FieldSet fields;

  /// Returns whether two writes share one entry: applies regardless of version, updates by version too.
  bool same_as(const Owner& other) const;
  bool operator==(const Owner&) const = default;
};
using Owners = std::vector<Owner>;

/// Parses managedFields; nullopt: not in the form that an API server writes.
std::optional<Owners> read_owners(const Json& managed_fields);
/// Returns managedFields in the order of an API server: applies first, then by time and name. Owners without fields are
/// omitted. Of more than ten updates the oldest are merged to one entry, `ancient-changes`.
Json owners_json(Owners owners);

/// Returns an owner's text in a conflict: `"kubectl" using apps/v1`.
std::string owner_text(const Owner& owner);

}  // namespace edge::resource_api::objects
