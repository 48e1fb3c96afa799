// Generates unique names: uids, and names for generateName.
#pragma once

#include <string>
#include <string_view>

namespace edge::resource_api {

/// Returns a random UUID (RFC 9562 §5.4).
std::string new_uid();
/// Returns `prefix`, cut to leave room, and five random letters and digits.
std::string generated_name(std::string_view prefix);

}  // namespace edge::resource_api
