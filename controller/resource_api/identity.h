// Names that nobody else has: uids, and what generateName grows into.
#pragma once

#include <string>
#include <string_view>

namespace edge::resource_api {

/// A random UUID (RFC 9562 §5.4).
std::string new_uid();
/// `prefix`, cut to leave room, and five random letters and digits.
std::string generated_name(std::string_view prefix);

}  // namespace edge::resource_api
