#include <array>
#include <memory>

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include "base/owned.h"
#include "runtime/policy/auth/jwt/jwk.h"

namespace edge::runtime::auth {
namespace {

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

const EVP_MD* digest_of(Algorithm algorithm) {
  switch (hash_bits(algorithm)) {
    case 256:
      return EVP_sha256();
    case 384:
      return EVP_sha384();
    default:
      return EVP_sha512();
  }
}

/// Of one of ECDSA's two numbers.
std::size_t number_size(Algorithm algorithm) {
  if (algorithm == Algorithm::kEs256) return 32;
  return algorithm == Algorithm::kEs384 ? 48 : 66;
}

/// The DER that OpenSSL wants, from the two numbers of JWS. Empty: not of the size that they must have. What the
/// numbers may be (not 0, less than the order) OpenSSL checks.
std::string der_of(std::string_view signature, std::size_t size) {
  if (signature.size() != 2 * size) return {};
  const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(ECDSA_SIG_new());
  BIGNUM* const r = BN_bin2bn(unsigned_bytes(signature), static_cast<int>(size), nullptr);
  BIGNUM* const s = BN_bin2bn(unsigned_bytes(signature) + size, static_cast<int>(size), nullptr);
  if (!pair || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  // Two numbers of 67 bytes at most, each with a head of two, and a head of three for both.
  std::array<unsigned char, 144> der{};
  unsigned char* end = der.data();
  const int length = i2d_ECDSA_SIG(pair.get(), &end);
  return length <= 0 ? std::string{} : std::string(der.data(), der.data() + length);
}

bool verify_public(EVP_PKEY* key, Algorithm algorithm, std::string_view text, std::string_view signature) {
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* settings = nullptr;
  const EVP_MD* const digest = algorithm == Algorithm::kEdDsa ? nullptr : digest_of(algorithm);
  if (!context || EVP_DigestVerifyInit(context.get(), &settings, digest, nullptr, key) != 1) return false;
  if (algorithm >= Algorithm::kPs256 && algorithm <= Algorithm::kPs512) {
    // RFC 7518 §3.5: the salt has the hash's size; MGF1 takes the hash of the signature where nothing else is set.
    if (EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) != 1 ||
        EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) != 1) {
      return false;
    }
  }
  return EVP_DigestVerify(context.get(), unsigned_bytes(signature), signature.size(), unsigned_bytes(text),
                          text.size()) == 1;
}

bool verify_mac(const std::string& secret, Algorithm algorithm, std::string_view text, std::string_view signature) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int size = 0;
  if (HMAC(digest_of(algorithm), secret.data(), static_cast<int>(secret.size()), unsigned_bytes(text), text.size(),
           mac.data(), &size) == nullptr) {
    return false;
  }
  return size == signature.size() && CRYPTO_memcmp(mac.data(), signature.data(), size) == 0;
}

}  // namespace

bool Key::verify(Algorithm algorithm, std::string_view signed_text, std::string_view signature) const {
  if (!fits(algorithm)) return false;
  if (type_ == Type::kOctets) return verify_mac(octets_, algorithm, signed_text, signature);
  bool holds = false;
  if (tables_ != nullptr) {
    holds = tables_->verify(signed_text, signature);
  } else if (type_ == Type::kP256 || type_ == Type::kP384 || type_ == Type::kP521) {
    const std::string der = der_of(signature, number_size(algorithm));
    holds = !der.empty() && verify_public(handle_.get(), algorithm, signed_text, der);
  } else {
    holds = verify_public(handle_.get(), algorithm, signed_text, signature);
  }
  // A refusal leaves its reasons in a list of the thread, which TLS reads to learn what became of it.
  if (!holds) ERR_clear_error();
  return holds;
}

}  // namespace edge::runtime::auth
