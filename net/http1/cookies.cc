#include "net/http1/cookies.h"

namespace edge::net::http1 {

std::string set_cookie_line(std::string_view name, std::string_view value, const CookieManner& manner) {
  std::string line = "Set-Cookie: ";
  line.append(name).append("=").append(value).append("; Path=").append(manner.path);
  if (manner.max_age >= 0) line.append("; Max-Age=").append(std::to_string(manner.max_age));
  // Lax: whoever comes by a link from another site, as back from a login, is known.
  line.append("; HttpOnly; SameSite=Lax");
  if (manner.secure) line.append("; Secure");
  return line.append("\r\n");
}

std::string clear_cookie_line(std::string_view name, bool secure) {
  return set_cookie_line(name, {}, {.secure = secure, .max_age = 0});
}

}  // namespace edge::net::http1
