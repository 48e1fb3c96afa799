#include "base/text/scalar_offset.h"

#include <algorithm>

namespace edge {
namespace {

bool space(char c) { return c == ' ' || c == '\t'; }

/// Steps through a written scalar: each step takes some source bytes and gives zero or more decoded ones.
class Walker {
 public:
  Walker(std::string_view source, std::uint32_t begin, std::uint32_t end)
      : text_(source.substr(0, end)), at_(begin), quote_(begin < text_.size() ? text_[begin] : '\0') {
    if (quote_ == '"' || quote_ == '\'') {
      ++at_;
    } else if (quote_ == '|' || quote_ == '>') {
      begin_block();
    } else {
      quote_ = '\0';
    }
  }

  std::size_t offset_of(std::size_t decoded) {
    std::size_t given = 0;
    while (at_ < text_.size()) {
      const std::size_t before = at_;
      const std::size_t count = block() ? step_block() : step_flow();
      if (ended_) return before;
      if (given + count > decoded) return before;
      given += count;
      if (at_ == before) break;
    }
    return at_;
  }

 private:
  bool block() const { return quote_ == '|' || quote_ == '>'; }
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// Passes the header: `|` or `>`, an indentation and a chomping indicator in either order, a comment (YAML 1.2
  /// §8.1.1).
  void begin_block() {
    const std::size_t header = at_;
    std::size_t indicator = 0;
    for (++at_; at_ < text_.size() && text_[at_] != '\n' && !space(text_[at_]); ++at_) {
      if (text_[at_] >= '1' && text_[at_] <= '9') indicator = static_cast<std::size_t>(text_[at_] - '0');
    }
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    indent_ = indicator == 0 ? indent_of_first_line() : indent_above(header) + indicator;
    skip_indent();
    line_is_indented_ = at_ < text_.size() && space(text_[at_]);
  }

  /// Without an indicator the first line with content sets the indentation.
  std::size_t indent_of_first_line() const {
    for (std::size_t line = at_; line < text_.size();) {
      std::size_t first = line;
      while (first < text_.size() && text_[first] == ' ') ++first;
      if (first < text_.size() && text_[first] != '\n' && text_[first] != '\r') return first - line;
      line = std::min(text_.find('\n', first), text_.size() - 1) + 1;
    }
    return 0;
  }

  /// An indicator counts from the indentation of the collection that the scalar is in: the column of its key, or of the
  /// last dash where it is an entry of a list.
  std::size_t indent_above(std::size_t header) const {
    const std::size_t end_of_last = text_.rfind('\n', header);
    const std::size_t line = end_of_last == std::string_view::npos ? 0 : end_of_last + 1;
    std::size_t dash = std::string_view::npos;
    std::size_t key = line;
    while (key < header && (text_[key] == ' ' || (text_[key] == '-' && text_[key + 1] == ' '))) {
      if (text_[key] == '-') dash = key;
      ++key;
    }
    const bool entry = key == header || text_[key] == '&' || text_[key] == '!';
    if (entry) return dash == std::string_view::npos ? 0 : dash - line;
    return key - line;
  }

  void skip_indent() {
    for (std::size_t i = 0; i < indent_ && at_ < text_.size() && text_[at_] == ' '; ++i) ++at_;
  }

  std::size_t step_block() {
    if (text_[at_] == '\r' && peek(1) == '\n') {
      ++at_;
      return 0;
    }
    if (text_[at_] != '\n') {
      ++at_;
      return 1;
    }
    if (quote_ == '|') {
      ++at_;
      skip_indent();
      return 1;
    }
    // Folded: one line end is a space, n of them are n - 1 line ends, except beside lines that are indented further.
    const bool indented_before = line_is_indented_;
    std::size_t ends = 0;
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
      if (text_[at_] == '\n') ++ends;
      ++at_;
      if (text_[at_ - 1] == '\n') skip_indent();
    }
    line_is_indented_ = at_ < text_.size() && space(text_[at_]);
    if (indented_before || line_is_indented_ || at_ >= text_.size()) return ends;
    return ends == 1 ? 1 : ends - 1;
  }

  std::size_t step_flow() {
    const char c = text_[at_];
    if (quote_ == '"' && c == '\\') return step_escape();
    if (quote_ == '"' && c == '"') return end_here();
    if (quote_ == '\'' && c == '\'') {
      if (peek(1) != '\'') return end_here();
      at_ += 2;
      return 1;
    }
    // Spaces before a line end belong to the line end.
    std::size_t look = at_;
    while (look < text_.size() && space(text_[look])) ++look;
    if (look < text_.size() && (text_[look] == '\n' || text_[look] == '\r')) return step_line_ends(look);
    ++at_;
    return 1;
  }

  std::size_t end_here() {
    ended_ = true;
    return 0;
  }

  std::size_t step_line_ends(std::size_t look) {
    std::size_t ends = 0;
    while (look < text_.size() && (space(text_[look]) || text_[look] == '\n' || text_[look] == '\r')) {
      if (text_[look] == '\n') ++ends;
      ++look;
    }
    at_ = look;
    return ends <= 1 ? 1 : ends - 1;
  }

  std::uint32_t hex(std::size_t digits) {
    std::uint32_t value = 0;
    for (; digits > 0 && at_ < text_.size(); --digits, ++at_) {
      const char c = text_[at_];
      value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
  }

  /// YAML 1.2 §5.7, with JSON's among them. `\N` and `\_` are one byte, as the parser gives them in Latin-1.
  std::size_t step_escape() {
    const char kind = peek(1);
    at_ += 2;
    std::size_t digits = 0;
    switch (kind) {
      case '\r':
      case '\n':
        if (kind == '\r' && peek(0) == '\n') ++at_;
        while (at_ < text_.size() && space(text_[at_])) ++at_;
        return 0;
      case 'L':
      case 'P':
        return 3;
      case 'x':
        digits = 2;
        break;
      case 'u':
        digits = 4;
        break;
      case 'U':
        digits = 8;
        break;
      default:
        return 1;
    }
    const std::uint32_t point = hex(digits);
    // JSON's two escapes for one character (RFC 8259 §7).
    if (point >= 0xd800 && point <= 0xdbff && peek(0) == '\\' && peek(1) == 'u') {
      at_ += 2;
      hex(4);
      return 4;
    }
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }

  std::string_view text_;
  std::size_t at_;
  char quote_;
  std::size_t indent_ = 0;
  bool line_is_indented_ = false;
  bool ended_ = false;
};

}  // namespace

std::uint32_t scalar_offset(std::string_view source, std::uint32_t begin, std::uint32_t end, std::size_t decoded) {
  const auto size = static_cast<std::uint32_t>(source.size());
  begin = std::min(begin, size);
  end = std::clamp(end, begin, size);
  const std::size_t offset = Walker(source, begin, end).offset_of(decoded);
  return static_cast<std::uint32_t>(std::min<std::size_t>(offset, end));
}

std::uint32_t scalar_end(std::string_view source, std::uint32_t begin, std::string_view value) {
  const auto size = static_cast<std::uint32_t>(source.size());
  begin = std::min(begin, size);
  const char first = begin < size ? source[begin] : '\0';
  if (first == '"' || first == '\'') {
    const std::uint32_t last = scalar_offset(source, begin, size, value.size());
    return std::min(last + 1, size);
  }
  if (first != '|' && first != '>' && source.substr(begin).starts_with(value)) {
    return begin + static_cast<std::uint32_t>(value.size());
  }
  if (value.empty()) return std::min(begin + 1, size);
  return std::min(scalar_offset(source, begin, size, value.size() - 1) + 1, size);
}

}  // namespace edge
