// Objects without what is nobody's business, for archives that are sent away.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// What stands in the place of a value that was taken out.
inline constexpr const char* kRedacted = "<redacted>";

/// Takes out: all data of secrets, copies of the object in annotations, managed fields, what fields named like
/// passwords, tokens and keys say, and values of header fields that carry credentials. \returns how many values were
/// taken out of the spec, where programs may have them too.
std::size_t redact(nlohmann::json& object);

}  // namespace edge::edgectl
