#include "compiler/yaml/mistakes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/yaml/brackets.h"
#include "compiler/yaml/characters.h"
#include "compiler/yaml/flow_mistakes.h"

namespace edge::compiler::yaml {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

std::string spaces(std::size_t count) { return std::to_string(count) + (count == 1 ? " space" : " spaces"); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

constexpr std::size_t kMostLevels = 200;
constexpr std::size_t kMostAliases = 100;

/// A collection in block style that is still open.
struct Level {
  std::size_t column = 0;
  bool list = false;
  Span first{};           ///< the key or dash that it begins with
  Span last{};            ///< the last key or dash
  bool awaits = false;    ///< nothing stands behind the last key or dash yet: what is indented further belongs to it
  std::size_t value = 0;  ///< else where its value begins
};

/// Scans the lines of one document.
class Lines {
 public:
  Lines(std::string_view text, std::uint32_t source, Piece piece, std::uint32_t fault, Citing citing)
      : text_(text.substr(0, piece.end)), source_(source), at_(piece.begin), fault_(fault), citing_(citing) {}

  std::optional<Diagnostic> run() {
    while (at_ < text_.size() && !mistake_) {
      // Where the parser went on without complaint there is nothing to find.
      if (at_ > fault_) break;
      const std::size_t begin = at_;
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      at_ = end + 1;
      line(begin, end);
    }
    return std::move(mistake_);
  }

 private:
  Span span(std::size_t begin, std::size_t end) const {
    return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(std::max(end, begin + 1))};
  }

  void tell(Span where, std::string message, std::string fix, std::vector<Label> labels = {}) {
    if (mistake_) return;
    mistake_ = mistake_at(where, std::move(message), std::move(fix), std::move(labels));
  }

  std::string cite(std::string_view words) const { return cited(words, citing_); }
  /// A bracket or quote, which tells nothing.
  std::string one(std::size_t at) const { return "`" + std::string(1, text_[at]) + "`"; }

  void line(std::size_t begin, std::size_t end) {
    const std::string_view all = trimmed(text_.substr(begin, end - begin));
    std::size_t first = all.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    if (block_text_ && first > block_above_) return;
    block_text_ = false;
    const std::size_t past = all.find_first_not_of(" \t");
    if (past == std::string_view::npos || all[past] == '#') return;
    if (conflict(begin, all)) return;
    if (past != first) {
      tell(span(begin + first, begin + past), "a tab indents this line",
           "indent with spaces: YAML allows no tabs there");
      return;
    }
    // `---` and what stands behind it on its line.
    if (first == 0 && all.starts_with("---")) return;
    content(begin, begin + first, begin + all.size());
  }

  bool conflict(std::size_t begin, std::string_view all) {
    if (!all.starts_with("<<<<<<<") && !all.starts_with(">>>>>>>") && all != "=======") return false;
    tell(span(begin, begin + all.size()), "the mark of a merge conflict was left here",
         "keep one of the two sides, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`");
    return true;
  }

  /// What a line holds: dashes, then a key with its value, or a value alone.
  void content(std::size_t line, std::size_t at, std::size_t end) {
    bool begins_line = true;
    for (;;) {
      const bool dash = text_[at] == '-' && (at + 1 >= end || blank(text_[at + 1]));
      const auto colon = dash ? std::nullopt : key_end(at, end);
      if (begins_line && !position(line, at, end, dash, colon.has_value())) return;
      // So deep is nothing that anybody writes.
      if (levels_.size() > kMostLevels) return give_up();
      if (!begins_line) levels_.push_back({.column = at - line, .list = dash, .first = span(at, at + 1)});
      Level& level = levels_.back();
      if (!dash && !colon) return scalar_alone(line, at, end);
      level.list = dash;
      level.last = span(at, dash ? at + 1 : *colon);
      if (level.first.end <= level.first.begin + 1) level.first = level.last;
      std::size_t next = (dash ? at : *colon) + 1;
      while (next < end && blank(text_[next])) ++next;
      if (dash && next < end && key_end(next, end) &&
          text_.substr(at, next - at).find('\t') != std::string_view::npos) {
        return tell(span(at + 1, next), "a tab stands behind the `-`", "write a space: YAML allows no tabs there");
      }
      level.awaits = next >= end || text_[next] == '#';
      if (level.awaits) return;
      level.value = next;
      if (!dash) return value(line, next, end);
      at = next;
      begins_line = false;
    }
  }

  void give_up() { at_ = text_.size(); }

  /// Position of the colon that ends a key at `at`.
  std::optional<std::size_t> key_end(std::size_t at, std::size_t end) const {
    if (text_[at] == '"' || text_[at] == '\'') {
      std::size_t behind = quoted_end(text_.substr(0, end), at);
      if (behind == std::string_view::npos) return std::nullopt;
      while (behind < end && text_[behind] == ' ') ++behind;
      return behind < end && text_[behind] == ':' ? std::optional(behind) : std::nullopt;
    }
    if (std::string_view("{[|>@`%*&!#").find(text_[at]) != std::string_view::npos) return std::nullopt;
    for (std::size_t i = at; i < end; ++i) {
      if (text_[i] == '#' && i > at && blank(text_[i - 1])) return std::nullopt;
      if (text_[i] == ':' && (i + 1 >= end || blank(text_[i + 1]))) return i;
    }
    return std::nullopt;
  }

  /// Finds the level that a line belongs to, by its column. false: it belongs to none that is open for it, which was
  /// told where it is a mistake.
  bool position(std::size_t line, std::size_t at, std::size_t end, bool dash, bool key) {
    const std::size_t column = at - line;
    if (levels_.empty()) {
      levels_.push_back({.column = column, .list = dash, .first = span(at, at + 1)});
      return true;
    }
    if (pending_ && column >= pending_column_ && key) return cause_was_pending(), false;
    std::size_t inner = 0;
    while (levels_.size() > 1 && levels_.back().column > column) {
      inner = levels_.back().column;
      levels_.pop_back();
    }
    Level& top = levels_.back();
    if (top.column > column) return shallower_than_all(line, at, top), false;
    pending_ = false;
    if (top.column == column) return same_column(at, end, dash, key);
    if (inner != 0) return between(line, at, top.column, inner), false;
    return deeper(line, at, dash, key);
  }

  bool same_column(std::size_t at, std::size_t end, bool dash, bool key) {
    if (levels_.back().list && !dash) {
      const bool map_around = levels_.size() > 1 && levels_[levels_.size() - 2].column == levels_.back().column;
      if (map_around) {
        levels_.pop_back();
        return same_column(at, end, dash, key);
      }
      if (text_[at] == '-' && at + 1 < end && text_[at + 1] != '-') {
        tell(span(at, at + 1), "a space is missing after the `-`", "write " + cite("- " + word_at(at + 1, end)));
      } else {
        tell(span(at, at + 1), "this stands where an item of the list is expected",
             "begin it with `- `, or indent it as what it belongs to", {{levels_.back().last, "the item before"}});
      }
      return false;
    }
    if (!levels_.back().list && dash) {
      if (levels_.back().awaits) {
        levels_.back().awaits = false;
        levels_.push_back({.column = levels_.back().column, .list = true, .first = span(at, at + 1)});
        return true;
      }
      tell(span(at, at + 1), "an item of a list stands where a key is expected",
           "put the list below a key that has no value, or take the `- ` away",
           {{levels_.back().last, "the key before, which has a value"}});
      return false;
    }
    if (!dash && !key && !levels_.back().list) return no_key(at, end), false;
    return true;
  }

  bool deeper(std::size_t line, std::size_t at, bool dash, bool key) {
    Level& top = levels_.back();
    if (top.awaits) {
      top.awaits = false;
      levels_.push_back({.column = at - line, .list = dash, .first = span(at, at + 1)});
      return true;
    }
    // Text that goes on in the next line.
    if (!key) return false;
    const std::string name =
        top.list ? "the item above" : cite(text_.substr(top.last.begin, top.last.end - top.last.begin));
    tell(span(line, at), "this line is indented further than " + name + ", which has a value already",
         top.column == 0 ? "begin it at the margin" : "indent it by " + spaces(top.column),
         {{top.last, "has a value on its own line"}});
    return false;
  }

  void between(std::size_t line, std::size_t at, std::size_t outer, std::size_t inner) {
    tell(span(line, at),
         "this line is indented by " + spaces(at - line) + ", but what stands above it by " + std::to_string(outer) +
             " or " + std::to_string(inner),
         "indent it by " + std::to_string(outer) + " or " + spaces(inner),
         {{levels_.back().last, "this one by " + std::to_string(outer)}});
  }

  void shallower_than_all(std::size_t line, std::size_t at, const Level& top) {
    tell(span(top.first.begin - top.column, top.first.begin),
         "the document begins indented by " + spaces(top.column) + ", and goes on with " + std::to_string(at - line),
         "indent its keys alike", {{span(at, at + 1), "this one is at the same level"}});
  }

  std::string word_at(std::size_t at, std::size_t end) const {
    return std::string(trimmed(text_.substr(at, std::min<std::size_t>(end - at, 60))));
  }

  /// A line of a map that has no `: `.
  void no_key(std::size_t at, std::size_t end) {
    std::size_t word = at;
    while (word < end && is_word(text_[word])) ++word;
    const std::string name(text_.substr(at, word - at));
    std::size_t rest = word;
    while (rest < end && blank(text_[rest])) ++rest;
    if (name.empty()) return;
    if (word < end && text_[word] == ':') {
      tell(span(at, word + 1), "a space is missing after " + cite(name + ":"),
           "write " + cite(name + ": " + word_at(word + 1, end)));
    } else if (rest < end && text_[rest] == '=') {
      std::size_t value = rest + 1;
      while (value < end && blank(text_[value])) ++value;
      tell(span(rest, rest + 1), "a `=` stands where a `:` is expected",
           "write " + cite(name + ": " + word_at(value, end)));
    } else if (rest >= end) {
      tell(span(at, word), "a `:` is missing after " + cite(name), "write " + cite(name + ":"));
    } else if (text_[at] == '-' && name.size() > 1) {
      tell(span(at, at + 1), "a space is missing after the `-`", "write " + cite("- " + word_at(at + 1, end)));
    } else {
      tell(span(at, word), "a `:` is missing after " + cite(name), "write " + cite(name + ": " + word_at(rest, end)));
    }
  }

  /// A line that may be a value of its own: a key that follows it shows that it was to be one, too.
  void scalar_alone(std::size_t line, std::size_t at, std::size_t end) {
    const std::size_t column = at - line;
    levels_.pop_back();
    pending_ = true;
    pending_column_ = column;
    pending_begin_ = at;
    pending_end_ = end;
    value(line, at, end);
    // What stands around it is complete.
    if (levels_.empty()) levels_.push_back({.column = column, .list = false, .first = span(at, at + 1)});
  }

  void cause_was_pending() {
    no_key(pending_begin_, pending_end_);
    pending_ = false;
  }

  /// What stands behind a key or a dash.
  void value(std::size_t line, std::size_t at, std::size_t end) {
    const std::size_t column = levels_.empty() ? at - line : levels_.back().column;
    const char c = text_[at];
    if (c == '|' || c == '>') {
      block_text_ = true;
      block_above_ = column;
    } else if (c == '"' || c == '\'') {
      quoted_value(at, end);
    } else if (c == '{' || c == '[') {
      flow_value(at, column);
    } else if (c == '-' && (at + 1 >= end || blank(text_[at + 1]))) {
      tell(span(at, at + 1), "a list cannot begin on the line of its key",
           "put " + cite(word_at(at, end)) + " on a line of its own, or write the list in `[` and `]`");
    } else if (c == '@' || c == '`' || c == '%') {
      tell(span(at, at + 1),
           std::string("a value cannot begin with ") +
               (c == '`' ? std::string("a backquote") : "`" + std::string(1, c) + "`"),
           "put it in quotes");
    } else if (c == '*' && !is_alias(at, end)) {
      tell(span(at, at + 1), "a `*` begins an alias, and there is no anchor of that name", "put the value in quotes");
    } else if (c != '&' && c != '!') {
      plain_value(at, end);
    }
  }

  /// Whether an anchor of the name stands before. It is looked for a few times only: the text may be long.
  bool is_alias(std::size_t at, std::size_t end) {
    if (++aliases_ > kMostAliases) return true;
    const std::string anchor = "&" + word_at(at + 1, end);
    return anchor.size() > 1 && text_.substr(0, at).find(anchor) != std::string_view::npos;
  }

  void quoted_value(std::size_t at, std::size_t end) {
    const std::size_t behind = quoted_end(text_, at);
    if (behind == std::string_view::npos) {
      tell(span(at, at + 1), "the quoted string does not end", "close it by " + one(at));
      return;
    }
    if (const auto escape = bad_escape(text_, at, behind, source_, citing_); escape && !mistake_) mistake_ = *escape;
    if (mistake_) return;
    skip_to_end_of(behind, end);
    if (const auto rest = rest_of_line(behind)) {
      const bool apostrophe = text_[at] == '\'' && is_word(text_[behind]);
      tell(span(behind - 1, behind), apostrophe ? "this `'` ends the string" : "text stands behind the closing quote",
           apostrophe ? "write it twice (`''`), or put the string in double quotes"
                      : "put all of the value in quotes, or none of it",
           {{span(*rest, *rest + 1), "this does not belong to it"}});
    }
  }

  void flow_value(std::size_t at, std::size_t column) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    const FlowScan flow =
        scan_flow_mistakes(text_, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(column), source_, citing_);
    if (flow.mistake) {
      if (!mistake_) mistake_ = flow.mistake;
      return;
    }
    skip_to_end_of(flow.end, end);
    const auto rest = rest_of_line(flow.end);
    if (!rest || text_[*rest] == ':') return;
    const bool bracket = text_[*rest] == ']' || text_[*rest] == '}';
    tell(span(*rest, *rest + 1),
         bracket ? "there is a " + one(*rest) + " too many" : "text stands behind the closing " + one(flow.end - 1),
         bracket ? "take it away" : "put it before the bracket, or on a line of its own");
  }

  /// A value over several lines: the next line to look at is the one behind it.
  void skip_to_end_of(std::size_t behind, std::size_t end) {
    if (behind > end) at_ = std::min(text_.find('\n', behind), text_.size()) + 1;
  }

  /// What stands behind a value on its last line, comments left out.
  std::optional<std::size_t> rest_of_line(std::size_t at) const {
    while (at < text_.size() && blank(text_[at])) ++at;
    const bool nothing = at >= text_.size() || text_[at] == '\n' || text_[at] == '\r' || text_[at] == '#';
    return nothing ? std::nullopt : std::optional(at);
  }

  void plain_value(std::size_t at, std::size_t end) {
    if (pending_ && pending_begin_ == at) return;
    for (std::size_t i = at; i < end; ++i) {
      if (text_[i] == '#' && blank(text_[i - 1])) return;
      if (text_[i] != ':' || (i + 1 < end && !blank(text_[i + 1]))) continue;
      tell(span(i, i + 1), "a second `: ` stands in this line",
           "put the value in quotes: " + cite("\"" + word_at(at, end) + "\""));
      return;
    }
  }

  std::string_view text_;
  std::uint32_t source_;
  std::size_t at_;
  std::size_t fault_;
  Citing citing_;
  std::vector<Level> levels_{};
  bool block_text_ = false;  ///< lines that are indented further than `block_above_` are text
  std::size_t block_above_ = 0;
  bool pending_ = false;  ///< the last line was a plain value alone
  std::size_t pending_column_ = 0;
  std::size_t pending_begin_ = 0;
  std::size_t pending_end_ = 0;
  std::size_t aliases_ = 0;
  std::optional<Diagnostic> mistake_{};
};

}  // namespace

std::optional<Diagnostic> find_mistake(std::string_view text, std::uint32_t source, Piece piece, std::uint32_t fault,
                                       Citing citing) {
  return Lines(text, source, piece, fault, citing).run();
}

std::string_view syntax_words(std::string_view parser_words) {
  struct Words {
    std::string_view parser, ours;
  };
  static constexpr Words kWords[] = {
      {"end of map not found", "this line belongs to nothing that stands above it"},
      {"end of sequence not found", "this line belongs to nothing that stands above it"},
      {"end of map flow not found", "a `,` or a `}` is expected here"},
      {"end of sequence flow not found", "a `,` or a `]` is expected here"},
      {"illegal map value", "a `: ` cannot stand here"},
      {"illegal block entry", "an item of a list cannot begin here"},
      {"illegal flow end", "this bracket closes nothing"},
      {"illegal tab when looking for indentation", "a tab indents this line"},
      {"illegal document indicator", "a line `---` cannot stand here"},
      {"unknown token", "no value can begin with this character"},
      {"unknown escape character: ", "this is no escape of a double-quoted string"},
      {"unexpected character in block scalar", "text of a block (`|`, `>`) begins on the line below"},
      {"illegal EOF in scalar", "the text ends within a value"},
      {"the referenced anchor is not defined", "there is no anchor of this name"},
      {"alias not found after *", "the name of an anchor is missing after the `*`"},
      {"anchor not found after &", "a name is missing after the `&`"},
      {"illegal character found while scanning alias", "the name of an anchor cannot hold this character"},
      {"illegal character found while scanning anchor", "the name of an anchor cannot hold this character"},
      {"bad character found while scanning hex number", "this is no hexadecimal digit"},
      {"illegal flow collection", "a collection cannot stand here"},
  };
  for (const Words& words : kWords) {
    if (parser_words.starts_with(words.parser)) return words.ours;
  }
  return parser_words;
}

}  // namespace edge::compiler::yaml
