// Names of HTTP fields, compared as backends do. Case is ignored (RFC 9110 §5.1), and `_` equals `-`: CGI, WSGI and
// others read `X_Auth_User` as `X-Auth-User` (RFC 3875 §4.1.18), so that code that removes or sets one must include the
// other (*safe*).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text/ascii.h"

namespace edge {

constexpr char folded_field_char(char c) { return c == '_' ? '-' : ascii_lower(c); }

/// Returns the lower case, with `-` for `_`: equal for names of one field.
inline std::string folded_field_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = folded_field_char(c);
  return out;
}

constexpr bool same_field(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (folded_field_char(a[i]) != folded_field_char(b[i])) return false;
  }
  return true;
}

/// Returns whether the name is X-Forwarded- and more: what a proxy tells of a request's origin.
constexpr bool is_forwarded_field(std::string_view name) {
  constexpr std::string_view kPrefix = "x-forwarded-";
  return name.size() > kPrefix.size() && same_field(name.substr(0, kPrefix.size()), kPrefix);
}

}  // namespace edge
