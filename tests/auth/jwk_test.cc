#include "runtime/policy/auth/jwt/jwk.h"

#include <string>

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "tests/support/issuer.h"

namespace edge::runtime::auth {
namespace {

using test::SigningKey;

std::string fault(const std::string& jwk, KeyOrigin origin = KeyOrigin::kPublished) {
  const Result<Json> json = read_json(jwk);
  if (!json) return json.error().text;
  const Result<Key> key = Key::read(*json, origin);
  return key ? "none" : key.error().text;
}

Key key_of(const std::string& jwk, KeyOrigin origin = KeyOrigin::kPublished) {
  return *Key::read(*read_json(jwk), origin);
}

TEST(Jwk, EveryAlgorithmVerifiesWhatItSignedAndNothingElse) {
  for (const char* name : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}) {
    const SigningKey signer(name);
    const Key key = key_of(signer.jwk());
    const Algorithm algorithm = *algorithm_named(name);
    const std::string signature = signer.sign("text");
    EXPECT_TRUE(key.verify(algorithm, "text", signature)) << name;
    EXPECT_FALSE(key.verify(algorithm, "texts", signature)) << name;
    EXPECT_FALSE(key.verify(algorithm, "text", signature.substr(1))) << name;
    EXPECT_FALSE(key.verify(algorithm, "text", signature + '\0')) << name;
    EXPECT_FALSE(key.verify(algorithm, "text", std::string(signature.size(), '\0'))) << name;
    EXPECT_FALSE(key.verify(algorithm, "text", "")) << name;
    EXPECT_EQ(algorithm_name(algorithm), name);
  }
}

TEST(Jwk, TablesChangeNoResult) {
  for (int round = 0; round < 8; ++round) {
    const SigningKey signer("ES256");
    const Key plain = key_of(signer.jwk());
    Key prepared = plain;
    ASSERT_TRUE(prepared.prepare());
    for (int message = 0; message < 8; ++message) {
      const std::string text = "text " + std::to_string(message);
      std::string signature = signer.sign(text);
      EXPECT_TRUE(prepared.verify(Algorithm::kEs256, text, signature));
      for (const std::size_t position : {0U, 31U, 32U, 63U}) {
        signature[position] = static_cast<char>(signature[position] ^ 1);
        EXPECT_FALSE(prepared.verify(Algorithm::kEs256, text, signature)) << position;
        EXPECT_FALSE(plain.verify(Algorithm::kEs256, text, signature)) << position;
        signature[position] = static_cast<char>(signature[position] ^ 1);
      }
    }
  }
  EXPECT_FALSE(key_of(SigningKey("ES384").jwk()).prepare());
  EXPECT_FALSE(key_of(SigningKey("RS256").jwk()).prepare());
}

// n is the order of P-256's group: r and s lie between it and 0 (FIPS 186-5 §6.4.2).
TEST(Jwk, NumbersOutsideTheOrderAreNoSignature) {
  const std::string order = "\xff\xff\xff\xff" + std::string(4, '\0') + std::string(8, '\xff') +
                            "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84" + "\xf3\xb9\xca\xc2\xfc\x63\x25\x51";
  ASSERT_EQ(order.size(), 32U);
  const SigningKey signer("ES256");
  Key key = key_of(signer.jwk());
  const std::string sound = signer.sign("text");
  for (const bool prepared : {false, true}) {
    if (prepared) ASSERT_TRUE(key.prepare());
    for (const std::string& number : {std::string(32, '\0'), order, std::string(32, '\xff')}) {
      EXPECT_FALSE(key.verify(Algorithm::kEs256, "text", number + sound.substr(32)));
      EXPECT_FALSE(key.verify(Algorithm::kEs256, "text", sound.substr(0, 32) + number));
      EXPECT_FALSE(key.verify(Algorithm::kEs256, "text", number + number));
    }
  }
}

TEST(Jwk, AlgorithmsAreSpelledExactly) {
  for (const char* name : {"none", "None", "NONE", "nOnE", "", "rs256", "RS256 ", "ES256K", "HS1", "RSA-OAEP"}) {
    EXPECT_EQ(algorithm_named(name), std::nullopt) << name;
  }
}

TEST(Jwk, AKeyFitsItsOwnSchemeAlone) {
  const Key rsa = key_of(SigningKey("RS256").jwk());
  EXPECT_TRUE(rsa.fits(Algorithm::kRs256));
  EXPECT_TRUE(rsa.fits(Algorithm::kRs512));
  EXPECT_FALSE(rsa.fits(Algorithm::kPs256));
  EXPECT_FALSE(rsa.fits(Algorithm::kHs256));
  EXPECT_FALSE(rsa.fits(Algorithm::kEs256));
  const Key strong = key_of(SigningKey("PS512").jwk());
  EXPECT_TRUE(strong.fits(Algorithm::kPs512));
  EXPECT_FALSE(strong.fits(Algorithm::kPs384));
  EXPECT_FALSE(strong.fits(Algorithm::kRs512));
  const Key curve = key_of(SigningKey("ES384").jwk());
  EXPECT_TRUE(curve.fits(Algorithm::kEs384));
  EXPECT_FALSE(curve.fits(Algorithm::kEs256));
  EXPECT_FALSE(curve.fits(Algorithm::kEs512));
  const Key edwards = key_of(SigningKey("EdDSA").jwk());
  EXPECT_TRUE(edwards.fits(Algorithm::kEdDsa));
  EXPECT_FALSE(edwards.fits(Algorithm::kEs256));
}

TEST(Jwk, SharedSecretsAreNeverPublished) {
  const std::string secret = R"({"kty":"oct","alg":"HS256","k":")" + to_base64url(std::string(32, 'k')) + R"("})";
  EXPECT_EQ(fault(secret), "a shared secret that is published");
  EXPECT_EQ(fault(secret, KeyOrigin::kConfigured), "none");
  EXPECT_EQ(fault(R"({"kty":"oct","k":"c2hvcnQ"})", KeyOrigin::kConfigured), "a secret of less than 256 bits");
  EXPECT_FALSE(key_of(secret, KeyOrigin::kConfigured).fits(Algorithm::kHs512));
}

TEST(Jwk, KeysForOtherPurposesAreRefused) {
  const std::string x = R"("kty":"OKP","crv":"Ed25519","x":")" + to_base64url(std::string(32, 1)) + '"';
  EXPECT_EQ(fault("{" + x + R"(,"use":"enc"})"), "a `use` other than `sig`");
  EXPECT_EQ(fault("{" + x + R"(,"key_ops":["encrypt"]})"), "`key_ops` without `verify`");
  EXPECT_EQ(fault("{" + x + R"(,"key_ops":"verify"})"), "`key_ops` without `verify`");
  EXPECT_EQ(fault("{" + x + R"(,"alg":"RSA-OAEP"})"), "an `alg` that is not known");
  EXPECT_EQ(fault("{" + x + R"(,"alg":"RS256"})"), "an `alg` of another type of key");
  EXPECT_EQ(fault("{" + x + R"(,"kid":7})"), "a `kid` that is not a text");
  EXPECT_EQ(fault("{" + x + R"(,"d":"AAAA"})"), "a private key");
  EXPECT_EQ(fault(R"({"kid":"a"})"), "no `kty`");
  EXPECT_EQ(fault(R"({"kty":"XYZ"})"), "a `kty` that checks no signatures");
  EXPECT_EQ(fault("[]"), "not an object");
}

TEST(Jwk, WeakRsaKeysAreRefused) {
  constexpr const char* kWeak = "an RSA key that is not sound, or not of 2048 to 8192 bits";
  EXPECT_EQ(fault(SigningKey("RS256", "k", 1024).jwk()), kWeak);
  const std::string modulus = to_base64url('\xff' + std::string(254, '\x11') + '\x01');
  const auto with = [&](const std::string& exponent) {
    return R"({"kty":"RSA","n":")" + modulus + R"(","e":")" + exponent + R"("})";
  };
  EXPECT_EQ(fault(with("AQ")), kWeak);       // 1
  EXPECT_EQ(fault(with("Ag")), kWeak);       // 2
  EXPECT_EQ(fault(with("AQAAAAE")), kWeak);  // 2^32 + 1
  EXPECT_EQ(fault(with("AQAB=")), kWeak);    // not base64url
  EXPECT_EQ(fault(with("")), kWeak);
  EXPECT_EQ(fault(R"({"kty":"RSA","n":"","e":"AQAB"})"), kWeak);
}

TEST(Jwk, PointsMustLieOnTheirCurve) {
  const std::string zeros = to_base64url(std::string(32, '\0'));
  const std::string ones = to_base64url(std::string(32, '\1'));
  const auto with = [&](const std::string& curve, const std::string& x, const std::string& y) {
    return R"({"kty":"EC","crv":")" + curve + R"(","x":")" + x + R"(","y":")" + y + R"("})";
  };
  EXPECT_EQ(fault(with("P-256", ones, ones)), "a point that is not on its curve");
  EXPECT_EQ(fault(with("P-256", zeros, zeros)), "a point that is not on its curve");
  EXPECT_EQ(fault(with("P-256", ones, to_base64url("short"))), "a point of another size");
  EXPECT_EQ(fault(with("P-384", ones, ones)), "a point of another size");
  EXPECT_EQ(fault(with("secp256k1", ones, ones)), "a curve that is not known");
  EXPECT_EQ(fault(R"({"kty":"OKP","crv":"X25519","x":"AA"})"), "a curve that is not known");
  EXPECT_EQ(fault(R"({"kty":"OKP","crv":"Ed25519","x":"AA"})"), "a public key of another size");
}

TEST(KeySet, PassesOverWhatItCannotUse) {
  const Result<KeySet> set =
      read_key_set(test::jwks({SigningKey("ES256", "a").jwk(), R"({"kty":"new"})", SigningKey("EdDSA", "b").jwk(),
                               R"({"kty":"oct","k":"AAAA"})", "7"}));
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->keys.size(), 2u);
  EXPECT_EQ(set->keys[0].id(), "a");
  EXPECT_EQ(set->keys[1].id(), "b");
  EXPECT_EQ(set->unusable, 3u);
}

TEST(KeySet, IsBounded) {
  const auto fault_of = [](const std::string& text) {
    const Result<KeySet> set = read_key_set(text);
    return set ? "none" : set.error().text;
  };
  EXPECT_EQ(fault_of("{}"), "no list `keys`");
  EXPECT_EQ(fault_of(R"({"keys":{}})"), "no list `keys`");
  std::string many = "1";
  for (std::size_t i = 0; i < kMaxKeys; ++i) many += ",1";
  EXPECT_EQ(fault_of(R"({"keys":[)" + many + "]}"), "more than 128 keys");
  EXPECT_EQ(fault_of(std::string(kMaxKeySetBytes + 1, ' ')), "too large");
  EXPECT_EQ(fault_of(R"({"keys":[],"keys":[]})"), "a member that stands twice");
}

}  // namespace
}  // namespace edge::runtime::auth
