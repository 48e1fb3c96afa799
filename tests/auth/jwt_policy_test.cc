#include "runtime/policy/auth/jwt/jwt_policy.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "program/claim_field.h"
#include "runtime/policy/auth/test_auth_context.h"
#include "tests/support/issuer.h"
#include "tests/support/key_server.h"

namespace edge::runtime::auth {
namespace {

using test::SigningKey;
using testing::TestAuthContext;

/// An issuer whose keys are in the policy, or in a Secret.
struct Further {
  std::string issuer;
  std::string algorithm;
  program::JwtKeys keys;
  std::string held;
};

struct Settings {
  std::string issuer = "https://id.example";
  std::vector<std::string> algorithms = {"ES256"};
  std::string header = "authorization";
  std::string prefix = "Bearer ";
  std::vector<std::pair<std::string, std::string>> claims = {{"sub", "x-user"}};
  std::vector<Further> further{};
  bool only_further = false;
  /// Whether a rate limit counts by `identity`.
  bool by_identity = false;
  /// What rules of a listener ask of claims: a name, and an element of it or nothing.
  std::vector<std::pair<std::string, std::string>> matched{};
};

class JwtPolicyTest : public ::testing::Test {
 protected:
  using Made = Result<std::shared_ptr<const JwtPolicy>>;

  JwtPolicyTest() { server.answer(test::jwks({one.jwk()})); }

  Made make(const Settings& settings, const std::string& address) {
    program::SectionBuilder builder(sizeof(program::PoliciesHeader));
    std::vector<program::StringRef> algorithms;
    for (const std::string& name : settings.algorithms) algorithms.push_back(builder.string(name));
    std::vector<program::ClaimHeaderRecord> claims;
    for (const auto& [claim, header] : settings.claims)
      claims.push_back({builder.string(claim), builder.string(header)});
    program::JwtRecord record{};
    record.clock_skew_ns = 60'000'000'000;
    record.header = builder.string(settings.header);
    record.prefix = builder.string(settings.prefix);
    std::vector<program::JwtIssuerRecord> issuers = {{.issuer = builder.string(settings.issuer),
                                                      .audience = {},
                                                      .algorithms = builder.array(algorithms),
                                                      .keys = program::JwtKeys::kUri,
                                                      .source = builder.string(address),
                                                      .secret = {}}};
    for (const Further& each : settings.further) {
      const std::vector<program::StringRef> own = {builder.string(each.algorithm)};
      issuers.push_back({.issuer = builder.string(each.issuer),
                         .audience = {},
                         .algorithms = builder.array(own),
                         .keys = each.keys,
                         .source = builder.string(each.keys == program::JwtKeys::kInline ? each.held : ""),
                         .secret = {builder.string("shop"), builder.string(each.issuer), builder.string("value")}});
    }
    if (settings.only_further) issuers.erase(issuers.begin());
    record.issuers = builder.array(issuers);
    record.claim_headers = builder.array(claims);
    program::PoliciesHeader header{};
    if (settings.by_identity) {
      const std::vector<program::RateKeyRecord> keys = {{program::RateKey::kIdentity, {}}};
      const std::vector<program::RateRecord> rates = {{1, 1'000'000'000, 1, builder.array(keys)}};
      const std::vector<program::RateLimitRecord> limits = {{builder.array(rates), 0, 0}};
      header.rate_limits = builder.array(limits);
    }
    std::vector<program::ClaimFieldRecord> matched;
    for (const auto& [claim, item] : settings.matched) {
      matched.push_back({builder.string(claim), builder.string(item), item.empty() ? 0U : 1U});
    }
    // Those of another policy are none of this one's.
    const std::vector<program::ClaimFieldRecord> foreign = {{builder.string("foreign"), {}, 0}};
    const std::vector<program::ListenerClaimsRecord> listeners = {{0, 0, 0, builder.array(matched)},
                                                                  {1, 1, 0, builder.array(foreign)}};
    if (!settings.matched.empty()) header.listener_claims = builder.array(listeners);
    const std::vector<std::byte> bytes = std::move(builder).finish(header);
    const program::SectionView section(bytes);
    program::SecretSet secrets;
    for (const Further& each : settings.further) {
      if (each.keys == program::JwtKeys::kInline || each.held.empty()) continue;
      secrets.secrets.push_back({"shop", each.issuer, {{"value", std::make_shared<const std::string>(each.held)}}});
    }
    secrets.sort();
    return JwtPolicy::make({section, secrets, context.stores}, program::PolicyRecord{}, record);
  }
  std::shared_ptr<const JwtPolicy> policy(const Settings& settings = {}) {
    Made made = make(settings, server.url());
    EXPECT_TRUE(made.ok());
    return *std::move(made);
  }
  static std::string claims(const std::string& more = {}) {
    return R"({"iss":"https://id.example","exp":1800000300,"sub":"alice")" + more + "}";
  }
  AuthResult ask(const JwtPolicy& policy, const std::string& token) {
    return context.ask(policy, "GET / HTTP/1.1\nHost: x\nAuthorization: Bearer " + token);
  }

  const SigningKey one{"ES256", "one"};
  const SigningKey two{"ES256", "two"};
  test::KeyServer server;
  TestAuthContext context;
};

TEST_F(JwtPolicyTest, ATokenThatWasSeenIsKnownUntilItIsOver) {
  const auto tokens = policy();
  const std::string token = one.token(claims());
  EXPECT_TRUE(ask(*tokens, token).passed());
  EXPECT_EQ(context.stores.tokens.tokens.size(), 1u);
  const AuthResult again = ask(*tokens, token);
  EXPECT_TRUE(again.passed());
  EXPECT_EQ(again.request.value("x-user"), "alice");
  context.unix_now = 1'800'000'359;
  EXPECT_TRUE(ask(*tokens, token).passed());
  context.unix_now = 1'800'000'360;
  const AuthResult over = ask(*tokens, token);
  EXPECT_FALSE(over.passed());
  EXPECT_EQ(over.answer.status, 401);
  EXPECT_EQ(over.answer.reason, "token-expired");
}

TEST_F(JwtPolicyTest, WhereAKeyGoesWhatItVouchedForGoes) {
  const std::string token = one.token(claims());
  EXPECT_TRUE(ask(*policy(), token).passed());
  // Held by nobody, the keys are fetched anew.
  server.answer(test::jwks({two.jwk()}));
  const auto later = policy();
  EXPECT_FALSE(ask(*later, token).passed());
  EXPECT_TRUE(ask(*later, two.token(claims())).passed());
}

TEST_F(JwtPolicyTest, OnePolicysTokenIsNotAnothers) {
  const auto first = policy();
  Settings other;
  other.issuer = "https://other.example";
  const auto second = policy(other);
  const std::string token = one.token(claims());
  EXPECT_TRUE(ask(*first, token).passed());
  EXPECT_FALSE(ask(*second, token).passed());
  EXPECT_TRUE(ask(*first, token).passed());
}

TEST_F(JwtPolicyTest, AnotherHeaderAndPrefix) {
  Settings settings;
  settings.header = "x-token";
  settings.prefix = "";
  const auto tokens = policy(settings);
  const std::string token = one.token(claims());
  EXPECT_TRUE(context.ask(*tokens, "GET / HTTP/1.1\nHost: x\nX-Token: " + token).passed());
  EXPECT_EQ(ask(*tokens, token).answer.reason, "token-missing");
  EXPECT_EQ(context.ask(*tokens, "GET / HTTP/1.1\nHost: x\nX-Token: " + token + "\nx-token: " + token).answer.reason,
            "token-invalid");
}

TEST_F(JwtPolicyTest, SettingsThatCannotBeServedAreTold) {
  Settings settings;
  settings.algorithms = {"HS256"};
  EXPECT_EQ(make(settings, server.url()).error().text, "an algorithm that is not served");
  settings.algorithms = {"none"};
  EXPECT_EQ(make(settings, server.url()).error().text, "an algorithm that is not served");
  settings.algorithms = {};
  EXPECT_EQ(make(settings, server.url()).error().text, "no algorithm is allowed");
  EXPECT_FALSE(make({}, "file:///etc/passwd").ok());
}

TEST_F(JwtPolicyTest, ClaimsBecomeHeadersWhetherTheyAreThereOrNot) {
  Settings settings;
  settings.claims = {{"sub", "x-user"}, {"email", "x-email"}, {"realm_access.roles", "x-roles"}};
  const AuthResult auth_result = ask(*policy(settings), one.token(claims(R"(,"realm_access":{"roles":["a","b"]})")));
  EXPECT_EQ(auth_result.request.value("x-user"), "alice");
  EXPECT_EQ(auth_result.request.value("x-roles"), "a,b");
  EXPECT_EQ(auth_result.request.value("x-email"), "");
  for (const char* name : {"X-User", "X_User", "x-roles", "X-Email"})
    EXPECT_TRUE(auth_result.request.drops(name)) << name;
}

TEST_F(JwtPolicyTest, RulesMatchVerifiedClaimsAlone) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  Settings settings;
  settings.matched = {{"plan", ""},         {"Plan", ""},         {"level", ""},      {"none", ""},    {"gone", ""},
                      {"a.roles", "Admin"}, {"a.roles", "admin"}, {"scope", "write"}, {"foreign", "x"}};
  const auto tokens = policy(settings);
  const std::string token = one.token(claims(
      R"(,"plan":"gold","level":7,"none":{"a":1},"gone":null,"a":{"roles":["dev","Admin"]},"scope":"read write")"));
  const Fields expected = {{program::claim_item_field("a.roles", "Admin"), ""},
                           {program::claim_field("level"), "7"},
                           {program::claim_field("none"), ""},
                           {program::claim_field("plan"), "gold"},
                           {program::claim_item_field("scope", "write"), ""}};
  // Verified, and from the cache.
  for (int i = 0; i < 2; ++i) {
    const AuthResult said = ask(*tokens, token);
    ASSERT_TRUE(said.passed() && said.matched != nullptr);
    Fields fields;
    for (const auto& [field, text] : said.matched->held) fields.emplace_back((*said.matched->fields)[field], text);
    std::ranges::sort(fields);
    Fields sorted = expected;
    std::ranges::sort(sorted);
    EXPECT_EQ(fields, sorted);
  }
  EXPECT_EQ(ask(*tokens, token + "x").matched, nullptr);
  // The same token, by a policy by which no rule matches: what is cached is another's.
  EXPECT_EQ(ask(*policy(), token).matched, nullptr);
}

TEST(ClaimContains, OneElement) {
  const auto contains = [](const char* name, const char* json, const char* item) {
    return claim_contains(name, *read_json(json), item);
  };
  EXPECT_TRUE(contains("roles", R"(["a","admin",3,true])", "admin"));
  EXPECT_TRUE(contains("roles", R"(["a,b","admin"])", "admin"));
  EXPECT_TRUE(contains("roles", R"([3])", "3"));
  EXPECT_TRUE(contains("roles", R"("admin")", "admin"));
  EXPECT_TRUE(contains("scope", R"("read write")", "write"));
  EXPECT_TRUE(contains("scp", R"("write")", "write"));
  for (const char* none : {R"(["not-admin"])", R"(["Admin"])", R"([["admin"]])", R"({"admin":true})", R"("x admin")",
                           R"("admin ")", "null", "[]", R"("")", R"(["a,admin"])"}) {
    EXPECT_FALSE(contains("roles", none, "admin")) << none;
    EXPECT_FALSE(contains("roles", none, "")) << none;
  }
  EXPECT_FALSE(contains("scope", R"("readwrite")", "write"));
  EXPECT_FALSE(contains("scope", R"("a  b")", ""));
  EXPECT_FALSE(contains("a.scope", R"("read write")", "write"));
}

TEST(ClaimText, WhatCannotBeSaidIsLeftOut) {
  const auto text = [](const char* json) { return claim_text(*read_json(json)); };
  EXPECT_EQ(text("\"a b\""), "a b");
  EXPECT_EQ(text("7"), "7");
  EXPECT_EQ(text("true"), "true");
  EXPECT_EQ(text(R"(["a",2,false])"), "a,2,false");
  for (const char* none : {R"("a\r\nX-Admin: 1")", R"("a\u0000")", R"({"a":1})", "null", "1.5", R"(["a","b,admin"])",
                           R"(["a",["b"]])", R"(["a",""])", "[]", "\"\""}) {
    EXPECT_EQ(text(none), "") << none;
  }
}

constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

std::string hmac_token(const std::string& secret, std::string_view claims) {
  const auto part = [](std::string_view text) { return to_base64url(text); };
  const std::string text = part(R"({"alg":"HS256"})") + "." + part(claims);
  return text + "." + part(test::sign_hmac(secret, text));
}

std::string claims_of(const std::string& issuer) {
  return R"({"iss":")" + issuer + R"(","exp":1800000300,"sub":"alice"})";
}

TEST_F(JwtPolicyTest, EachTokenIsOfTheIssuerThatItNames) {
  const auto checks = policy({.further = {{"inline", "ES256", program::JwtKeys::kInline, test::jwks({two.jwk()})},
                                          {"kept", "ES256", program::JwtKeys::kSecret, test::jwks({two.jwk()})},
                                          {"shared", "HS256", program::JwtKeys::kShared, kSecret}}});
  const auto user = [&](const std::string& token) {
    const AuthResult said = ask(*checks, token);
    return said.passed() ? std::string(said.request.value("x-user")) : std::string(said.answer.reason);
  };
  EXPECT_EQ(user(one.token(claims())), "alice");
  EXPECT_EQ(user(two.token(claims_of("inline"))), "alice");
  EXPECT_EQ(user(two.token(claims_of("inline"))), "alice") << "from the cache";
  EXPECT_EQ(user(two.token(claims_of("kept"))), "alice");
  EXPECT_EQ(user(hmac_token(kSecret, claims_of("shared"))), "alice");
  // By keys of another issuer, or of none.
  EXPECT_EQ(user(one.token(claims_of("inline"))), "token-invalid");
  EXPECT_EQ(user(two.token(claims())), "token-invalid");
  EXPECT_EQ(user(two.token(claims_of("shared"))), "token-invalid");
  EXPECT_EQ(user(hmac_token(kSecret, claims_of("kept"))), "token-invalid");
  EXPECT_EQ(user(hmac_token(kSecret, claims_of("nobody"))), "token-invalid");
  EXPECT_EQ(user(hmac_token(kSecret, R"({"exp":1800000300})")), "token-invalid");
  EXPECT_EQ(user(hmac_token(std::string(kSecret) + "x", claims_of("shared"))), "token-invalid");
}

/// `sub` is unique at one issuer alone (RFC 7519 §4.1.2).
TEST_F(JwtPolicyTest, SubjectsOfTwoIssuersAreTwo) {
  const auto checks = policy(
      {.further = {{"inline", "ES256", program::JwtKeys::kInline, test::jwks({two.jwk()})}}, .by_identity = true});
  EXPECT_EQ(ask(*checks, one.token(claims())).subject, "https://id.example\nalice");
  EXPECT_EQ(ask(*checks, two.token(claims_of("inline"))).subject, "inline\nalice");
  EXPECT_EQ(ask(*checks, two.token(claims_of("inline"))).subject, "inline\nalice") << "from the cache";
  EXPECT_EQ(ask(*checks, one.token(R"({"iss":"https://id.example","exp":1800000300})")).subject, "");
  EXPECT_EQ(ask(*policy(), one.token(claims())).subject, "") << "no limit counts by it";
}

/// What is published is no secret, and a secret is no key that is published: whatever the token says (RFC 8725 §2.1).
TEST_F(JwtPolicyTest, NoKeyServesAnotherAlgorithm) {
  const std::string published = test::jwks({one.jwk()});
  const auto inline_keys =
      policy({.further = {{"inline", "ES256", program::JwtKeys::kInline, published}}, .only_further = true});
  EXPECT_FALSE(ask(*inline_keys, hmac_token(published, claims_of("inline"))).passed());
  EXPECT_FALSE(ask(*inline_keys, hmac_token(one.jwk(), claims_of("inline"))).passed());
  EXPECT_TRUE(ask(*inline_keys, one.token(claims_of("inline"))).passed());
  const auto fault = [&](const Further& issuer) {
    const Made made = make({.further = {issuer}, .only_further = true}, server.url());
    return made.ok() ? std::string("none") : made.error().text;
  };
  EXPECT_EQ(fault({"a", "HS256", program::JwtKeys::kInline, published}), "an algorithm that is not served");
  EXPECT_EQ(fault({"a", "HS256", program::JwtKeys::kSecret, published}), "an algorithm that is not served");
  EXPECT_EQ(fault({"a", "ES256", program::JwtKeys::kShared, kSecret}), "an algorithm that is not served");
  EXPECT_EQ(fault({"a", "HS256", program::JwtKeys::kShared, "short"}),
            "the issuer's own secret: a secret of less than 256 bits");
  EXPECT_EQ(fault({"a", "HS256", program::JwtKeys::kShared, ""}), "the secret with the keys of an issuer is missing");
  EXPECT_EQ(fault({"a", "ES256", program::JwtKeys::kInline, "{}"}), "the keys of an issuer: no list `keys`");
  EXPECT_EQ(fault({"a", "ES256", program::JwtKeys::kInline, R"({"keys":[]})"}), "no key of an issuer can be used");
}

TEST_F(JwtPolicyTest, AnotherSecretKnowsNoTokenOfTheLastOne) {
  const auto with = [&](const std::string& secret) {
    return policy({.further = {{"shared", "HS256", program::JwtKeys::kShared, secret}}, .only_further = true});
  };
  const std::string token = hmac_token(kSecret, claims_of("shared"));
  EXPECT_TRUE(ask(*with(kSecret), token).passed());
  EXPECT_FALSE(ask(*with(std::string(kSecret) + "x"), token).passed());
  EXPECT_TRUE(ask(*with(kSecret), token).passed());
}

}  // namespace
}  // namespace edge::runtime::auth
