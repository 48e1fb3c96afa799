#include "compiler/lint/credentials.h"

#include <algorithm>
#include <array>

namespace edge::compiler::lint {
namespace {

constexpr std::array<std::string_view, 12> kCredentials = {
    "authorization", "cookie",       "proxy-authorization", "x-api-key",    "api-key",
    "x-apikey",      "x-auth-token", "x-access-token",      "x-csrf-token", "x-amz-security-token",
    "x-vault-token", "private-token"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool carries_credential(std::string_view header) {
  return std::ranges::any_of(kCredentials,
                             [&](std::string_view name) { return std::ranges::equal(name, header, {}, {}, lower); });
}

}  // namespace edge::compiler::lint
