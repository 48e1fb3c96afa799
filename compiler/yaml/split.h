// Where documents begin and end in a text, found without parsing them, so that a fault in one cannot hide another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace edge::compiler::yaml {

/// Bytes [begin, end) of a text: one document without its `---`.
struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Pieces with content: comments, blank lines and directives alone are none. Stops after `most` + 1 pieces.
std::vector<Piece> split_documents(std::string_view text, std::size_t most);

/// The first byte that no YAML text has (YAML 1.2 §5.1): a control byte, or what is not UTF-8.
std::optional<std::uint32_t> find_bad_byte(std::string_view text);

}  // namespace edge::compiler::yaml
