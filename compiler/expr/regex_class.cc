#include "compiler/expr/regex_class.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"

namespace edge::compiler::expr {
namespace {

ByteSet range(unsigned first, unsigned last) {
  ByteSet set;
  for (unsigned byte = first; byte <= last; ++byte) set.set(byte);
  return set;
}

ByteSet digits() { return range('0', '9'); }
ByteSet letters() { return range('a', 'z') | range('A', 'Z'); }
ByteSet words() { return letters() | digits() | ByteSet{}.set('_'); }
/// RE2's: without the vertical tab, which PCRE counts in. Spelled out, no engine has to decide.
ByteSet spaces() { return ByteSet{}.set(' ').set('\t').set('\n').set('\f').set('\r'); }
ByteSet graphs() { return range(0x21, 0x7e); }

std::optional<ByteSet> posix_set(std::string_view name) {
  if (name == "alpha") return letters();
  if (name == "digit") return digits();
  if (name == "alnum") return letters() | digits();
  if (name == "lower") return range('a', 'z');
  if (name == "upper") return range('A', 'Z');
  if (name == "space") return spaces() | ByteSet{}.set('\v');
  if (name == "blank") return ByteSet{}.set(' ').set('\t');
  if (name == "cntrl") return range(0, 0x1f) | ByteSet{}.set(0x7f);
  if (name == "graph") return graphs();
  if (name == "print") return graphs() | ByteSet{}.set(' ');
  if (name == "punct") return graphs() & ~(letters() | digits());
  if (name == "word") return words();
  if (name == "xdigit") return digits() | range('a', 'f') | range('A', 'F');
  if (name == "ascii") return range(0, 0x7f);
  return std::nullopt;
}

/// `\xHH` and `\x{H…}`, at most FF: matching is by bytes.
EscapeResult read_hex(std::string_view text, std::size_t at) {
  EscapeResult result;
  std::size_t i = at + 2;
  const bool braced = i < text.size() && text[i] == '{';
  if (braced) ++i;
  unsigned value = 0;
  std::size_t count = 0;
  for (; i < text.size() && count < (braced ? 8U : 2U) && hex_digit(text[i]) >= 0; ++i, ++count) {
    value = value * 16 + static_cast<unsigned>(hex_digit(text[i]));
  }
  const bool closed = !braced || (i < text.size() && text[i] == '}');
  if (braced && closed) ++i;
  if (!closed || count == 0 || (!braced && count != 2)) {
    result.fault = text_fault(DiagnosticCode::kRegexSyntax, at, i, "`\\x` needs two hexadecimal digits");
  } else if (value > 0xff) {
    result.fault = text_fault(DiagnosticCode::kRegexUnsupported, at, i,
                              "patterns match bytes, so `\\x{…}` goes up to FF", "write the bytes of its UTF-8 form");
  }
  result.byte = static_cast<std::uint8_t>(value);
  result.end = i;
  return result;
}

const char* refused_escape(char c) {
  switch (c) {
    case 'C':
      return "`\\C` is not supported";
    case 'R':
      return "`\\R` is not supported";
    case 'X':
      return "`\\X` is not supported";
    case 'K':
      return "`\\K` is not supported";
    case 'G':
      return "`\\G` is not supported";
    case 'p':
    case 'P':
      return "Unicode classes (`\\p`) are not supported: patterns match bytes";
    case 'k':
    case 'g':
      return "back-references are not supported";
    case 'h':
    case 'H':
    case 'N':
    case 'v':
    case 'V':
    case 'c':
    case 'e':
    case 'o':
      return "this escape is not supported: the engines do not share it";
    default:
      return nullptr;
  }
}

/// Parses one character class `[…]`.
class ClassReader {
 public:
  ClassReader(std::string_view text, std::size_t at) : text_(text), begin_(at), at_(at + 1) {}

  ClassResult read(bool ignore_case) {
    const bool negated = peek() == '^';
    if (negated) ++at_;
    // A `]` that comes first is itself.
    for (bool first = true; at_ < text_.size() && (first || text_[at_] != ']'); first = false) {
      if (peek() == '[' && std::string_view(":.=").find(peek(1)) != std::string_view::npos && at_ + 1 < text_.size()) {
        posix();
      } else {
        byte_or_range();
      }
      if (result_.fault) return std::move(result_);
    }
    if (at_ >= text_.size()) return refuse(begin_, begin_ + 1, "the class is not closed", "add `]`");
    result_.end = at_ + 1;
    if (ignore_case) fold_case();
    if (negated) result_.set.flip();
    if (result_.set.none()) return refuse(begin_, result_.end, "the class holds nothing");
    return std::move(result_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// `[:digit:]`, `[:^digit:]`; `[.x.]` and `[=x=]` are refused.
  void posix() {
    const std::size_t close = text_.find(":]", at_ + 2);
    const bool inverse = peek(2) == '^';
    const std::size_t name = at_ + (inverse ? 3 : 2);
    const bool closed = peek(1) == ':' && close != std::string_view::npos && close >= name;
    const auto set = closed ? posix_set(text_.substr(name, close - name)) : std::nullopt;
    if (!set) {
      refuse(at_, at_ + 2, "unknown class of characters", "write `\\[` for the character");
      return;
    }
    result_.set |= inverse ? ~*set : *set;
    at_ = close + 2;
  }

  void byte_or_range() {
    const std::size_t item = at_;
    const std::optional<unsigned> low = one_byte();
    if (result_.fault) return;
    const bool dash = peek() == '-' && at_ + 1 < text_.size() && peek(1) != ']';
    if (!low) {
      if (dash) refuse(item, at_ + 1, "a range cannot begin with a class", "put the `-` first or last");
      return;
    }
    unsigned last = *low;
    if (dash) {
      ++at_;
      const std::optional<unsigned> high = one_byte();
      if (result_.fault) return;
      if (!high || *high < *low) {
        refuse(item, at_, "the range ends before it begins");
        return;
      }
      last = *high;
    }
    result_.set |= range(*low, last);
  }

  /// nullopt for `\d` and its like, which are taken into the set at once, and after a fault.
  std::optional<unsigned> one_byte() {
    if (static_cast<unsigned char>(peek()) >= 0x80 || peek() == '\0') {
      refuse(at_, at_ + 1, "a class holds single bytes: this character is none",
             "write an alternative for it: `(?:é|è)`", DiagnosticCode::kRegexUnsupported);
      return std::nullopt;
    }
    if (peek() != '\\') return static_cast<unsigned char>(text_[at_++]);
    EscapeResult escaped = read_escape(text_, at_);
    at_ = escaped.end;
    result_.fault = std::move(escaped.fault);
    if (escaped.set) result_.set |= *escaped.set;
    return escaped.set || result_.fault ? std::nullopt : std::optional<unsigned>(escaped.byte);
  }

  void fold_case() {
    for (unsigned byte = 'a'; byte <= 'z'; ++byte) {
      const bool either = result_.set[byte] || result_.set[byte ^ 0x20];
      result_.set.set(byte, either).set(byte ^ 0x20, either);
    }
  }

  ClassResult refuse(std::size_t begin, std::size_t end, std::string message, std::string fix = {},
                     DiagnosticCode code = DiagnosticCode::kRegexSyntax) {
    result_.fault = text_fault(code, begin, std::min(end, text_.size()), std::move(message), std::move(fix));
    return result_;
  }

  std::string_view text_;
  std::size_t begin_;
  std::size_t at_;
  ClassResult result_;
};

std::string class_byte_text(unsigned char byte) {
  static constexpr std::string_view kSpecial = "\\]^-[&~";
  if (kSpecial.find(static_cast<char>(byte)) != std::string_view::npos) return {'\\', static_cast<char>(byte)};
  if (byte > 0x20 && byte < 0x7f) return std::string(1, static_cast<char>(byte));
  return byte_text(byte);
}

}  // namespace

bool is_letter(unsigned char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }
bool is_word(unsigned char byte) { return is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '_'; }

EscapeResult read_escape(std::string_view text, std::size_t at) {
  EscapeResult result;
  if (at + 1 >= text.size()) {
    result.fault =
        text_fault(DiagnosticCode::kRegexSyntax, at, at + 1, "a backslash at the end", "write `\\\\` for it");
    return result;
  }
  const char c = text[at + 1];
  result.end = at + 2;
  switch (c) {
    case 'd':
      return result.set = digits(), result;
    case 'D':
      return result.set = ~digits(), result;
    case 'w':
      return result.set = words(), result;
    case 'W':
      return result.set = ~words(), result;
    case 's':
      return result.set = spaces(), result;
    case 'S':
      return result.set = ~spaces(), result;
    case 'a':
      return result.byte = '\a', result;
    case 'f':
      return result.byte = '\f', result;
    case 'n':
      return result.byte = '\n', result;
    case 'r':
      return result.byte = '\r', result;
    case 't':
      return result.byte = '\t', result;
    case 'x':
      return read_hex(text, at);
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (const char* refusal = refused_escape(c)) {
    result.fault = text_fault(DiagnosticCode::kRegexUnsupported, at, at + 2, refusal);
  } else if (c >= '1' && c <= '9') {
    result.fault = text_fault(DiagnosticCode::kRegexUnsupported, at, at + 2, "back-references are not supported");
  } else if (c == '0') {
    result.fault = text_fault(DiagnosticCode::kRegexUnsupported, at, at + 2, "octal escapes are not supported",
                              "write `\\x00` and the like");
  } else if (is_letter(byte) || byte >= 0x80) {
    result.fault = text_fault(DiagnosticCode::kRegexSyntax, at, at + 2, "unknown escape");
  }
  result.byte = byte;
  return result;
}

ClassResult read_class(std::string_view text, std::size_t at, bool ignore_case) {
  return ClassReader(text, at).read(ignore_case);
}

std::string byte_text(unsigned char byte) {
  static constexpr std::string_view kSpecial = "\\^$.[]|()?*+{}";
  if (kSpecial.find(static_cast<char>(byte)) != std::string_view::npos) return {'\\', static_cast<char>(byte)};
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, static_cast<char>(byte));
  static constexpr char kHex[] = "0123456789abcdef";
  return {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

std::string class_text(const ByteSet& set) {
  if (set == ~ByteSet{}.set('\n')) return ".";
  // The shorter of the two spellings; a complement that is small says more to a reader.
  const bool negated = set.count() > 128 && !set.all();
  const ByteSet shown = negated ? ~set : set;
  std::string text = negated ? "[^" : "[";
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!shown[byte]) continue;
    unsigned last = byte;
    while (last + 1 < 256 && shown[last + 1]) ++last;
    text += class_byte_text(static_cast<unsigned char>(byte));
    if (last > byte + 1) text += '-';
    if (last > byte) text += class_byte_text(static_cast<unsigned char>(last));
    byte = last;
  }
  return text + ']';
}

}  // namespace edge::compiler::expr
