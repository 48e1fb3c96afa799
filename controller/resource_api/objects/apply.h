// Server-side apply and managedFields: who wrote which field, and what follows when two want the same one.
//
// A field belongs to the managers that last wrote its value. `apply` merges a manager's whole intent into the object:
// fields that it names are set (a conflict when another owns a different value), those that it named before and no
// longer does are removed unless another owns them. Every other write goes through `track`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// Who writes. Times are passed in, RFC 3339.
struct Writer {
  std::string manager{};      ///< fieldManager, or the user agent up to the first `/`
  std::string api_version{};  ///< of the object as written
  std::string time{};
  std::string subresource{};  ///< empty, or `status`
  /// The kind has a status subresource: main writes never own status, status writes own nothing else.
  bool has_status = false;
};

/// What came of an apply.
struct Applied {
  std::unique_ptr<Json> object;  ///< with managedFields; resourceVersion and the like as they were
  bool changed = false;          ///< false: nothing but times would differ, nothing needs to be written
};

/// `live`: nullptr when the object is created. `intent`: the applied object, without managedFields.
/// 409 with FieldManagerConflict causes when others own fields with other values and not `force`; 400 or 422 when the
/// intent does not fit the schema's lists (an item without its keys, two of the same keys).
Answer<Applied> apply(const Schema& schema, const Json* live, const Json& intent, const Writer& writer, bool force);

/// After a create, update or patch: sets changed.metadata.managedFields from what differs from `live` (nullptr:
/// created). `[{}]` or an empty list in `changed` forgets all owners. Nothing differs: live's managedFields are kept.
/// Call it last, when defaults are in and status is as it will be stored.
void track(const Schema& schema, const Json* live, Json& changed, const Writer& writer);

/// Faults of a manager's name (empty: none): 128 printable bytes.
std::string manager_fault(std::string_view manager);
/// The manager of a request that names none: the user agent up to the first `/`, printable, at most 128 bytes.
std::string manager_of(std::string_view user_agent);
/// Faults of metadata.managedFields as a client sends it.
void validate_managed_fields(const Json& object, Causes& causes);

}  // namespace edge::resource_api::objects
