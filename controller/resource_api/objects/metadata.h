// metadata: what every object has, and the rules of names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// What a kind's names are made of.
enum class NameRule : std::uint8_t {
  kSubdomain,    ///< RFC 1123 subdomain, 253 bytes: most kinds
  kLabel,        ///< RFC 1123 label, 63 bytes: Namespace
  kDns1035,      ///< begins with a letter: Service
  kPathSegment,  ///< anything but `.`, `..`, `/` and `%`: RBAC kinds
};

/// What is wrong with a name; empty: nothing. `prefix`: a generateName, which may end in `-`.
std::string name_fault(std::string_view name, NameRule rule, bool prefix = false);

/// Faults of object.metadata, with fields below `metadata`. A list of types that are wrong ends it.
void validate_metadata(const Json& object, NameRule rule, bool namespaced, Causes& causes);
/// What an update may not change: name, namespace, uid, creationTimestamp, deletionTimestamp, and, while the object is
/// being deleted, new finalizers.
void validate_metadata_update(const Json& object, const Json& old, Causes& causes);

/// Seconds since 1970 of `2024-05-01T10:00:00Z` (fractions and offsets are taken); -1: not a time.
std::int64_t time_of(std::string_view rfc3339);
/// `2024-05-01T10:00:00Z`.
std::string time_text(std::int64_t unix_seconds);

}  // namespace edge::resource_api::objects
