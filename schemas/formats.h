// Descriptions of string formats for users, and regular expressions for other programs. Validation is only in
// compiler/model/formats.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "schemas/schema.h"

namespace edge::schemas {

/// Returns the description for a message: "a duration such as `30s`".
std::string_view format_text(Format format);

/// Returns a regular expression that Go, ECMAScript and RE2 read alike; empty: none. It may accept more than the
/// compiler where only a parser can tell (a duration of more than 10 years).
std::string_view format_pattern(Format format);
/// Returns the most bytes of a text of this format; 0: only the pattern limits it.
std::uint32_t format_length(Format format);

}  // namespace edge::schemas
