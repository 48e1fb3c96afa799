#include "compiler/model/formats.h"

#include "base/hostname.h"
#include "base/ip.h"
#include "base/units.h"

namespace edge::compiler::model {
namespace {

using schemas::Format;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool small(char c) { return (c >= 'a' && c <= 'z') || digit(c); }

/// RFC 1123 label.
bool is_label(std::string_view text) {
  if (text.empty() || text.size() > 63 || !small(text.front()) || !small(text.back())) return false;
  for (const char c : text) {
    if (!small(c) && c != '-') return false;
  }
  return true;
}

/// RFC 1123 subdomain.
bool is_name(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_namespaced_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name(text);
  return is_label(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

bool is_header_value(std::string_view text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return false;
  }
  return text.empty() || (text.front() != ' ' && text.back() != ' ' && text.front() != '\t' && text.back() != '\t');
}

bool is_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view rest = text.substr(scheme.size());
    char buffer[256];
    if (!canonical_host(rest.substr(0, rest.find_first_of("/?#")), buffer)) return false;
    for (const char c : rest) {
      if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) return false;
    }
    return true;
  }
  return false;
}

bool is_rate_limit_key(std::string_view text) {
  if (text == "source-ip" || text == "host" || text == "path") return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view kind = text.substr(0, colon);
  if (kind == "header" || kind == "cookie") return is_token(text.substr(colon + 1));
  return kind == "query" || kind == "jwt";
}

}  // namespace

bool is_token(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c);
    if (!letter && std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos) return false;
  }
  return true;
}

bool has_format(std::string_view text, Format format) {
  switch (format) {
    case Format::kNone:
      return true;
    case Format::kName:
      return is_name(text);
    case Format::kNamespace:
    case Format::kLabel:
      return is_label(text);
    case Format::kNamespacedName:
      return is_namespaced_name(text);
    case Format::kHostname:
      return HostPattern::parse(text).has_value();
    case Format::kCidr:
      return parse_cidr(text).has_value();
    case Format::kIp:
      return parse_ip(text).has_value();
    case Format::kDuration:
      return parse_duration(text).has_value();
    case Format::kSize:
      return parse_size(text).has_value();
    case Format::kTimestamp:
      return parse_timestamp(text).has_value();
    case Format::kUrl:
      return is_url(text);
    case Format::kPath:
      return text.starts_with('/');
    case Format::kHeaderName:
    case Format::kMethod:
      return is_token(text);
    case Format::kHeaderValue:
      return is_header_value(text);
    case Format::kRateLimitKey:
      return is_rate_limit_key(text);
  }
  return false;
}

std::string_view format_text(Format format) {
  switch (format) {
    case Format::kNone:
      return "a string";
    case Format::kName:
      return "a name of small letters, digits, `-` and `.` (RFC 1123)";
    case Format::kNamespace:
    case Format::kLabel:
      return "a name of at most 63 small letters, digits and `-` (RFC 1123)";
    case Format::kNamespacedName:
      return "`name` or `namespace/name`";
    case Format::kHostname:
      return "a host name, or `*.` before one";
    case Format::kCidr:
      return "an address with a prefix length, such as `10.0.0.0/8`";
    case Format::kIp:
      return "an IP address";
    case Format::kDuration:
      return "a duration such as `500ms`, `30s` or `1h30m`";
    case Format::kSize:
      return "a size such as `1024`, `64Ki`, `10Mi` or `1MB`";
    case Format::kTimestamp:
      return "a time such as `2026-01-31T12:00:00Z`";
    case Format::kUrl:
      return "an http or https URL";
    case Format::kPath:
      return "a path that begins with `/`";
    case Format::kHeaderName:
      return "a header name";
    case Format::kHeaderValue:
      return "a header value: no control bytes, no spaces around it";
    case Format::kMethod:
      return "a method";
    case Format::kRateLimitKey:
      return "`source-ip`, `header:NAME`, `cookie:NAME`, `query:NAME`, `jwt:CLAIM`, `host` or `path`";
  }
  return {};
}

PlainType plain_type(std::string_view text) {
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return PlainType::kBoolean;
  }
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string_view number = text.substr(at);
  for (const std::string_view word : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}) {
    if (number == word) return PlainType::kFloat;
  }
  const bool prefixed = number.starts_with("0x") || number.starts_with("0o");
  if (prefixed && number.size() > 2 &&
      number.find_first_not_of(number[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567", 2) == std::string_view::npos) {
    return PlainType::kInteger;
  }
  std::size_t digits = 0;
  bool fraction = false;
  for (; at < text.size() && (digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else {
      ++digits;
    }
  }
  if (digits == 0) return PlainType::kString;
  if (at == text.size()) return fraction ? PlainType::kFloat : PlainType::kInteger;
  if (text[at] != 'e' && text[at] != 'E') return PlainType::kString;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at == text.size() || text.find_first_not_of("0123456789", at) != std::string_view::npos) {
    return PlainType::kString;
  }
  return PlainType::kFloat;
}

}  // namespace edge::compiler::model
