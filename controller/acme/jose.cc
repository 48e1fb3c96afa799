#include "controller/acme/jose.h"

#include <array>
#include <vector>

#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "base/text/base64.h"
#include "base/text/json.h"

namespace edge::controller::acme {
namespace {

constexpr std::size_t kCoordinate = 32;  ///< bytes, on P-256

std::string_view view(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string flattened(const std::string& header, const std::string& payload, std::string_view signature) {
  return R"({"protected":")" + header + R"(","payload":")" + payload + R"(","signature":")" + to_base64url(signature) +
         "\"}";
}

/// JOSE has both numbers at full length (RFC 7518 §3.4), OpenSSL a DER sequence.
std::string raw_signature(const std::vector<unsigned char>& der) {
  const unsigned char* position = der.data();
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> parsed(
      d2i_ECDSA_SIG(nullptr, &position, static_cast<long>(der.size())), ECDSA_SIG_free);
  if (parsed == nullptr) return {};
  std::array<unsigned char, 2 * kCoordinate> raw{};
  const bool whole = BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), raw.data(), kCoordinate) == kCoordinate &&
                     BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), raw.data() + kCoordinate, kCoordinate) == kCoordinate;
  return whole ? std::string(view(raw.data(), raw.size())) : std::string();
}

std::string sha256_text(std::string_view bytes) {
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1) return {};
  return std::string(view(hash.data(), hash.size()));
}

}  // namespace

std::string json_text(std::string_view text) { return json_line(nlohmann::json(std::string(text))); }

Result<AccountKey> AccountKey::read(std::string_view pem) {
  const Error unusable{ErrorCode::kInvalidArgument, "the account's key is no private key on P-256"};
  const std::unique_ptr<BIO, decltype(&BIO_free)> source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                         BIO_free);
  AccountKey made;
  made.key_ = {PEM_read_bio_PrivateKey(source.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  ERR_clear_error();
  if (made.key_ == nullptr || EVP_PKEY_get_base_id(made.key_.get()) != EVP_PKEY_EC) return unusable;
  std::array<unsigned char, 1 + 2 * kCoordinate> point{};
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(made.key_.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(), &size) !=
          1 ||
      size != point.size() || point[0] != 4) {
    ERR_clear_error();
    return unusable;
  }
  made.jwk_ = R"({"crv":"P-256","kty":"EC","x":")" + to_base64url(view(point.data() + 1, kCoordinate)) + R"(","y":")" +
              to_base64url(view(point.data() + 1 + kCoordinate, kCoordinate)) + "\"}";
  made.thumbprint_ = to_base64url(sha256_text(made.jwk_));
  return made;
}

Result<std::string> AccountKey::sign(std::string_view url, std::string_view nonce, std::string_view identity,
                                     std::string_view payload) const {
  const std::string header = to_base64url(R"({"alg":"ES256","nonce":)" + json_text(nonce) +
                                          ",\"url\":" + json_text(url) + "," + std::string(identity) + "}");
  const std::string body = to_base64url(payload);
  const std::string signed_text = header + "." + body;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::size_t size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(signed_text.data());
  std::vector<unsigned char> der;
  bool done = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, signed_text.size()) == 1;
  if (done) {
    der.resize(size);
    done = EVP_DigestSign(context.get(), der.data(), &size, bytes, signed_text.size()) == 1;
    der.resize(size);
  }
  const std::string signature = done ? raw_signature(der) : std::string();
  ERR_clear_error();
  if (signature.empty()) return Error{ErrorCode::kInternal, "a request to the CA could not be signed"};
  return flattened(header, body, signature);
}

Result<std::string> bind_account(std::string_view jwk, std::string_view url, std::string_view key_id,
                                 std::string_view mac_key) {
  const std::string header =
      to_base64url(R"({"alg":"HS256","kid":)" + json_text(key_id) + ",\"url\":" + json_text(url) + "}");
  const std::string body = to_base64url(jwk);
  const std::string signed_text = header + "." + body;
  std::array<unsigned char, 32> mac{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), mac_key.data(), static_cast<int>(mac_key.size()),
           reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), mac.data(),
           &size) == nullptr) {
    return Error{ErrorCode::kInternal, "the external account could not be bound"};
  }
  return flattened(header, body, view(mac.data(), size));
}

}  // namespace edge::controller::acme
