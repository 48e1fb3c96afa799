#include "runtime/policy/auth/oidc/cookies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/test_policy_request.h"

namespace edge::runtime::auth {
namespace {

using ::testing::Eq;
using ::testing::Optional;
using TestRequest = edge::runtime::testing::TestRequest;

constexpr std::string_view kGet = "GET / HTTP/1.1\nHost: shop.example";

/// A request with one Cookie field a value.
TestRequest with_cookies(std::initializer_list<std::string_view> values) {
  std::string text(kGet);
  for (const std::string_view value : values) text.append("\nCookie: ").append(value);
  return TestRequest(text);
}

TEST(Cookies, OfTheProxyAreFoundAmongOthers) {
  const TestRequest request = with_cookies({"a=b; edge_session=1abc;edge_session_1=def ; c=d", "edge_login_x=y=z"});
  const OwnCookies own(request.policy_request().head.fields);
  EXPECT_FALSE(own.none());
  EXPECT_THAT(own.find("edge_session"), Optional(Eq("1abc")));
  EXPECT_THAT(own.find("edge_session_1"), Optional(Eq("def")));
  EXPECT_THAT(own.find("edge_login_x"), Optional(Eq("y=z")));
  EXPECT_EQ(own.find("a"), std::nullopt);
  EXPECT_EQ(own.find("edge_session_2"), std::nullopt);
  EXPECT_EQ(cookies_of_others(request.policy_request().head.fields), "a=b; c=d");
}

TEST(Cookies, OfANameThatStandsTwiceAreNone) {
  const TestRequest request = with_cookies({"edge_session=a; edge_session=a", "edge_session_1=b", "edge_session_1=c"});
  const OwnCookies own(request.policy_request().head.fields);
  EXPECT_EQ(own.find("edge_session"), std::nullopt);
  EXPECT_EQ(own.find("edge_session_1"), std::nullopt);
  EXPECT_EQ(own.all().size(), 4U);
}

TEST(Cookies, ThatAreTooManyAreNone) {
  std::string text(kGet);
  text += "\nCookie: edge_session=a";
  for (std::size_t i = 0; i < OwnCookies::kMax; ++i) text += "; edge_login_" + std::to_string(i) + "=b";
  const TestRequest request(text);
  const OwnCookies own(request.policy_request().head.fields);
  EXPECT_FALSE(own.none());
  EXPECT_EQ(own.find("edge_session"), std::nullopt);
}

TEST(Cookies, WithoutSenseArePassedOn) {
  const TestRequest request = with_cookies({"; ;a; =b;  c = d ;edge_session"});
  EXPECT_THAT(OwnCookies(request.policy_request().head.fields).find("edge_session"), Optional(Eq("")));
  EXPECT_EQ(cookies_of_others(request.policy_request().head.fields), "a; =b; c = d");
  EXPECT_TRUE(OwnCookies(TestRequest(kGet).policy_request().head.fields).none());
}

TEST(Cookies, OfOneValueAreToldApartToo) {
  EXPECT_EQ(cookies_of_others("a=b; edge_session=1abc;edge_login_x=y ; c=d"), "a=b; c=d");
  EXPECT_EQ(cookies_of_others(""), "");
}

TEST(Cookies, AreTheProxysByName) {
  for (const std::string_view name :
       {"edge_session", "edge_session_3", "edge_login_abc", "__Host-edge_login_abc", "__Host-edge_session"}) {
    EXPECT_TRUE(is_own_cookie(name)) << name;
  }
  for (const std::string_view name :
       {"", "edge", "Edge_session", "__Secure-edge_session", "my_edge_session", "__Host-"}) {
    EXPECT_FALSE(is_own_cookie(name)) << name;
  }
}

TEST(Cookies, SayHowTheyLive) {
  EXPECT_EQ(set_cookie_line("a", "b", {}), "Set-Cookie: a=b; Path=/; HttpOnly; SameSite=Lax\r\n");
  EXPECT_EQ(set_cookie_line("a", "b", {.secure = true, .max_age = 60}),
            "Set-Cookie: a=b; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure\r\n");
  EXPECT_EQ(clear_cookie_line("a", false), "Set-Cookie: a=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax\r\n");
}

}  // namespace
}  // namespace edge::runtime::auth
