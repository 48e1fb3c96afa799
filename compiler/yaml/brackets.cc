#include "compiler/yaml/brackets.h"

#include <algorithm>

#include "compiler/yaml/characters.h"

namespace edge::compiler::yaml {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

std::size_t end_of_line(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

/// How a flow collection ends: after its last bracket, at one that is nested too deep, or not at all.
struct Flow {
  std::size_t end = kNowhere;
  std::size_t too_deep = kNowhere;
};

Flow scan_flow(std::string_view text, std::size_t at, std::size_t most) {
  std::size_t depth = 0;
  bool token_may_begin = true;
  while (at < text.size()) {
    const char c = text[at];
    if (token_may_begin && (c == '"' || c == '\'')) {
      at = std::min(quoted_end(text, at), text.size());
      token_may_begin = false;
      continue;
    }
    if (c == '#' && at > 0 && (blank(text[at - 1]) || ends_line(text[at - 1]))) {
      at = end_of_line(text, at);
      continue;
    }
    if (opens(c) && ++depth > most) return {.end = kNowhere, .too_deep = at};
    if (closes(c) && --depth == 0) return {.end = at + 1, .too_deep = kNowhere};
    token_may_begin = opens(c) || closes(c) || blank(c) || ends_line(c) || c == ',' || c == ':';
    ++at;
  }
  return {};
}

/// Scans block style line by line, up to the beginning of each flow collection.
class BlockScan {
 public:
  BlockScan(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  std::optional<std::uint32_t> run() {
    while (at_ < text_.size() && !found_) {
      const std::size_t line = at_;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      const bool empty = at_ >= text_.size() || ends_line(text_[at_]);
      if (in_scalar_ && (empty || at_ - line > scalar_above_)) {
        at_ = end_of_line(text_, at_) + 1;
        continue;
      }
      in_scalar_ = false;
      tokens(line);
    }
    return found_;
  }

 private:
  /// The tokens of a line, and of the lines that quotes and brackets in it go on to.
  void tokens(std::size_t line) {
    std::size_t column = at_ - line;  // of the last dash or key: a block scalar below it is indented further
    while (at_ < text_.size() && !ends_line(text_[at_])) {
      const char c = text_[at_];
      const bool alone = at_ + 1 >= text_.size() || blank(text_[at_ + 1]) || ends_line(text_[at_ + 1]);
      if (blank(c) || (c == ':' && alone)) {
        ++at_;
      } else if ((c == '-' || c == '?') && alone) {
        column = at_ - line;
        ++at_;
      } else if (c == '#') {
        break;
      } else if (c == '&' || c == '!') {
        while (at_ < text_.size() && !blank(text_[at_]) && !ends_line(text_[at_])) ++at_;
      } else if (c == '|' || c == '>') {
        in_scalar_ = true;
        scalar_above_ = column;
        break;
      } else if (c == '"' || c == '\'') {
        column = at_ - line;
        at_ = std::min(quoted_end(text_, at_), text_.size());
      } else if (opens(c)) {
        if (!flow()) return;
      } else if (!plain_key()) {
        break;
      } else {
        column = key_ - line;
      }
    }
    at_ = end_of_line(text_, at_) + 1;
  }

  bool flow() {
    const Flow flow = scan_flow(text_, at_, most_);
    if (flow.too_deep != kNowhere) found_ = static_cast<std::uint32_t>(flow.too_deep);
    at_ = std::min(flow.end, text_.size());
    return flow.end != kNowhere;
  }

  /// Passes a plain key and its colon; false when the plain text is no key: then the rest of the line belongs to it.
  bool plain_key() {
    key_ = at_;
    const std::size_t end = end_of_line(text_, at_);
    for (; at_ < end; ++at_) {
      const bool last = at_ + 1 >= end || blank(text_[at_ + 1]) || ends_line(text_[at_ + 1]);
      if (text_[at_] == ':' && last) return true;
    }
    return false;
  }

  std::string_view text_;
  std::size_t most_;
  std::size_t at_ = 0;
  std::size_t key_ = 0;
  bool in_scalar_ = false;
  std::size_t scalar_above_ = 0;
  std::optional<std::uint32_t> found_;
};

}  // namespace

std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote != '\'' || at + 1 >= text.size() || text[at + 1] != '\'') return at + 1;
      ++at;
    }
  }
  return kNowhere;
}

std::optional<std::uint32_t> find_closing(std::string_view text, std::uint32_t begin) {
  const Flow flow = scan_flow(text, begin, kNowhere);
  if (flow.end == kNowhere) return std::nullopt;
  return static_cast<std::uint32_t>(flow.end - 1);
}

std::optional<std::uint32_t> find_too_deep(std::string_view text, std::size_t depth) {
  return BlockScan(text, depth).run();
}

}  // namespace edge::compiler::yaml
