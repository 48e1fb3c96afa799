// Finds the boundaries of documents in a text without parsing them, so that an error in one cannot hide another.
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

/// Returns pieces with content: comments, blank lines and directives alone do not count. Stops after `most` + 1 pieces.
std::vector<Piece> split_documents(std::string_view text, std::size_t most);
/// Returns the pieces that can be read one by one. What the reader refuses as a whole is one, so that it is reported
/// once.
std::vector<Piece> readable_pieces(std::string_view text);

/// Returns the first byte that YAML does not allow (YAML 1.2 §5.1): a control byte, or invalid UTF-8.
std::optional<std::uint32_t> find_bad_byte(std::string_view text);

}  // namespace edge::compiler::yaml
