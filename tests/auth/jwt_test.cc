#include "runtime/policy/auth/jwt/jwt.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "tests/support/issuer.h"

namespace edge::runtime::auth {
namespace {

using test::SigningKey;

constexpr std::int64_t kNow = 1'800'000'000;

class JwtTest : public ::testing::Test {
 protected:
  JwtTest() {
    keys = *read_key_set(test::jwks({signer.jwk(), rsa.jwk()}));
    rules.issuer = "https://id.example";
    rules.audience = {"shop", "web"};
    for (const char* name : {"ES256", "RS256", "PS256"}) rules.algorithms.add(*algorithm_named(name));
  }

  TokenFault fault_of(std::string_view token, std::int64_t now = kNow) const {
    const auto verified = verify_token(token, keys, rules, now);
    const auto* fault = std::get_if<TokenFault>(&verified);
    return fault == nullptr ? TokenFault::kNone : *fault;
  }
  /// Claims that are good, with `more` behind them.
  static std::string claims(const std::string& more = {}) {
    return R"({"iss":"https://id.example","aud":"shop","exp":1800000300)" + more + "}";
  }
  TokenFault with_claims(const std::string& text, std::int64_t now = kNow) const {
    return fault_of(signer.token(text), now);
  }
  TokenFault with_header(const std::string& header) const { return fault_of(signer.token_with(header, claims())); }

  const SigningKey signer{"ES256", "a"};
  const SigningKey rsa{"RS256", "b"};
  KeySet keys;
  TokenRules rules;
};

TEST_F(JwtTest, AGoodTokenGivesItsClaims) {
  const auto verified = verify_token(signer.token(claims(R"(,"sub":"alice","n":5)")), keys, rules, kNow);
  const auto* token = std::get_if<Token>(&verified);
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->claims.text_of("sub"), "alice");
  EXPECT_EQ(token->algorithm, Algorithm::kEs256);
  EXPECT_EQ(token->key_id, "a");
  EXPECT_EQ(token->until, 1'800'000'359);
  EXPECT_EQ(fault_of(rsa.token(claims())), TokenFault::kNone);
}

TEST_F(JwtTest, NoneIsNoAlgorithmHoweverItIsSpelled) {
  for (const char* name : {"none", "None", "NONE", "nOnE", "none ", ""}) {
    const std::string header = R"({"alg":")" + std::string(name) + R"("})";
    const std::string text = to_base64url(header) + "." + to_base64url(claims());
    EXPECT_EQ(fault_of(text + "."), TokenFault::kAlgorithm) << name;
    EXPECT_EQ(with_header(header), TokenFault::kAlgorithm) << name;
  }
}

TEST_F(JwtTest, APublicKeyIsNoSecret) {
  // The attacker signs by HMAC with what everybody can read: the key's own text, its modulus, anything.
  rules.algorithms.add(Algorithm::kHs256);
  const std::string secret_of = rsa.jwk();
  const Json jwk = *read_json(secret_of);
  const std::string modulus = *from_base64url(*jwk.text_of("n"));
  for (const std::string& secret : {secret_of, modulus, std::string(64, '\0')}) {
    const Key key =
        *Key::read(*read_json(R"({"kty":"oct","k":")" + to_base64url(secret) + R"("})"), KeyOrigin::kConfigured);
    const std::string text = to_base64url(R"({"alg":"HS256","kid":"b"})") + "." + to_base64url(claims());
    const std::string mac = test::sign_hmac(secret, text);
    EXPECT_TRUE(key.verify(Algorithm::kHs256, text, mac));
    EXPECT_EQ(fault_of(text + "." + to_base64url(mac)), TokenFault::kUnknownKey);
  }
}

TEST_F(JwtTest, OnlyAlgorithmsThatAreNamedPass) {
  EXPECT_EQ(fault_of(SigningKey("ES384", "a").token(claims())), TokenFault::kAlgorithm);
  // Allowed, but not what the key is for.
  const std::string text = to_base64url(R"({"alg":"PS256","kid":"b"})") + "." + to_base64url(claims());
  EXPECT_EQ(fault_of(text + "." + to_base64url(rsa.sign(text))), TokenFault::kUnknownKey);
}

TEST_F(JwtTest, KeysThatATokenBringsAreNobodys) {
  const SigningKey other("ES256", "a");
  const std::string jwk = other.jwk();
  for (const std::string& member :
       {R"("jwk":)" + jwk, std::string(R"("jku":"https://evil.example/keys")"),
        std::string(R"("x5u":"https://evil.example/cert")"), std::string(R"("x5c":["MIIB"])")}) {
    const std::string header = R"({"alg":"ES256","kid":"a",)" + member + "}";
    EXPECT_EQ(fault_of(other.token_with(header, claims())), TokenFault::kSignature) << member;
    // They are passed over, not believed: with the issuer's own signature the token is the issuer's.
    EXPECT_EQ(fault_of(signer.token_with(header, claims())), TokenFault::kNone) << member;
  }
}

TEST_F(JwtTest, AKeyIdIsComparedAndNothingElse) {
  for (const char* id : {"../../etc/passwd", "a' OR '1'='1", "http://evil.example/key", "a\\u0000b", "A", "a "}) {
    EXPECT_EQ(with_header(R"({"alg":"ES256","kid":")" + std::string(id) + R"("})"), TokenFault::kUnknownKey) << id;
  }
  EXPECT_EQ(with_header(R"({"alg":"ES256","kid":7})"), TokenFault::kMalformed);
  EXPECT_EQ(with_header(R"({"alg":"ES256"})"), TokenFault::kNone);
}

TEST_F(JwtTest, ATokenWithAnIdIsCheckedByKeysWithoutOne) {
  std::string text = signer.jwk();
  text.replace(text.find(R"("kid":"a",)"), 10, "");
  keys = *read_key_set(test::jwks({text}));
  EXPECT_EQ(with_claims(claims()), TokenFault::kNone);
}

TEST_F(JwtTest, CriticalExtensionsAreRefused) {
  for (const char* list : {R"(["exp"])", R"(["b64"],"b64":false)", "[]", R"("exp")", R"(["http://x/unknown"])"}) {
    EXPECT_EQ(with_header(R"({"alg":"ES256","kid":"a","crit":)" + std::string(list) + "}"), TokenFault::kCritical)
        << list;
  }
}

TEST_F(JwtTest, MembersThatStandTwiceAreRefused) {
  EXPECT_EQ(with_header(R"({"alg":"none","alg":"ES256","kid":"a"})"), TokenFault::kMalformed);
  EXPECT_EQ(with_header(R"({"alg":"ES256","kid":"a","kid":"b"})"), TokenFault::kMalformed);
  EXPECT_EQ(with_claims(claims(R"(,"exp":9999999999)")), TokenFault::kClaims);
  EXPECT_EQ(with_claims(claims(R"(,"sub":"a","sub":"b")")), TokenFault::kClaims);
}

TEST_F(JwtTest, OnlyTheCompactFormIsRead) {
  const std::string token = signer.token(claims());
  EXPECT_EQ(fault_of(token + "."), TokenFault::kMalformed);
  EXPECT_EQ(fault_of("." + token), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(token.substr(0, token.rfind('.'))), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(token.substr(0, token.rfind('.') + 1)), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(token + "="), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(" " + token), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(token + "\n"), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(""), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(".."), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(R"({"payload":"e30","signatures":[]})"), TokenFault::kMalformed);
  EXPECT_EQ(fault_of(std::string(kMaxTokenBytes + 1, 'a')), TokenFault::kTooLarge);
}

TEST_F(JwtTest, EveryByteOfATokenCounts) {
  const std::string token = signer.token(claims());
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(fault_of(changed), TokenFault::kNone) << i;
    EXPECT_NE(fault_of(token.substr(0, i)), TokenFault::kNone) << i;
  }
}

TEST_F(JwtTest, ASignatureOfZerosIsNone) {
  const std::string token = signer.token(claims());
  const std::string text = token.substr(0, token.rfind('.') + 1);
  EXPECT_EQ(fault_of(text + to_base64url(std::string(64, '\0'))), TokenFault::kSignature);
  EXPECT_EQ(fault_of(text + to_base64url(std::string(64, '\xff'))), TokenFault::kSignature);
  EXPECT_EQ(fault_of(text + to_base64url(std::string("\x30\x06\x02\x01\x01\x02\x01\x01", 8))), TokenFault::kSignature);
}

TEST_F(JwtTest, TimesHaveASkewOfAMinuteAndNoMore) {
  EXPECT_EQ(with_claims(claims(), 1'800'000'359), TokenFault::kNone);
  EXPECT_EQ(with_claims(claims(), 1'800'000'360), TokenFault::kExpired);
  EXPECT_EQ(with_claims(claims(R"(,"nbf":1800000060)")), TokenFault::kNone);
  EXPECT_EQ(with_claims(claims(R"(,"nbf":1800000061)")), TokenFault::kNotYet);
  EXPECT_EQ(with_claims(claims(R"(,"iat":1800000060)")), TokenFault::kNone);
  EXPECT_EQ(with_claims(claims(R"(,"iat":1800000061)")), TokenFault::kNotYet);
  EXPECT_EQ(with_claims(claims(R"(,"nbf":1800000060.9)")), TokenFault::kNone);
}

TEST_F(JwtTest, TimesAreNumbers) {
  const auto of_expiry = [&](const std::string& value) {
    return with_claims(R"({"iss":"https://id.example","aud":"shop","exp":)" + value + "}");
  };
  EXPECT_EQ(of_expiry("1800000300.5"), TokenFault::kNone);
  for (const char* value : {R"("1800000300")", "null", "true", "[1800000300]", "-1", "1e40", "1800000300000000"}) {
    EXPECT_EQ(of_expiry(value), TokenFault::kClaims) << value;
  }
  EXPECT_EQ(with_claims(claims(R"(,"nbf":"0")")), TokenFault::kClaims);
  EXPECT_EQ(with_claims(claims(R"(,"iat":"0")")), TokenFault::kClaims);
  EXPECT_EQ(with_claims(R"({"iss":"https://id.example","aud":"shop"})"), TokenFault::kNoExpiry);
}

TEST_F(JwtTest, IssuerAndAudienceMustBeOurs) {
  const auto of = [&](const std::string& issuer, const std::string& audience) {
    return with_claims(R"({"exp":1800000300,"iss":)" + issuer + R"(,"aud":)" + audience + "}");
  };
  constexpr const char* kIssuer = R"("https://id.example")";
  EXPECT_EQ(of(kIssuer, R"(["x","web"])"), TokenFault::kNone);
  EXPECT_EQ(of(kIssuer, R"(["x","y"])"), TokenFault::kAudience);
  EXPECT_EQ(of(kIssuer, R"("sho")"), TokenFault::kAudience);
  EXPECT_EQ(of(kIssuer, "[]"), TokenFault::kAudience);
  EXPECT_EQ(of(kIssuer, R"(["shop",7])"), TokenFault::kClaims);
  EXPECT_EQ(of(kIssuer, R"({"shop":1})"), TokenFault::kClaims);
  EXPECT_EQ(of(R"("https://id.example/")", R"("shop")"), TokenFault::kIssuer);
  EXPECT_EQ(of(R"("https://ID.example")", R"("shop")"), TokenFault::kIssuer);
  EXPECT_EQ(of(R"(["https://id.example"])", R"("shop")"), TokenFault::kClaims);
  EXPECT_EQ(with_claims(R"({"exp":1800000300,"aud":"shop"})"), TokenFault::kIssuer);
  EXPECT_EQ(with_claims(R"({"exp":1800000300,"iss":"https://id.example"})"), TokenFault::kAudience);
  rules.audience.clear();
  EXPECT_EQ(with_claims(R"({"exp":1800000300,"iss":"https://id.example"})"), TokenFault::kNone);
  EXPECT_EQ(of(kIssuer, R"("anybody")"), TokenFault::kNone);
}

TEST_F(JwtTest, ClaimsAreAnObject) {
  for (const char* text : {"", "[]", "7", "\"x\"", "{", "{}{}"}) {
    EXPECT_EQ(with_claims(text), TokenFault::kClaims) << text;
  }
}

TEST_F(JwtTest, FewKeysAreTriedForATokenThatNamesNone) {
  std::string list;
  for (int i = 0; i < 100; ++i) list += SigningKey("ES256", "k" + std::to_string(i)).jwk() + ",";
  keys = *read_key_set(R"({"keys":[)" + list + signer.jwk() + "]}");
  EXPECT_EQ(with_header(R"({"alg":"ES256"})"), TokenFault::kSignature);
  EXPECT_EQ(with_claims(claims()), TokenFault::kNone);
}

}  // namespace
}  // namespace edge::runtime::auth
