#include "compiler/yaml/split.h"

#include <cstring>

#include "compiler/yaml/read.h"

namespace edge::compiler::yaml {
namespace {

bool blank_or_cr(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// `---` or `...` at the start of a line, alone or before white space (YAML 1.2 §9.1.2). Such a line cannot stand
/// inside a scalar of any style.
bool is_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == marker.size() || blank_or_cr(line[marker.size()]));
}

/// Whether a line can be left out: blank_or_cr, a comment, a directive.
bool is_empty_line(std::string_view line) {
  if (line.starts_with('%')) return true;
  for (const char c : line) {
    if (c == '#') return true;
    if (!blank_or_cr(c)) return false;
  }
  return true;
}

/// Length of the UTF-8 sequence at `at` (RFC 3629 §4), 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(at);
  const unsigned second = byte(at + 1);
  if (first >= 0xc2 && first <= 0xdf) return tail(at + 1) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    return tail(at + 1) && tail(at + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    return tail(at + 1) && tail(at + 2) && tail(at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::vector<Piece> split_documents(std::string_view text, std::size_t most) {
  std::vector<Piece> pieces;
  std::size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  bool content = false;
  const auto close = [&](std::size_t end) {
    if (content) pieces.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    content = false;
  };
  for (std::size_t at = begin; at < text.size() && pieces.size() <= most;) {
    const void* found = std::memchr(text.data() + at, '\n', text.size() - at);
    const std::size_t line_end =
        found == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    std::string_view line = text.substr(at, line_end - at);
    const bool start = is_marker(line, "---");
    if (start || is_marker(line, "...")) {
      close(at);
      begin = at + 3;
      line.remove_prefix(3);
      // What follows `---` on its line belongs to the document; nothing does after `...`.
      if (!start && is_empty_line(line)) begin = line_end;
    }
    if (!content) content = !is_empty_line(line);
    at = line_end + 1;
  }
  close(text.size());
  return pieces;
}

std::optional<std::uint32_t> find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (byte >= 0x20 && byte < 0x7f) {
      ++at;
      continue;
    }
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      ++at;
      continue;
    }
    const std::size_t length = byte < 0x80 ? 0 : sequence_length(text, at);
    if (length == 0) return static_cast<std::uint32_t>(at);
    at += length;
  }
  return std::nullopt;
}

std::vector<Piece> readable_pieces(std::string_view text) {
  const ReadLimits limits;
  const auto size = static_cast<std::uint32_t>(text.size());
  if (text.size() > limits.bytes || find_bad_byte(text)) return {{0, size}};
  std::vector<Piece> pieces = split_documents(text, limits.documents);
  if (pieces.size() > limits.documents) return {{0, size}};
  return pieces;
}

}  // namespace edge::compiler::yaml
