#include "compiler/yaml/flow_mistakes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/yaml/brackets.h"
#include "compiler/yaml/characters.h"

namespace edge::compiler::yaml {
namespace {

constexpr std::string_view kUncited = "`...`";

std::string quoted(char c) { return "`" + std::string(1, c) + "`"; }

/// Scans one collection, token by token.
class Scan {
 public:
  Scan(std::string_view text, std::uint32_t begin, std::uint32_t column, std::uint32_t source, Citing citing)
      : text_(text), at_(begin), column_(column), source_(source), citing_(citing) {}

  FlowScan run() {
    while (at_ < text_.size() && !mistake_) {
      const char c = text_[at_];
      if (ends_line(c)) {
        line_end();
      } else if (blank(c)) {
        ++at_;
      } else if (c == '#' && (at_ == 0 || blank(text_[at_ - 1]) || ends_line(text_[at_ - 1]))) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (opens(c)) {
        open();
      } else if (closes(c)) {
        if (close()) return {static_cast<std::uint32_t>(at_), std::nullopt};
      } else if (c == ',') {
        brackets_.back().state = State::kEntry;
        ++at_;
      } else if (c == ':' && is_colon(at_)) {
        brackets_.back().state = State::kValue;
        ++at_;
      } else if (c == '"' || c == '\'') {
        quoted_text();
      } else {
        plain_text();
      }
    }
    if (!mistake_) not_closed(static_cast<std::uint32_t>(text_.size()), "the text ends here");
    return {static_cast<std::uint32_t>(at_), std::move(mistake_)};
  }

 private:
  enum class State : std::uint8_t {
    kEntry,  ///< an entry may begin
    kKey,    ///< an entry has begun: its key, or all of it
    kValue,  ///< behind a colon
    kDone,   ///< behind a value
  };
  struct Bracket {
    std::size_t at = 0;
    State state = State::kEntry;
  };

  Span span(std::size_t begin, std::size_t end) const {
    return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }

  void tell(std::size_t begin, std::size_t end, std::string message, std::string fix, std::vector<Label> labels = {}) {
    mistake_ = mistake_at(span(begin, std::max(end, begin + 1)), std::move(message), std::move(fix), std::move(labels));
  }

  void not_closed(std::uint32_t until, std::string why) {
    const std::size_t at = brackets_.back().at;
    std::vector<Label> labels;
    if (until < text_.size()) labels.push_back({span(until, until + 1), std::move(why)});
    tell(at, at + 1, "the " + quoted(text_[at]) + " is not closed", "add " + quoted(closing_of(text_[at])),
         std::move(labels));
  }

  /// A `:` that ends a key: before white space or a bracket, or behind a quote as JSON has it.
  bool is_colon(std::size_t at) const {
    if (at + 1 >= text_.size()) return true;
    const char next = text_[at + 1];
    const bool behind_quote = at > 0 && (text_[at - 1] == '"' || text_[at - 1] == '\'');
    return blank(next) || ends_line(next) || opens(next) || closes(next) || next == ',' || behind_quote;
  }

  /// Behind it may stand a line of block style: then the collection was to end before.
  void line_end() {
    ++at_;
    std::size_t first = at_;
    while (first < text_.size() && text_[first] == ' ') ++first;
    if (first - at_ > column_ || first >= text_.size()) return;
    std::size_t end = first;
    if (text_[end] == '-' && end + 1 < text_.size() && text_[end + 1] == ' ') end += 2;
    const std::size_t word = end;
    const auto in_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
             c == '.' || c == '/';
    };
    while (end < text_.size() && in_word(text_[end])) ++end;
    const bool key = end > word && end < text_.size() && text_[end] == ':' &&
                     (end + 1 >= text_.size() || blank(text_[end + 1]) || ends_line(text_[end + 1]));
    if (key) not_closed(static_cast<std::uint32_t>(word), "before this key");
  }

  void open() {
    const std::size_t at = at_++;
    if (!brackets_.empty()) {
      if (missing_comma(at, at + 1)) return;
      if (text_[at] == '{' && text_[at - 1] == '{' && brackets_.back().at == at - 1) {
        tell(at - 1, at + 1, "`{{` is of a template that was not filled in",
             "fill the template in first, as `helm template` does, or put the value in quotes");
        return;
      }
      brackets_.back().state = State::kDone;
    }
    brackets_.push_back({at, State::kEntry});
  }

  /// \returns whether it was the last.
  bool close() {
    const Bracket top = brackets_.back();
    const char c = text_[at_];
    if (c != closing_of(text_[top.at])) {
      const bool outer = brackets_.size() > 1 && closing_of(text_[brackets_[brackets_.size() - 2].at]) == c;
      if (outer) {
        tell(top.at, top.at + 1, "the " + quoted(text_[top.at]) + " is not closed",
             "add " + quoted(closing_of(text_[top.at])) + " before the " + quoted(c),
             {{span(at_, at_ + 1), "this closes what is around it"}});
      } else {
        tell(at_, at_ + 1, "a " + quoted(c) + " cannot close a " + quoted(text_[top.at]),
             "write " + quoted(closing_of(text_[top.at])), {{span(top.at, top.at + 1), "opened here"}});
      }
      return false;
    }
    brackets_.pop_back();
    ++at_;
    return brackets_.empty();
  }

  /// A token where an entry, or the value of one, is complete.
  bool missing_comma(std::size_t begin, std::size_t end) {
    Bracket& top = brackets_.back();
    if (top.state == State::kDone) {
      tell(begin, end, "a `,` is missing before " + cited(text_.substr(begin, end - begin), citing_), "add `,`");
      return true;
    }
    if (top.state != State::kKey) return false;
    if (text_[top.at] == '{') {
      tell(begin, end, "a `:` is missing before " + cited(text_.substr(begin, end - begin), citing_), "add `:`");
    } else {
      tell(begin, end, "a `,` is missing before " + cited(text_.substr(begin, end - begin), citing_), "add `,`");
    }
    return true;
  }

  void token(std::size_t begin, std::size_t end) {
    if (missing_comma(begin, end)) return;
    Bracket& top = brackets_.back();
    top.state = top.state == State::kValue ? State::kDone : State::kKey;
    at_ = end;
  }

  void quoted_text() {
    const std::size_t end = quoted_end(text_, at_);
    if (end == std::string_view::npos) {
      tell(at_, at_ + 1, "the quoted string does not end", "close it by " + quoted(text_[at_]));
      return;
    }
    mistake_ = bad_escape(text_, at_, end, source_, citing_);
    if (!mistake_) token(at_, end);
  }

  /// Up to what ends a plain scalar in flow style; a second colon within it shows a comma that is missing.
  void plain_text() {
    const std::size_t begin = at_;
    std::size_t end = begin;
    std::size_t word = begin;
    while (end < text_.size() && !ends_line(text_[end]) && text_[end] != ',' && !opens(text_[end]) &&
           !closes(text_[end]) && !(text_[end] == '#' && blank(text_[end - 1]))) {
      if (text_[end] == ':' && is_colon(end)) {
        if (brackets_.back().state != State::kValue) break;
        if (word == begin) {
          tell(end, end + 1, "a second `: ` stands in one value", "put the value in quotes");
        } else {
          const std::string_view name = text_.substr(word, end - word);
          tell(word, end, "a `,` is missing before " + cited(name, citing_), "add `,`, or put the value in quotes");
        }
        return;
      }
      if (blank(text_[end]) && end + 1 < text_.size() && !blank(text_[end + 1])) word = end + 1;
      ++end;
    }
    while (end > begin && blank(text_[end - 1])) --end;
    token(begin, end);
    // Plain text may go on in the next line.
    if (!mistake_ && end < text_.size() && ends_line(text_[end])) brackets_.back().state = State::kEntry;
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t column_;
  std::uint32_t source_;
  Citing citing_;
  std::vector<Bracket> brackets_{};
  std::optional<Diagnostic> mistake_{};
};

}  // namespace

std::string cited(std::string_view text, Citing citing) {
  constexpr std::size_t kMost = 60;
  return citing == Citing::kYes ? "`" + std::string(text.substr(0, kMost)) + "`" : std::string(kUncited);
}

Diagnostic mistake_at(Span where, std::string message, std::string fix, std::vector<Label> labels) {
  if (fix.find(kUncited) != std::string::npos) fix.clear();
  return {.code = DiagnosticCode::kSyntax,
          .span = where,
          .message = std::move(message),
          .labels = std::move(labels),
          .fix = std::move(fix)};
}

FlowScan scan_flow_mistakes(std::string_view text, std::uint32_t begin, std::uint32_t column, std::uint32_t source,
                            Citing citing) {
  return Scan(text, begin, column, source, citing).run();
}

std::optional<Diagnostic> bad_escape(std::string_view text, std::size_t begin, std::size_t end, std::uint32_t source,
                                     Citing citing) {
  if (text[begin] != '"') return std::nullopt;
  constexpr std::string_view kEscapes = "0abt\tnvfre \"/\\N_LPxuU\n\r";
  for (std::size_t at = begin; at + 1 < end; ++at) {
    if (text[at] != '\\') continue;
    if (kEscapes.find(text[at + 1]) == std::string_view::npos) {
      const auto first = static_cast<std::uint32_t>(at);
      return mistake_at({source, first, first + 2},
                        cited(text.substr(at, 2), citing) + " is no escape of a double-quoted string",
                        "use single quotes, in which a backslash is a backslash, or write it twice");
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace edge::compiler::yaml
