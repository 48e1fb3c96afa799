#include "runtime/policy/auth/oidc/session_cookie.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using TestRequest = edge::runtime::testing::TestRequest;

const std::string kOld = "0123456789abcdef0123456789abcdef";
const std::string kNew = "fedcba9876543210fedcba9876543210";

SessionKeys keys_of(std::string_view current, std::string_view previous = {}) {
  Result<SessionKeys> keys = SessionKeys::derive(current, previous);
  EXPECT_TRUE(keys.ok());
  return std::move(*keys);
}

/// What a browser sends after these Set-Cookie lines.
std::string cookie_field(const std::string& lines) {
  std::string field;
  for (std::size_t at = 0; (at = lines.find("Set-Cookie: ", at)) != std::string::npos;) {
    at += 12;
    field += (field.empty() ? "" : "; ") + lines.substr(at, lines.find(';', at) - at);
  }
  return field;
}

std::optional<std::string> text_in(const std::string& cookies) {
  const TestRequest request("GET / HTTP/1.1\nHost: a\nCookie: " + cookies);
  return session_text(OwnCookies(request.policy_request().head.fields));
}

TEST(SessionKeys, OpenWhatTheySealed) {
  const SessionKeys keys = keys_of(kOld);
  for (const std::string& plain : {std::string(), std::string("a"), std::string(9000, '\0')}) {
    const auto sealed = keys.seal(SealPurpose::kSession, "bound", plain);
    ASSERT_TRUE(sealed);
    EXPECT_THAT(keys.open(SealPurpose::kSession, "bound", *sealed), Optional(plain));
    EXPECT_EQ(keys.open(SealPurpose::kTokens, "bound", *sealed), std::nullopt);
    EXPECT_EQ(keys.open(SealPurpose::kSession, "boun", *sealed), std::nullopt);
    EXPECT_EQ(keys_of(kNew).open(SealPurpose::kSession, "bound", *sealed), std::nullopt);
  }
}

TEST(SessionKeys, OpenWhatTheSecretBeforeSealed) {
  const auto sealed = keys_of(kOld).seal(SealPurpose::kLogin, "", "plain");
  const SessionKeys rotated = keys_of(kNew, kOld);
  EXPECT_THAT(rotated.open(SealPurpose::kLogin, "", *sealed), Optional(std::string("plain")));
  const auto fresh = rotated.seal(SealPurpose::kLogin, "", "plain");
  EXPECT_EQ(keys_of(kOld).open(SealPurpose::kLogin, "", *fresh), std::nullopt);
  EXPECT_THAT(keys_of(kNew).open(SealPurpose::kLogin, "", *fresh), Optional(std::string("plain")));
}

TEST(SessionKeys, TakeSecretsOf32Bytes) {
  for (const std::string& secret : {std::string(), kOld.substr(1), kOld + "a"}) {
    EXPECT_FALSE(SessionKeys::derive(secret, {}).ok());
    if (!secret.empty()) EXPECT_FALSE(SessionKeys::derive(kOld, secret).ok());
  }
}

TEST(SessionKeys, OpenNothingThatWasChanged) {
  const SessionKeys keys = keys_of(kOld);
  const std::string sealed = *from_base64url(*keys.seal(SealPurpose::kSession, "", "some plain text"));
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(keys.open(SealPurpose::kSession, "", to_base64url(changed)), std::nullopt) << bit;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_EQ(keys.open(SealPurpose::kSession, "", to_base64url(sealed.substr(0, size))), std::nullopt) << size;
  }
}

TEST(SessionKeys, NeverSealTwiceAlike) {
  const SessionKeys keys = keys_of(kOld);
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) all.insert(keys.seal(SealPurpose::kSession, "", "plain")->substr(0, 22));
  EXPECT_EQ(all.size(), 1000U);
}

TEST(SessionCookies, AreAsManyAsTheTextNeeds) {
  for (const std::size_t size : {std::size_t{1}, kCookieBytes - 2, kCookieBytes - 1, kCookieBytes, 2 * kCookieBytes - 1,
                                 2 * kCookieBytes, kMaxSessionText}) {
    std::string text;
    while (text.size() < size) text += std::to_string(text.size());
    text.resize(size);
    const std::string field = cookie_field(session_cookie_lines(text, {}, false));
    EXPECT_THAT(text_in(field), Optional(text)) << size;
    EXPECT_EQ(std::ranges::count(field, ';') + 1, static_cast<long>((size + kCookieBytes) / kCookieBytes)) << size;
  }
}

TEST(SessionCookies, TakeAwayWhatALongerOneLeft) {
  const std::string lines = session_cookie_lines("short", {.count = 3}, true);
  EXPECT_THAT(lines, HasSubstr("edge_session=1short; Path=/; HttpOnly; SameSite=Lax; Secure\r\n"));
  EXPECT_THAT(lines, HasSubstr("edge_session_1=; Path=/; Max-Age=0"));
  EXPECT_THAT(lines, HasSubstr("edge_session_2=; Path=/; Max-Age=0"));
  EXPECT_THAT(lines, Not(HasSubstr("edge_session_3")));
  EXPECT_THAT(clear_session_lines({.count = 1}, true), HasSubstr("edge_session=; Path=/; Max-Age=0"));
}

TEST(SessionCookies, ThatAreNotAllThereAreNone) {
  EXPECT_EQ(text_in("a=b"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=2a"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=2a; edge_session_2=b"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=2a; edge_session_1="), std::nullopt);
  EXPECT_EQ(text_in("edge_session=2a; edge_session_1=b; edge_session_1=b"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=0a"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=5a"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=1"), std::nullopt);
  EXPECT_EQ(text_in("edge_session=1" + std::string(kCookieBytes, 'a')), std::nullopt);
  EXPECT_THAT(text_in("edge_session=2a; edge_session_1=b; edge_session_2=c"), Optional(std::string("ab")));
}

TEST(OidcSession, ComesBackAsItWas) {
  const SessionKeys keys = keys_of(kOld);
  const OidcIdentity identity{.expires = 1'800'000'000,
                              .ends = 1'800'600'000,
                              .claims = {{"sub", "alice"}, {"name", "Alice \xc3\x84"}, {"empty", ""}},
                              .roles = {"a", "b"},
                              .groups = {"/staff"}};
  const OidcTokens tokens{.refresh = "refresh", .id = "id"};
  const auto text = seal_session(keys, "bound", identity, tokens);
  ASSERT_TRUE(text);
  EXPECT_THAT(open_identity(keys, "bound", *text), Optional(identity));
  EXPECT_THAT(open_tokens(keys, "bound", *text), Optional(tokens));
  EXPECT_EQ(open_identity(keys, "other", *text), std::nullopt);
  EXPECT_EQ(open_tokens(keys, "other", *text), std::nullopt);

  // Halves of two sessions are none.
  const auto second = seal_session(keys, "bound", identity, tokens);
  const std::string mixed = text->substr(0, text->find('.')) + second->substr(second->find('.'));
  EXPECT_TRUE(open_identity(keys, "bound", mixed));
  EXPECT_EQ(open_tokens(keys, "bound", mixed), std::nullopt);
}

TEST(OidcSession, DoesWithoutTheIdTokenWhereThereIsNoRoom) {
  const SessionKeys keys = keys_of(kOld);
  const OidcIdentity identity{.claims = {{"sub", "alice"}}, .roles = {}, .groups = {}};
  const auto text = seal_session(keys, "", identity, {.refresh = "refresh", .id = std::string(12'000, 'i')});
  ASSERT_TRUE(text);
  EXPECT_THAT(open_tokens(keys, "", *text), Optional(OidcTokens{.refresh = "refresh", .id = {}}));
  EXPECT_EQ(seal_session(keys, "", identity, {.refresh = std::string(12'000, 'r'), .id = {}}), std::nullopt);
  EXPECT_EQ(seal_session(keys, "", identity, {.refresh = std::string(70'000, 'r'), .id = {}}), std::nullopt);
}

TEST(OidcSession, ReadsOnlyWhatItWrites) {
  const std::string bytes =
      write_identity({.expires = 1, .ends = 2, .claims = {{"sub", "a"}}, .roles = {"r"}, .groups = {}});
  ASSERT_TRUE(read_identity(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read_identity(bytes.substr(0, size))) << size;
  EXPECT_FALSE(read_identity(bytes + "a"));
  EXPECT_FALSE(read_tokens(bytes + "a"));
}

}  // namespace
}  // namespace edge::runtime::auth
