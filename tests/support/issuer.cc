#include "tests/support/issuer.h"

#include <stdexcept>
#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include "base/text/base64.h"

namespace edge::test {
namespace {

/// A test that cannot make its keys cannot go on.
void must(bool done) {
  if (!done) throw std::runtime_error("OpenSSL refuses to make a key or a signature");
}

struct Curve {
  const char* group;
  const char* name;
  int size;
};

Curve curve_of(std::string_view algorithm) {
  if (algorithm == "ES256") return {"prime256v1", "P-256", 32};
  if (algorithm == "ES384") return {"secp384r1", "P-384", 48};
  return {"secp521r1", "P-521", 66};
}

const EVP_MD* digest_of(std::string_view algorithm) {
  if (algorithm.ends_with("256")) return EVP_sha256();
  return algorithm.ends_with("384") ? EVP_sha384() : EVP_sha512();
}

std::string number(evp_pkey_st* key, const char* name, int size = 0) {
  BIGNUM* value = nullptr;
  must(EVP_PKEY_get_bn_param(key, name, &value) == 1);
  std::string bytes(static_cast<std::size_t>(size == 0 ? BN_num_bytes(value) : size), '\0');
  must(BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) >= 0);
  BN_free(value);
  return to_base64url(bytes);
}

std::string raw_ecdsa(const std::string& der, int size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
  must(pair != nullptr);
  std::string raw(static_cast<std::size_t>(2 * size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  must(BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, size) == size &&
       BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + size, size) == size);
  ECDSA_SIG_free(pair);
  return raw;
}

}  // namespace

SigningKey::SigningKey(std::string algorithm, std::string id, int rsa_bits)
    : algorithm_(std::move(algorithm)), id_(std::move(id)) {
  EVP_PKEY* made = nullptr;
  if (algorithm_ == "EdDSA") {
    made = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  } else if (algorithm_.starts_with("ES")) {
    made = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve_of(algorithm_).group);
  } else {
    made = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<std::size_t>(rsa_bits));
  }
  must(made != nullptr);
  key_ = std::shared_ptr<evp_pkey_st>(made, EVP_PKEY_free);
}

std::string SigningKey::jwk(std::string_view more) const {
  std::string text = R"({"kid":")" + id_ + R"(","alg":")" + algorithm_ + R"(","use":"sig",)";
  if (algorithm_ == "EdDSA") {
    std::string bytes(32, '\0');
    std::size_t size = bytes.size();
    must(EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) == 1);
    text += R"("kty":"OKP","crv":"Ed25519","x":")" + to_base64url(bytes) + '"';
  } else if (algorithm_.starts_with("ES")) {
    const Curve curve = curve_of(algorithm_);
    text += R"("kty":"EC","crv":")" + std::string(curve.name) + R"(","x":")" +
            number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, curve.size) + R"(","y":")" +
            number(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, curve.size) + '"';
  } else {
    text += R"("kty":"RSA","n":")" + number(key_.get(), OSSL_PKEY_PARAM_RSA_N) + R"(","e":")" +
            number(key_.get(), OSSL_PKEY_PARAM_RSA_E) + '"';
  }
  return text + std::string(more) + "}";
}

std::string SigningKey::sign(std::string_view text) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_PKEY_CTX* settings = nullptr;
  const EVP_MD* digest = algorithm_ == "EdDSA" ? nullptr : digest_of(algorithm_);
  must(EVP_DigestSignInit(context, &settings, digest, nullptr, key_.get()) == 1);
  if (algorithm_.starts_with("PS")) {
    must(EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  must(EVP_DigestSign(context, nullptr, &size, bytes, text.size()) == 1);
  std::string signature(size, '\0');
  must(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size()) == 1);
  EVP_MD_CTX_free(context);
  signature.resize(size);
  return algorithm_.starts_with("ES") ? raw_ecdsa(signature, curve_of(algorithm_).size) : signature;
}

std::string SigningKey::token(std::string_view claims) const {
  return token_with(R"({"alg":")" + algorithm_ + R"(","kid":")" + id_ + R"("})", claims);
}

std::string SigningKey::token_with(std::string_view header, std::string_view payload) const {
  const std::string text = to_base64url(header) + "." + to_base64url(payload);
  return text + "." + to_base64url(sign(text));
}

std::string sign_hmac(std::string_view secret, std::string_view text) {
  std::string mac(32, '\0');
  unsigned int size = 0;
  must(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(text.data()), text.size(),
            reinterpret_cast<unsigned char*>(mac.data()), &size) != nullptr &&
       size == mac.size());
  return mac;
}

std::string jwks(std::initializer_list<std::string> keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ",") + key;
  return R"({"keys":[)" + text + "]}";
}

}  // namespace edge::test
