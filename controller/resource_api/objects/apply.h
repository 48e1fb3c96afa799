// Server-side apply and managedFields: tracks the owner of each field, and detects conflicts.
//
// A field belongs to the managers that last wrote its value. `apply` merges a manager's complete intent into the
// object: the fields in it are set (a conflict when another manager owns a different value), and fields that the
// manager applied before and omits now are removed unless another owns them. Every other write uses `track`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// The writer of a change. Times are passed in, RFC 3339.
struct Writer {
  std::string manager{};      ///< fieldManager, or the user agent up to the first `/`
  std::string api_version{};  ///< of the written object
  std::string time{};
  std::string subresource{};  ///< empty, or `status`
  /// The kind has a status subresource: other writes never own status, status writes own nothing else.
  bool has_status = false;
};

/// The result of an apply.
struct Applied {
  std::unique_ptr<Json> object;  ///< with managedFields; resourceVersion and similar fields unchanged
  bool changed = false;          ///< false: only times would differ, nothing needs to be written
};

/// Applies. `live`: nullptr when the object is created. `intent`: the applied object, without managedFields. 409 with
/// FieldManagerConflict causes when others own fields with other values and not `force`; 400 or 422 when the intent
/// violates the schema's lists (an item without its keys, duplicate keys).
Answer<Applied> apply(const Schema& schema, const Json* live, const Json& intent, const Writer& writer, bool force);

/// Called after a create, update or patch: sets changed.metadata.managedFields from the differences to `live` (nullptr:
/// created). `[{}]` or an empty list in `changed` removes all owners. Without differences live's managedFields are
/// kept. Must be called last, with defaults filled in and status as it will be stored.
void track(const Schema& schema, const Json* live, Json& changed, const Writer& writer);

/// Returns the error of a manager's name (empty: none): 128 printable bytes.
std::string manager_fault(std::string_view manager);
/// Returns the manager for a request that names none: the user agent up to the first `/`, printable, at most 128 bytes.
std::string manager_of(std::string_view user_agent);
/// Validates metadata.managedFields sent by a client.
void validate_managed_fields(const Json& object, Causes& causes);

}  // namespace edge::resource_api::objects
