// Brackets of flow collections, found without parsing. The parser reads a flow collection to its end before it tells of
// its beginning, since it may turn out to be a key: brackets without end would fill the memory first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edge::compiler::yaml {

/// Behind the quoted scalar that begins at `at`; npos when it does not end.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// The bracket that closes the `{` or `[` at `begin`, quotes and comments passed over; nullopt when there is none.
std::optional<std::uint32_t> find_closing(std::string_view text, std::uint32_t begin);

/// The first bracket below more than `depth` others. What stands in block scalars, quotes and comments is none; plain
/// text over several lines may be taken for one, so `depth` is to be far from what anybody writes. Linear in the text.
std::optional<std::uint32_t> find_too_deep(std::string_view text, std::size_t depth);

}  // namespace edge::compiler::yaml
