// Decodes the parts of a request target (RFC 3986 §3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/server/message.h"

namespace edge::net::server {

/// Percent-decodes (RFC 3986 §2.1); nullopt: malformed, or contains NUL.
std::optional<std::string> decode_path(std::string_view text);
/// Returns the parameters in order, with `+` as a space; nullopt also when there are more than 64.
std::optional<FieldList> decode_query(std::string_view text);

}  // namespace edge::net::server
