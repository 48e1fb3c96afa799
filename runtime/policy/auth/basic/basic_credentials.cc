#include "runtime/policy/auth/basic/basic_credentials.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "runtime/policy/auth/basic/htpasswd.h"

namespace edge::runtime::auth {
namespace {

constexpr std::string_view kScheme = "basic";
/// Of a name, a colon and a password, in base64.
constexpr std::size_t kMostDigits = (kMaxUserBytes + 1 + kMaxPasswordBytes + 2) / 3 * 4;

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

CredentialsFault read_basic_credentials(std::string_view value, BasicCredentials& out) {
  const std::size_t space = std::min(value.find(' '), value.size());
  if (!equals_ignoring_case(value.substr(0, space), kScheme)) return CredentialsFault::kOtherScheme;
  value.remove_prefix(space);
  // RFC 9110 §11.4: one blank or more.
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (value.empty() || value.size() > kMostDigits) return CredentialsFault::kMalformed;
  const auto plain = from_base64(value);
  if (!plain || has_control(*plain)) return CredentialsFault::kMalformed;
  const std::size_t colon = plain->find(':');
  if (colon == std::string::npos || colon == 0 || colon > kMaxUserBytes) return CredentialsFault::kMalformed;
  out.user = plain->substr(0, colon);
  out.password = plain->substr(colon + 1);
  if (out.password.size() > kMaxPasswordBytes) return CredentialsFault::kMalformed;
  return CredentialsFault::kNone;
}

}  // namespace edge::runtime::auth
