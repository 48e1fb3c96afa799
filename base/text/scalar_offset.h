// Maps bytes of a decoded value to positions in the source: through quotes, escapes, folded lines and block
// indentation. So that an error inside an expression or a pattern is shown at its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge {

/// Returns the source offset of byte `decoded` of the YAML or JSON scalar that begins at `begin` (its quote, its block
/// indicator, or its first byte) and ends before `end`. Beyond the value's end: the offset after its last byte. Linear.
std::uint32_t scalar_offset(std::string_view source, std::uint32_t begin, std::uint32_t end, std::size_t decoded);

/// Returns where the scalar that begins at `begin` ends: after its quote, or after the last byte of the decoded
/// `value`.
std::uint32_t scalar_end(std::string_view source, std::uint32_t begin, std::string_view value);

}  // namespace edge
