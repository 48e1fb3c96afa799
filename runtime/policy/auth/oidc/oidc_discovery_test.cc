#include "runtime/policy/auth/oidc/oidc_discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kIssuer = "https://id.example/realms/shop";

/// A sound document with one text replaced.
std::string document(std::string_view what = {}, std::string_view by = {}) {
  std::string text = R"({"issuer": "https://id.example/realms/shop",
    "authorization_endpoint": "https://id.example/auth?x=y",
    "token_endpoint": "https://id.example/token",
    "jwks_uri": "https://id.example/keys",
    "userinfo_endpoint": "https://id.example/me",
    "end_session_endpoint": "https://id.example/out",
    "id_token_signing_alg_values_supported": ["HS256", "none", "ES256", "RS256"],
    "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
    "code_challenge_methods_supported": ["plain", "S256"],
    "authorization_response_iss_parameter_supported": true, "further": {"more": []}})";
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (!what.empty()) text.replace(at, what.size(), by);
  return text;
}

TEST(Discovery, ReadsWhatALoginNeeds) {
  const Result<OidcProvider> read = read_discovery(document(), kIssuer);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->issuer, kIssuer);
  EXPECT_EQ(read->authorization_endpoint, "https://id.example/auth?x=y");
  EXPECT_EQ(read->token_endpoint.target, "/token");
  EXPECT_EQ(read->jwks_uri.target, "/keys");
  EXPECT_EQ(read->end_session_endpoint, "https://id.example/out");
  EXPECT_TRUE(read->userinfo_endpoint);
  EXPECT_EQ(read->authentication, ClientAuthentication::kBasic);
  EXPECT_THAT(read->algorithms, ElementsAre("RS256", "ES256"));
  EXPECT_TRUE(read->issuer_in_answers);
}

TEST(Discovery, KnowsWhatIsMeantWhereNothingIsSaid) {
  const Result<OidcProvider> read = read_discovery(
      R"({"issuer":"https://id.example","authorization_endpoint":"https://id.example/a","token_endpoint":"https://id.example/t","jwks_uri":"https://keys.example/k"})",
      "https://id.example");
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_THAT(read->algorithms, ElementsAre("RS256"));
  EXPECT_EQ(read->authentication, ClientAuthentication::kBasic);
  EXPECT_FALSE(read->userinfo_endpoint);
  EXPECT_EQ(read->end_session_endpoint, "");
  EXPECT_FALSE(read->issuer_in_answers);
}

TEST(Discovery, RefusesWhatIsNotSafe) {
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"realms/shop", "realms/shoq"},
      {"realms/shop", "realms/shop/"},
      {"https://id.example/token", "http://id.example/token"},
      {"https://id.example/keys", "http://localhost/keys"},
      {"https://id.example/auth?x=y", "javascript:alert(1)"},
      {"https://id.example/auth?x=y", "https://id.example/auth\\r\\nSet-Cookie: a=b"},
      {"https://id.example/auth?x=y", "https://user:pass@id.example/"},
      {"https://id.example/me", "http://id.example/me"},
      {"https://id.example/out", "ftp://id.example/"},
      {"\"token_endpoint\"", "\"token_endpoinT\""},
      {"\"jwks_uri\"", "\"jwks\""},
      {"\"https://id.example/keys\"", "7"},
      {"\"ES256\", \"RS256\"", "\"ES256K\""},
      {"\"client_secret_post\", \"client_secret_basic\"", "\"private_key_jwt\""},
      {"\"plain\", \"S256\"", "\"plain\""},
      {"\"further\"", "\"issuer\""},
      {"\"further\": {\"more\": []}}", ""},
  };
  for (const auto& [what, by] : changes) EXPECT_FALSE(read_discovery(document(what, by), kIssuer).ok()) << by;
  EXPECT_FALSE(read_discovery("", kIssuer).ok());
  EXPECT_FALSE(read_discovery("[]", kIssuer).ok());
  EXPECT_FALSE(read_discovery(document() + std::string(70'000, ' '), kIssuer).ok());
}

TEST(Discovery, IsAskedForBelowTheIssuer) {
  EXPECT_EQ(discovery_url(kIssuer)->target, "/realms/shop/.well-known/openid-configuration");
  EXPECT_EQ(discovery_url("https://id.example/")->target, "/.well-known/openid-configuration");
  EXPECT_EQ(discovery_url("https://id.example:8443")->port, 8443);
  for (const std::string_view issuer : {"", "id.example", "http://id.example", "http://127.0.0.1.example",
                                        "https://a?b", "https://a#b", "https://u@a"}) {
    EXPECT_FALSE(discovery_url(issuer).ok()) << issuer;
  }
  for (const std::string_view issuer : {"http://127.0.0.1:9000", "http://localhost", "http://[::1]:80/a"}) {
    EXPECT_TRUE(discovery_url(issuer).ok()) << issuer;
  }
}

}  // namespace
}  // namespace edge::runtime::auth
