// Any bytes as Cookie fields, as what is sealed in them, and as the query of a login's answer. Nothing opens that was
// not sealed; what is read is what would have been written.
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http1/parse.h"
#include "runtime/policy/auth/oidc/oidc_login.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::runtime::auth;
namespace http1 = edge::net::http1;

constexpr std::int64_t kNow = 1'800'000'000;

void read_cookies(const SessionKeys& keys, const http1::HeadFields& fields) {
  const OwnCookies own(fields);
  require(own.all().size() <= OwnCookies::kMax);
  for (const Cookie& cookie : own.all()) require(is_own_cookie(cookie.name));
  const std::string others = cookies_of_others(fields);
  require(others.find_first_of("\r\n") == std::string::npos);
  const SessionCookiesSeen seen = session_cookies_seen(own);
  require(seen.count <= kMaxSessionCookies);
  if (const auto text = session_text(own)) {
    // One that stands twice is not among those that it was put together from.
    require(text->size() <= kMaxSessionText && (!seen.doubled || seen.count > 1));
    // Bytes that open by chance would be a fault of GCM.
    require(!open_identity(keys, "bound", *text) && !open_tokens(keys, "bound", *text));
  }
  for (const Cookie& cookie : own.all()) {
    require(!find_login(keys, "bound", cookie.name.substr(cookie.name.size() / 2), own, false, kNow));
  }
}

void read_plain(std::string_view bytes) {
  if (const auto identity = read_identity(bytes)) require(write_identity(*identity) == bytes);
  if (const auto tokens = read_tokens(bytes)) require(write_tokens(*tokens) == bytes);
  if (const auto login = read_login(bytes)) require(read_login(write_login(*login)) == login);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const edge::Result<SessionKeys> keys = SessionKeys::derive("0123456789abcdef0123456789abcdef", {});
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static http1::RequestHead head;
  http1::ParseHint hint;
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\nCookie: " + std::string(bytes) + "\r\n\r\n";
  if (parse_request(text, {}, hint, head).state == http1::ParseState::kComplete) read_cookies(*keys, head.fields);
  read_plain(bytes);
  const AnswerParameters answer(bytes);
  if (answer.sound()) require(answer.value("code").find_first_of("\r\n") == std::string_view::npos);
  const std::string target = local_target(bytes, true, bytes);
  require(target.starts_with('/') && !target.starts_with("//") && target.find('\\') == std::string::npos);
  return 0;
}
