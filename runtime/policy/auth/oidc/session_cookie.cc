#include "runtime/policy/auth/oidc/session_cookie.h"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace edge::runtime::auth {
namespace {

unsigned char* writable(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

std::string cookie_name(std::size_t index) {
  std::string name(kSessionCookie);
  if (index != 0) name.append("_").append(std::to_string(index));
  return name;
}

}  // namespace

std::optional<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(writable(bytes.data()), static_cast<int>(count)) != 1) return std::nullopt;
  return bytes;
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

SessionCookiesSeen session_cookies_seen(const OwnCookies& cookies) {
  SessionCookiesSeen seen;
  for (std::size_t i = 0; i < kMaxSessionCookies; ++i) {
    const auto times = std::ranges::count(cookies.all(), cookie_name(i), &Cookie::name);
    if (times > 0) seen.count = i + 1;
    if (times > 1) seen.doubled = true;
  }
  return seen;
}

std::optional<std::string> session_text(const OwnCookies& cookies) {
  const std::optional<std::string_view> first = cookies.find(kSessionCookie);
  if (!first || first->size() < 2 || first->size() > kCookieBytes) return std::nullopt;
  const auto count = static_cast<std::size_t>(static_cast<unsigned char>(first->front()) - '0');
  if (count < 1 || count > kMaxSessionCookies) return std::nullopt;
  std::string text(first->substr(1));
  for (std::size_t i = 1; i < count; ++i) {
    const std::optional<std::string_view> next = cookies.find(cookie_name(i));
    if (!next || next->empty() || next->size() > kCookieBytes) return std::nullopt;
    text += *next;
  }
  return text;
}

std::string session_cookie_lines(std::string_view text, const SessionCookiesSeen& before, bool secure) {
  // The number of cookies stands before the value, as one digit.
  const std::size_t count = (text.size() + kCookieBytes) / kCookieBytes;
  std::string whole = std::to_string(count);
  whole += text;
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += set_cookie_line(cookie_name(i), std::string_view(whole).substr(i * kCookieBytes, kCookieBytes),
                             {.secure = secure});
  }
  for (std::size_t i = count; i < before.count; ++i) lines += clear_cookie_line(cookie_name(i), secure);
  return lines;
}

std::string clear_session_lines(const SessionCookiesSeen& before, bool secure) {
  std::string lines;
  for (std::size_t i = 0; i < before.count; ++i) lines += clear_cookie_line(cookie_name(i), secure);
  return lines;
}

}  // namespace edge::runtime::auth
