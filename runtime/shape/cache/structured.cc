#include "runtime/shape/cache/structured.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "net/http1/char_tables.h"

namespace edge::runtime::cache {
namespace {

using Type = StructuredMember::Type;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alpha(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' '; }
bool of_key(char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*'; }
bool of_token(char c) { return net::http1::is_class(c, net::http1::kTokenChar) || c == ':' || c == '/'; }
bool of_base64(char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '='; }

}  // namespace

StructuredDictionary::StructuredDictionary(std::string_view text) : rest_(trim_blanks(text)) {}

bool StructuredDictionary::fault() {
  failed_ = true;
  rest_ = {};
  return false;
}

bool StructuredDictionary::take(char c) {
  if (!at(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string_view StructuredDictionary::take_while(bool (*of)(char)) {
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), of);
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  rest_.remove_prefix(taken.size());
  return taken;
}

bool StructuredDictionary::next(StructuredMember& out) {
  if (rest_.empty()) return false;
  if (begun_) {
    take_while(is_blank);
    if (!take(',')) return fault();
    take_while(is_blank);
  }
  begun_ = true;
  out = {};
  if (!key(out.name)) return fault();
  if (take('=') && !item(out)) return fault();
  return parameters() || fault();
}

bool StructuredDictionary::key(std::string_view& out) {
  if (rest_.empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
  out = take_while(of_key);
  return true;
}

bool StructuredDictionary::item(StructuredMember& out) {
  if (!at('(')) return bare_item(out);
  out.type = Type::kOther;
  return inner_list();
}

bool StructuredDictionary::inner_list() {
  take('(');
  while (true) {
    take_while(is_space);
    if (take(')')) return true;
    StructuredMember unused;
    if (!bare_item(unused) || !parameters()) return false;
    if (!at(' ') && !at(')')) return false;
  }
}

bool StructuredDictionary::bare_item(StructuredMember& out) {
  if (rest_.empty()) return false;
  const char c = rest_.front();
  if (c == '-' || is_digit(c)) return number(out);
  if (c == '"') return string(out);
  if (c == '?') {
    take('?');
    out.type = Type::kBoolean;
    out.boolean = at('1');
    return take('0') || take('1');
  }
  out.type = Type::kOther;
  if (c == '*' || is_alpha(c)) {
    take_while(of_token);
    return true;
  }
  if (take('@')) {
    StructuredMember date;
    return number(date) && date.type == Type::kInteger;
  }
  if (!take(':')) return false;
  take_while(of_base64);
  return take(':');
}

// At most 15 digits, or 12 and 3 (§4.2.4).
bool StructuredDictionary::number(StructuredMember& out) {
  const bool negative = take('-');
  const std::string_view digits = take_while(is_digit);
  if (digits.empty() || digits.size() > 15) return false;
  if (take('.')) {
    const std::string_view fraction = take_while(is_digit);
    out.type = Type::kOther;
    return digits.size() <= 12 && !fraction.empty() && fraction.size() <= 3;
  }
  out.type = Type::kInteger;
  out.integer = 0;
  for (const char digit : digits) out.integer = out.integer * 10 + (digit - '0');
  if (negative) out.integer = -out.integer;
  return true;
}

bool StructuredDictionary::string(StructuredMember& out) {
  take('"');
  const std::string_view from = rest_;
  while (!rest_.empty()) {
    const char c = rest_.front();
    if (c == '"') {
      out.type = Type::kString;
      out.string = from.substr(0, from.size() - rest_.size());
      return take('"');
    }
    if (c < 0x20 || c > 0x7e) return false;
    rest_.remove_prefix(1);
    if (c == '\\' && !take('"') && !take('\\')) return false;
  }
  return false;
}

bool StructuredDictionary::parameters() {
  while (take(';')) {
    take_while(is_space);
    std::string_view name;
    if (!key(name)) return false;
    StructuredMember unused;
    if (take('=') && !bare_item(unused)) return false;
  }
  return true;
}

}  // namespace edge::runtime::cache
