#include "compiler/lint/credentials.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"

namespace edge::compiler::lint {
namespace {

constexpr std::array<std::string_view, 12> kCredentials = {
    "authorization", "cookie",       "proxy-authorization", "x-api-key",    "api-key",
    "x-apikey",      "x-auth-token", "x-access-token",      "x-csrf-token", "x-amz-security-token",
    "x-vault-token", "private-token"};

}  // namespace

bool carries_credential(std::string_view header) {
  return std::ranges::any_of(kCredentials, [&](std::string_view name) { return equals_ignoring_case(name, header); });
}

}  // namespace edge::compiler::lint
