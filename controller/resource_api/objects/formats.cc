// The string formats that OpenAPI defines, checked as strictly as an API server does.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/ip.h"
#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/schema_parts.h"

namespace edge::resource_api::objects {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_digit(text[i]) < 0) return false;
  }
  return true;
}

bool is_mac(std::string_view text) {
  if (text.size() != 17 || (text[2] != ':' && text[2] != '-')) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 ? text[i] != text[2] : hex_digit(text[i]) < 0) return false;
  }
  return true;
}

/// `1h30m`, `1.5s`, `0`, as Go's time.ParseDuration reads them.
bool is_duration(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text == "0") return true;
  if (text.empty()) return false;
  constexpr std::string_view kUnits[] = {"ns", "us", "\u00b5s", "ms", "s", "m", "h"};
  while (!text.empty()) {
    const std::size_t end = text.find_first_not_of("0123456789.");
    if (end == 0 || end == std::string_view::npos || std::ranges::count(text.substr(0, end), '.') > 1) return false;
    if (std::ranges::none_of(text.substr(0, end), digit)) return false;
    text.remove_prefix(end);
    const std::size_t unit_end = std::min(text.find_first_of("0123456789."), text.size());
    if (std::ranges::find(kUnits, text.substr(0, unit_end)) == std::ranges::end(kUnits)) return false;
    text.remove_prefix(unit_end);
  }
  return true;
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  std::size_t label = 0;
  for (const char c : text) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else if (!(digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_') ||
               ++label > 63) {
      return false;
    }
  }
  return true;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  return at != std::string_view::npos && at > 0 && is_hostname(text.substr(at + 1)) &&
         std::ranges::none_of(text, [](char c) { return c == ' ' || static_cast<unsigned char>(c) < 0x20; });
}

/// Absolute, or a path from the root: what Go's url.ParseRequestURI takes.
bool is_uri(std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }))
    return false;
  if (text.starts_with('/')) return true;
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && std::ranges::all_of(text.substr(0, colon), [](char c) {
           return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
         });
}

bool is_ipv4(std::string_view text) { return text.find(':') == std::string_view::npos && parse_ip(text).has_value(); }
bool is_ipv6(std::string_view text) { return text.find(':') != std::string_view::npos && parse_ip(text).has_value(); }

}  // namespace

bool has_format(std::string_view text, std::string_view format) {
  if (format == "date-time" || format == "datetime") return time_of(text) != -1;
  if (format == "date") return text.size() == 10 && time_of(std::string(text) + "T00:00:00Z") != -1;
  if (format == "duration") return is_duration(text);
  if (format == "ipv4") return is_ipv4(text);
  if (format == "ipv6") return is_ipv6(text);
  if (format == "cidr") return text.find('/') != std::string_view::npos && parse_cidr(text).has_value();
  if (format == "mac") return is_mac(text);
  if (format == "uuid" || format == "uuid3" || format == "uuid4" || format == "uuid5") return is_uuid(text);
  if (format == "byte") return from_base64(text).has_value();
  if (format == "hostname") return is_hostname(text);
  if (format == "email") return is_email(text);
  if (format == "uri") return is_uri(text);
  return true;
}

}  // namespace edge::resource_api::objects
