#include "runtime/policy/auth/oidc/oidc_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/test_policy_request.h"

namespace edge::runtime::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using TestRequest = edge::runtime::testing::TestRequest;

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::int64_t kNow = 1'800'000'000;

SessionKeys keys() { return SessionKeys::derive(kSecret, {}).value(); }

OwnCookies cookies_of(const TestRequest& request) { return OwnCookies(request.policy_request().head.fields); }

/// A request that brings the cookie of this line.
TestRequest bringing(const std::string& set_cookie) {
  return TestRequest("GET / HTTP/1.1\nHost: a\nCookie: " + set_cookie.substr(12, set_cookie.find(';') - 12));
}

bool navigates(std::string_view lines) {
  const TestRequest request(lines);
  EXPECT_TRUE(request.complete()) << lines;
  return is_navigation(request.policy_request().head);
}

TEST(OidcLogin, IsForWhoLooksAtAPage) {
  EXPECT_TRUE(navigates("GET / HTTP/1.1\nHost: a"));
  EXPECT_TRUE(navigates("GET / HTTP/1.1\nHost: a\nAccept: text/html,application/xhtml+xml;q=0.9"));
  EXPECT_TRUE(navigates("GET / HTTP/1.1\nHost: a\nAccept: */*\nSec-Fetch-Mode: navigate"));
  EXPECT_FALSE(navigates("POST / HTTP/1.1\nHost: a\nContent-Length: 0"));
  EXPECT_FALSE(navigates("HEAD / HTTP/1.1\nHost: a"));
  EXPECT_FALSE(navigates("GET / HTTP/1.1\nHost: a\nx-requested-with: XMLHttpRequest"));
  EXPECT_FALSE(navigates("GET / HTTP/1.1\nHost: a\nSec-Fetch-Mode: cors\nAccept: */*"));
  EXPECT_FALSE(navigates("GET / HTTP/1.1\nHost: a\nAccept: application/json"));
  EXPECT_FALSE(navigates("GET / HTTP/1.1\nHost: a\nAccept: image/avif,image/webp"));
  EXPECT_FALSE(navigates("GET / HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket"));
}

TEST(OidcLogin, KnowsItsOwnPages) {
  const auto own = [](std::string_view lines) {
    const TestRequest request("GET / HTTP/1.1\nHost: a\n" + std::string(lines));
    EXPECT_TRUE(request.complete()) << lines;
    return is_of_own_page(request.policy_request().head, "https://a");
  };
  EXPECT_TRUE(own("Sec-Fetch-Site: same-origin"));
  EXPECT_TRUE(own("Sec-Fetch-Site: none"));
  EXPECT_TRUE(own("Origin: https://A"));
  EXPECT_TRUE(own("Referer: https://a/b"));
  EXPECT_FALSE(own("Sec-Fetch-Site: cross-site\nOrigin: https://a\nReferer: https://a/"));
  EXPECT_FALSE(own("Origin: null\nReferer: https://a/"));
  EXPECT_FALSE(own("Origin: http://a"));
  EXPECT_FALSE(own("Referer: https://a.evil.example/"));
  EXPECT_FALSE(own("Referer: https://a"));
  EXPECT_FALSE(own("Accept: */*"));
}

TEST(OidcLogin, LeadsBackToThisSiteAlone) {
  EXPECT_EQ(local_target("/a/b", true, "c=d"), "/a/b?c=d");
  EXPECT_EQ(local_target("/a", true, ""), "/a?");
  for (const std::string_view path :
       {"", "*", "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "/a b", "/\xc3\xa4", "/a#b"}) {
    EXPECT_EQ(local_target(path, false, {}), "/") << path;
  }
  EXPECT_EQ(local_target("/a", true, std::string(2000, 'q')), "/");
}

TEST(OidcLogin, IsKeptAtTheBrowserThatBeganIt) {
  const SessionKeys own = keys();
  const OidcLogin login = *begin_login("/a?b=c", kNow);
  EXPECT_EQ(login.verifier.size(), 43U);
  const std::string lines =
      *login_cookie_lines(own, "bound", login, cookies_of(TestRequest("GET / HTTP/1.1\nHost: a")), false);
  EXPECT_THAT(lines, HasSubstr("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax\r\n"));
  const TestRequest request = bringing(lines);
  const OwnCookies cookies = cookies_of(request);
  EXPECT_THAT(find_login(own, "bound", login.state, cookies, false, kNow + 599), Optional(login));
  EXPECT_EQ(find_login(own, "bound", login.state, cookies, false, kNow + 601), std::nullopt) << "too late";
  EXPECT_EQ(find_login(own, "bound", login.state, cookies, false, kNow - 61), std::nullopt) << "of the future";
  EXPECT_EQ(find_login(own, "other", login.state, cookies, false, kNow), std::nullopt) << "of another client";
  EXPECT_EQ(find_login(own, "bound", login.state, cookies, true, kNow), std::nullopt) << "not of this host for sure";
  EXPECT_EQ(find_login(own, "bound", login.state + "a", cookies, false, kNow), std::nullopt);
  EXPECT_EQ(find_login(own, "bound", login.state.substr(0, 20), cookies, false, kNow), std::nullopt);
  EXPECT_EQ(find_login(own, "bound", "", cookies, false, kNow), std::nullopt);
  EXPECT_EQ(find_login(own, "bound", begin_login("/", kNow)->state, cookies, false, kNow), std::nullopt);
}

TEST(OidcLogin, OverTlsIsOfThisHostForSure) {
  const SessionKeys own = keys();
  const OidcLogin login = *begin_login("/", kNow);
  const std::string lines =
      *login_cookie_lines(own, "", login, cookies_of(TestRequest("GET / HTTP/1.1\nHost: a")), true);
  EXPECT_THAT(lines, ::testing::StartsWith("Set-Cookie: __Host-edge_login_" + login.state.substr(0, 10)));
  EXPECT_THAT(lines, HasSubstr("; Path=/;"));
  EXPECT_THAT(lines, HasSubstr("; Secure\r\n"));
  const TestRequest request = bringing(lines);
  EXPECT_TRUE(find_login(own, "", login.state, cookies_of(request), true, kNow));
}

TEST(OidcLogin, GivesUpOlderOnes) {
  std::string text = "GET / HTTP/1.1\nHost: a\nCookie: a=b";
  for (int i = 0; i < 9; ++i) text += "; edge_login_" + std::to_string(i) + "=x";
  const TestRequest request(text);
  const std::string lines = *login_cookie_lines(keys(), "", *begin_login("/", kNow), cookies_of(request), false);
  EXPECT_THAT(lines, HasSubstr("edge_login_8=; Path=/; Max-Age=0"));
  EXPECT_THAT(lines, HasSubstr("edge_login_5=; Path=/; Max-Age=0"));
  EXPECT_THAT(lines, ::testing::Not(HasSubstr("edge_login_4=;")));
}

TEST(OidcLogin, ReadsOnlyWhatItWrites) {
  const std::string bytes = write_login(*begin_login("/a", kNow));
  ASSERT_TRUE(read_login(bytes));
  for (std::size_t size = 0; size + 10 < bytes.size(); ++size) EXPECT_FALSE(read_login(bytes.substr(0, size))) << size;
  EXPECT_FALSE(read_login(bytes + "\n"));
  EXPECT_FALSE(read_login(bytes + "x"));
}

TEST(OidcLogin, AsksTheProviderForACode) {
  const OidcLogin login{.state = "s", .nonce = "n", .verifier = "dBjftJeZ4CVP-mBz", .target = "/", .began = kNow};
  const std::vector<std::string> scopes = {"openid", "email"};
  EXPECT_EQ(authorization_url({"https://id.example/auth?x=y", "a b", "https://shop.example/cb", scopes}, login),
            "https://id.example/auth?x=y&response_type=code&client_id=a+b&redirect_uri=https%3A%2F%2Fshop.example%2Fcb"
            "&scope=openid+email&state=s&nonce=n&code_challenge=" +
                s256("dBjftJeZ4CVP-mBz") + "&code_challenge_method=S256");
  // RFC 7636, appendix B.
  EXPECT_EQ(s256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(OidcAnswer, IsReadStrictly) {
  const AnswerParameters sound("code=a%2Bb&state=c+d&&x=");
  EXPECT_TRUE(sound.sound());
  EXPECT_EQ(sound.value("code"), "a+b");
  EXPECT_EQ(sound.value("state"), "c d");
  EXPECT_EQ(sound.value("y"), "");
  for (const std::string_view query :
       {"code=a&code=a", "c%6fde=a&code=b", "code=%", "code=%4", "code=%zz", "code=%00", "code=%0d%0a", "code=%7f"}) {
    EXPECT_FALSE(AnswerParameters(query).sound()) << query;
  }
  EXPECT_FALSE(AnswerParameters(std::string(AnswerParameters::kMaxBytes + 1, 'a')).sound());
  std::string many;
  for (int i = 0; i < 33; ++i) many += "p" + std::to_string(i) + "=&";
  EXPECT_FALSE(AnswerParameters(many).sound());
}

}  // namespace
}  // namespace edge::runtime::auth
