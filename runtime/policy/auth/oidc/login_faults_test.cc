#include "runtime/policy/auth/oidc/login_faults.h"

#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

std::uint64_t count(const LoginFaults& faults, LoginFault fault) {
  return faults.counts()[static_cast<std::size_t>(fault)];
}

TEST(LoginFaults, AreCountedAndToldInALineAtTimes) {
  std::vector<std::string> lines;
  LoginFaults faults(Logger([&](LogLevel, const std::string& line, const LogFields&) { lines.push_back(line); }));
  faults.note(LoginFault::kNonce, "shop/login", {}, 100);
  for (int i = 0; i < 1000; ++i) faults.note(LoginFault::kNonce, "shop/login", {}, 101);
  faults.note(LoginFault::kTokenRefused, "shop/login", "HTTP 401, invalid_client", 101);
  faults.note(LoginFault::kNonce, "shop/login", {}, 100 + LoginFaults::kRest);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "policy shop/login: a login came to nothing: the id token is of another login",
                       "policy shop/login: a login came to nothing: the provider's token endpoint has refused the code "
                       "or the refresh token (HTTP 401, invalid_client)",
                       "policy shop/login: a login came to nothing: the id token is of another login; 1000 more like "
                       "it since the last such line"}));
  EXPECT_EQ(count(faults, LoginFault::kNonce), 1002u);
  EXPECT_EQ(count(faults, LoginFault::kTokenRefused), 1u);
  EXPECT_EQ(count(faults, LoginFault::kSignature), 0u);
}

TEST(LoginFaults, AreCountedWhereNobodyReadsThem) {
  LoginFaults faults{Logger()};
  faults.note(LoginFault::kKey, "shop/login", {}, 100);
  EXPECT_EQ(count(faults, LoginFault::kKey), 1u);
}

}  // namespace
}  // namespace edge::runtime::auth
