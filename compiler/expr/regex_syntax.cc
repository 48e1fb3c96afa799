#include "compiler/expr/regex_syntax.h"

#include <algorithm>
#include <utility>

#include "compiler/expr/regex_class.h"
#include "compiler/expr/regex_facts.h"

namespace edge::compiler::expr {
namespace {

using Kind = RegexNode::Kind;

RegexNode leaf(Kind kind) {
  RegexNode node;
  node.kind = kind;
  return node;
}
RegexNode set_node(const ByteSet& set) {
  RegexNode node = leaf(Kind::kSet);
  node.set = set;
  return node;
}
RegexNode bytes_node(std::string bytes) {
  RegexNode node = leaf(Kind::kBytes);
  node.bytes = std::move(bytes);
  return node;
}

bool is_assertion(Kind kind) {
  return kind == Kind::kBegin || kind == Kind::kEnd || kind == Kind::kWordBoundary || kind == Kind::kNotWordBoundary;
}

/// Flags in force at a position; `(?i)` and `(?s)` change them up to the end of their group.
struct Flags {
  bool ignore_case = false;
  bool dot_all = false;
};

/// Recursive descent: alternation > concatenation > repeat > atom. Recursion is bounded by kMaxRegexNesting.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  ParsedRegex read() {
    RegexNode root = alternation(0, Flags{});
    if (!fault_ && at_ < text_.size()) refuse(DiagnosticCode::kRegexSyntax, at_, at_ + 1, "`)` without its `(`");
    if (fault_) return {std::nullopt, std::move(fault_)};
    Regex regex;
    regex.root = std::move(root);
    return {std::move(regex), std::nullopt};
  }

 private:
  bool more() const { return !fault_ && at_ < text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  RegexNode alternation(std::size_t depth, Flags flags) {
    RegexNode all = leaf(Kind::kAlternate);
    while (true) {
      all.children.push_back(concatenation(depth, flags));
      if (!more() || peek() != '|') break;
      ++at_;
    }
    if (all.children.size() > 1) return all;
    RegexNode only = std::move(all.children.front());
    return only;
  }

  /// `flags` by reference: `(?i)` holds for the alternatives after it too.
  RegexNode concatenation(std::size_t depth, Flags& flags) {
    RegexNode all = leaf(Kind::kConcat);
    while (more() && peek() != '|' && peek() != ')') {
      const std::size_t begin = at_;
      std::optional<RegexNode> part = atom(depth, flags);
      if (fault_ || !part) continue;
      RegexNode node = repeats(std::move(*part), begin);
      if (node.kind == Kind::kEmpty) continue;
      if (node.kind == Kind::kBytes && !all.children.empty() && all.children.back().kind == Kind::kBytes) {
        all.children.back().bytes += node.bytes;
      } else {
        all.children.push_back(std::move(node));
      }
    }
    if (all.children.empty()) return leaf(Kind::kEmpty);
    if (all.children.size() > 1) return all;
    RegexNode only = std::move(all.children.front());
    return only;
  }

  /// nullopt for what stands for nothing: a flag group.
  std::optional<RegexNode> atom(std::size_t depth, Flags& flags) {
    const char c = peek();
    switch (c) {
      case '(':
        return group(depth, flags);
      case '[':
        return bracket(flags);
      case '.':
        ++at_;
        return set_node(flags.dot_all ? ~ByteSet{} : ~ByteSet{}.set('\n'));
      case '^':
        ++at_;
        return leaf(Kind::kBegin);
      case '$':
        ++at_;
        return leaf(Kind::kEnd);
      case '\\':
        return escape(flags);
      case '*':
      case '+':
      case '?':
        return refuse(DiagnosticCode::kRegexSyntax, at_, at_ + 1,
                      std::string("there is nothing before `") + c + "` to repeat",
                      std::string("write `\\") + c + "` for the character");
      case '{':
        return refuse(DiagnosticCode::kRegexSyntax, at_, at_ + 1, "there is nothing before `{` to repeat",
                      "write `\\{` for the character");
      default:
        return character(flags);
    }
  }

  /// One byte, or the bytes of one UTF-8 character, so that `é+` repeats what the author sees.
  RegexNode character(Flags flags) {
    const auto first = static_cast<unsigned char>(peek());
    if (first == 0) {
      return refuse(DiagnosticCode::kRegexSyntax, at_, at_ + 1, "a NUL byte", "write `\\x00` for it");
    }
    std::size_t size = 1;
    if (first >= 0xc2 && first < 0xf5) {
      const std::size_t wanted = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      while (size < wanted && (static_cast<unsigned char>(peek(size)) & 0xc0) == 0x80) ++size;
      if (size != wanted) size = 1;
    }
    std::string bytes(text_.substr(at_, size));
    at_ += size;
    return literal(std::move(bytes), flags);
  }

  static RegexNode literal(std::string bytes, Flags flags) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    if (!flags.ignore_case || bytes.size() != 1 || !is_letter(byte)) return bytes_node(std::move(bytes));
    return set_node(ByteSet{}.set(byte).set(byte ^ 0x20));
  }

  std::optional<RegexNode> group(std::size_t depth, Flags& flags) {
    const std::size_t begin = at_++;
    if (depth + 1 > kMaxRegexNesting) {
      return refuse(DiagnosticCode::kRegexTooLarge, begin, at_,
                    "groups are nested more than " + std::to_string(kMaxRegexNesting) + " levels deep");
    }
    Flags inner = flags;
    if (peek() == '?') {
      ++at_;
      bool flags_alone = false;
      if (!group_head(begin, inner, flags_alone)) return std::nullopt;
      if (flags_alone) {
        flags = inner;
        return std::nullopt;
      }
    } else if (peek() == '*') {
      return refuse(DiagnosticCode::kRegexUnsupported, begin, at_ + 1, "verbs such as `(*UTF8)` are not supported");
    }
    RegexNode node = alternation(depth + 1, inner);
    if (fault_) return std::nullopt;
    if (!more()) return refuse(DiagnosticCode::kRegexSyntax, begin, begin + 1, "the group is not closed", "add `)`");
    ++at_;
    return node;
  }

  /// After `(?`. False after a fault.
  bool group_head(std::size_t begin, Flags& flags, bool& flags_alone) {
    struct Refused {
      std::string_view head;
      const char* name;
    };
    static constexpr Refused kRefused[] = {
        {"<=", "look-behind"},
        {"<!", "look-behind"},
        {"=", "look-ahead"},
        {"!", "look-ahead"},
        {">", "atomic groups"},
        {"|", "branch reset"},
        {"#", "comments"},
        {"(", "conditional groups"},
        {"P=", "back-references"},
        {"P>", "recursion"},
        {"R", "recursion"},
        {"&", "recursion"},
        {"'", "groups named with quotes"},
    };
    const std::string_view rest = text_.substr(at_);
    for (const Refused& refused : kRefused) {
      if (!rest.starts_with(refused.head)) continue;
      refuse(DiagnosticCode::kRegexUnsupported, begin, at_ + refused.head.size(),
             std::string(refused.name) + " (`(?" + std::string(refused.head) + "`) is not supported");
      return false;
    }
    if (rest.starts_with("P<") || rest.starts_with("<")) return group_name(begin);
    return group_flags(begin, flags, flags_alone);
  }

  /// Names are for the reader alone: captures are not used.
  bool group_name(std::size_t begin) {
    const std::size_t close = text_.find('>', at_);
    const std::size_t open = text_.find('<', at_) + 1;
    bool good = close != std::string_view::npos && close > open;
    for (std::size_t i = open; good && i < close; ++i) good = is_word(static_cast<unsigned char>(text_[i]));
    if (!good) {
      refuse(DiagnosticCode::kRegexSyntax, begin, std::min(open, text_.size()), "the name of the group is not valid");
      return false;
    }
    at_ = close + 1;
    return true;
  }

  bool group_flags(std::size_t begin, Flags& flags, bool& flags_alone) {
    bool value = true;
    for (; more(); ++at_) {
      switch (const char c = peek()) {
        case 'i':
          flags.ignore_case = value;
          break;
        case 's':
          flags.dot_all = value;
          break;
        case '-':
          if (!value) return unknown_flag(begin, c);
          value = false;
          break;
        case ':':
        case ')':
          flags_alone = c == ')';
          ++at_;
          return true;
        case 'm':
          return refused_flag(begin, "the multi-line flag `(?m)` is not supported: a path has one line");
        case 'x':
          return refused_flag(begin, "the free-spacing flag `(?x)` is not supported");
        case 'U':
          return refused_flag(begin, "the ungreedy flag `(?U)` is not supported");
        default:
          return unknown_flag(begin, c);
      }
    }
    refuse(DiagnosticCode::kRegexSyntax, begin, begin + 1, "the group is not closed", "add `)`");
    return false;
  }

  bool refused_flag(std::size_t begin, std::string message) {
    refuse(DiagnosticCode::kRegexUnsupported, begin, at_ + 1, std::move(message));
    return false;
  }
  bool unknown_flag(std::size_t begin, char c) {
    refuse(DiagnosticCode::kRegexSyntax, begin, at_ + 1, "`(?" + std::string(1, c) + "` is no known group",
           "known are `(?:…)`, `(?P<name>…)`, `(?i)` and `(?s)`");
    return false;
  }

  RegexNode bracket(Flags flags) {
    ClassResult result = read_class(text_, at_, flags.ignore_case);
    if (result.fault) {
      fault_ = std::move(result.fault);
      return {};
    }
    at_ = result.end;
    return set_node(result.set);
  }

  RegexNode escape(Flags flags) {
    const std::size_t begin = at_;
    const char c = peek(1);
    switch (c) {
      case 'b':
        return at_ += 2, leaf(Kind::kWordBoundary);
      case 'B':
        return at_ += 2, leaf(Kind::kNotWordBoundary);
      case 'A':
        return at_ += 2, leaf(Kind::kBegin);
      case 'z':
        return at_ += 2, leaf(Kind::kEnd);
      case 'Z':
        return refuse(DiagnosticCode::kRegexUnsupported, begin, begin + 2,
                      "`\\Z` is not supported: it also matches before a final newline", "write `$`");
      case 'Q':
        return quotation(flags);
      default:
        break;
    }
    EscapeResult result = read_escape(text_, at_);
    if (result.fault) {
      fault_ = std::move(result.fault);
      return {};
    }
    at_ = result.end;
    if (result.set) return set_node(*result.set);
    return literal(std::string(1, static_cast<char>(result.byte)), flags);
  }

  /// `\Q…\E`: the bytes as they stand; `\E` may be left out at the end.
  RegexNode quotation(Flags flags) {
    const std::size_t begin = at_;
    at_ += 2;
    const std::size_t close = std::min(text_.find("\\E", at_), text_.size());
    const std::string_view inner = text_.substr(at_, close - at_);
    at_ = std::min(close + 2, text_.size());
    if (more() && std::string_view("*+?{").find(peek()) != std::string_view::npos) {
      return refuse(DiagnosticCode::kRegexUnsupported, begin, at_ + 1, "a quotation cannot be repeated",
                    "put it into a group: `(?:\\Q…\\E)`");
    }
    RegexNode all = leaf(Kind::kConcat);
    for (const char c : inner) all.children.push_back(literal(std::string(1, c), flags));
    if (all.children.empty()) return leaf(Kind::kEmpty);
    if (all.children.size() > 1) return all;
    RegexNode only = std::move(all.children.front());
    return only;
  }

  RegexNode repeats(RegexNode node, std::size_t begin) {
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    if (!more() || !repeat_bounds(min, max)) return node;
    if (is_assertion(node.kind)) {
      return refuse(DiagnosticCode::kRegexSyntax, begin, at_, "an assertion cannot be repeated");
    }
    if (peek() == '+' && at_ < text_.size()) {
      return refuse(DiagnosticCode::kRegexUnsupported, begin, at_ + 1, "possessive repeats are not supported");
    }
    if (peek() == '?') ++at_;  // lazy or greedy: the same subjects match
    if (more() && (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{')) {
      return refuse(DiagnosticCode::kRegexSyntax, begin, at_ + 1, "a repeat of a repeat",
                    "put the inner one into a group: `(?:…)`");
    }
    if (fault_ || max == 0 || node.kind == Kind::kEmpty) return {};
    if (min == 1 && max == 1) return node;
    RegexNode repeat = leaf(Kind::kRepeat);
    repeat.min = min;
    repeat.max = max;
    repeat.children.push_back(std::move(node));
    return repeat;
  }

  /// Reads `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}`; false when none stands here.
  bool repeat_bounds(std::uint32_t& min, std::uint32_t& max) {
    switch (peek()) {
      case '*':
        return ++at_, min = 0, max = RegexNode::kUnbounded, true;
      case '+':
        return ++at_, min = 1, max = RegexNode::kUnbounded, true;
      case '?':
        return ++at_, min = 0, max = 1, true;
      case '{':
        return counted_bounds(min, max);
      default:
        return false;
    }
  }

  bool counted_bounds(std::uint32_t& min, std::uint32_t& max) {
    const std::size_t begin = at_++;
    const bool has_min = number(min);
    max = min;
    if (peek() == ',') {
      ++at_;
      if (!number(max)) max = RegexNode::kUnbounded;
    }
    const std::uint32_t largest = max == RegexNode::kUnbounded ? min : std::max(min, max);
    if (!has_min || peek() != '}') {
      refuse(DiagnosticCode::kRegexSyntax, begin, begin + 1, "`{` does not begin a repeat such as `{2,5}`",
             "write `\\{` for the character");
      return true;
    }
    ++at_;
    if (largest > kMaxRegexRepeat) {
      refuse(DiagnosticCode::kRegexTooLarge, begin, at_,
             "a repeat of more than " + std::to_string(kMaxRegexRepeat) + " times");
    } else if (min > max) {
      refuse(DiagnosticCode::kRegexSyntax, begin, at_, "the lower bound of the repeat is above the upper one");
    }
    return true;
  }

  bool number(std::uint32_t& value) {
    const std::size_t begin = at_;
    value = 0;
    for (; at_ < text_.size() && peek() >= '0' && peek() <= '9'; ++at_) {
      value = std::min<std::uint32_t>(value * 10 + static_cast<std::uint32_t>(peek() - '0'), 1'000'000);
    }
    return at_ > begin;
  }

  RegexNode refuse(DiagnosticCode code, std::size_t begin, std::size_t end, std::string message, std::string fix = {}) {
    if (!fault_) {
      fault_ = TextFault{code, static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(std::min(end, text_.size())), std::move(message), std::move(fix)};
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<TextFault> fault_;
};

TextFault too_large(std::size_t size, std::string message) {
  return TextFault{DiagnosticCode::kRegexTooLarge, 0, static_cast<std::uint32_t>(size), std::move(message), {}};
}

}  // namespace

ParsedRegex parse_regex(std::string_view pattern) {
  if (pattern.empty()) {
    return {std::nullopt, TextFault{DiagnosticCode::kRegexSyntax, 0, 0, "the pattern is empty", {}}};
  }
  if (pattern.size() > kMaxRegexBytes) {
    return {std::nullopt,
            too_large(pattern.size(), "the pattern has " + std::to_string(pattern.size()) + " bytes, at most " +
                                          std::to_string(kMaxRegexBytes) + " are allowed")};
  }
  ParsedRegex result = Reader(pattern).read();
  if (!result.regex) return result;
  Regex& regex = *result.regex;
  if (positions(regex.root) > kMaxRegexPositions) {
    return {std::nullopt, too_large(pattern.size(), "with its repeats written out the pattern has more than " +
                                                        std::to_string(kMaxRegexPositions) + " places")};
  }
  if (repeat_product(regex.root) > kMaxRegexRepeat) {
    return {std::nullopt, too_large(pattern.size(), "repeats inside each other multiply to more than " +
                                                        std::to_string(kMaxRegexRepeat) + " times")};
  }
  regex.pattern = to_pattern(regex.root);
  regex.starts_at_begin = begins_at_begin(regex.root);
  regex.always = always_found(regex.root);
  return result;
}

}  // namespace edge::compiler::expr
