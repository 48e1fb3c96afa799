// Validates metadata, which all objects have, and names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// The allowed form of a kind's names.
enum class NameRule : std::uint8_t {
  kSubdomain,    ///< RFC 1123 subdomain, 253 bytes: most kinds
  kLabel,        ///< RFC 1123 label, 63 bytes: Namespace
  kDns1035,      ///< begins with a letter: Service
  kPathSegment,  ///< anything but `.`, `..`, `/` and `%`: RBAC kinds
};

/// Returns the error of a name; empty: none. `prefix`: a generateName, which may end in `-`.
std::string name_fault(std::string_view name, NameRule rule, bool prefix = false);

/// Validates object.metadata, with fields below `metadata`. Fields of a wrong type end the validation.
void validate_metadata(const Json& object, NameRule rule, bool namespaced, Causes& causes);
/// Validates what an update may not change: name, namespace, uid, creationTimestamp, deletionTimestamp, and, while the
/// object is being deleted, new finalizers.
void validate_metadata_update(const Json& object, const Json& old, Causes& causes);

/// Returns the seconds since 1970 of `2024-05-01T10:00:00Z` (fractions and offsets are accepted); -1: not a time.
std::int64_t time_of(std::string_view rfc3339);
/// `2024-05-01T10:00:00Z`.
std::string time_text(std::int64_t unix_seconds);

}  // namespace edge::resource_api::objects
