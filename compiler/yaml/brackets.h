// Finds brackets of flow collections without parsing. The parser reads a flow collection to its end before it reports
// its beginning, because it may be a key: unlimited brackets would exhaust memory first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edge::compiler::yaml {

/// Returns the position after the quoted scalar that begins at `at`; npos when it is unterminated.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// Returns the bracket that closes the `{` or `[` at `begin`, skipping quotes and comments; nullopt when there is none.
std::optional<std::uint32_t> find_closing(std::string_view text, std::uint32_t begin);

/// Returns the first bracket nested in more than `depth` others. Ignores block scalars, quotes and comments; multi-line
/// plain text may be misread, so that `depth` must be well above realistic input. Linear in the text.
std::optional<std::uint32_t> find_too_deep(std::string_view text, std::size_t depth);

}  // namespace edge::compiler::yaml
