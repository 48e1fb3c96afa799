// The parts of a request's target (RFC 3986 §3), decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/server/message.h"

namespace edge::net::server {

/// Percent-decoding (RFC 3986 §2.1); nullopt: malformed, or a NUL.
std::optional<std::string> decode_path(std::string_view text);
/// The parameters in order, `+` a space; nullopt too when there are more than 64.
std::optional<FieldList> decode_query(std::string_view text);

}  // namespace edge::net::server
