// What the formats of strings are, for people and for programs that know no more than regular expressions. Whether a
// text has its format is told by compiler/model/formats.h alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "schemas/schema.h"

namespace edge::schemas {

/// What the format is, for a message: "a duration such as `30s`".
std::string_view format_text(Format format);

/// A regular expression that Go, ECMAScript and RE2 read alike; empty: none, or none is needed. It may take more than
/// the compiler does where only a parser can tell (a duration of more than 10 years).
std::string_view format_pattern(Format format);
/// The most bytes of a text of this format; 0: no bound but that of the pattern.
std::uint32_t format_length(Format format);

}  // namespace edge::schemas
