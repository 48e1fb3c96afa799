#include "net/tls/sealing.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "base/owned.h"
#include "base/text/base64.h"

namespace edge::net::tls {
namespace {

constexpr std::size_t kKeySize = 32;
constexpr std::size_t kKeyIdSize = 4;
constexpr std::size_t kNonceSize = 12;
constexpr std::size_t kTagSize = 16;
constexpr std::size_t kOverhead = kKeyIdSize + kNonceSize + kTagSize;
constexpr std::size_t kPurposes = 4;

using Cipher = Owned<EVP_CIPHER, EVP_CIPHER_free>;
using CipherContext = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using Kdf = Owned<EVP_KDF, EVP_KDF_free>;
using KdfContext = Owned<EVP_KDF_CTX, EVP_KDF_CTX_free>;

unsigned char* writable(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* readable(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

/// Extract and expand, without a salt: the secret is uniformly random already (RFC 5869 §3.1).
bool hkdf(std::string_view secret, std::string_view info, std::span<unsigned char> out) {
  const Kdf kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const KdfContext context(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
  if (context == nullptr) return false;
  // The library's interface for what it only reads is not const.
  std::string digest = "SHA256";
  std::string key(secret);
  std::string label(info);
  const std::array<OSSL_PARAM, 4> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, label.data(), label.size()), OSSL_PARAM_construct_end()};
  const bool derived = EVP_KDF_derive(context.get(), out.data(), out.size(), parameters.data()) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  return derived;
}

/// Keys derived from one secret.
struct CookieKeys {
  std::array<std::array<unsigned char, kKeySize>, kPurposes> keys{};
  /// Which secret sealed: the first bytes of what is sealed, so that no wrong key is tried.
  std::array<unsigned char, kKeyIdSize> id{};

  CookieKeys() = default;
  CookieKeys(const CookieKeys&) = delete;
  CookieKeys& operator=(const CookieKeys&) = delete;
  ~CookieKeys() { OPENSSL_cleanse(keys.data(), sizeof(keys)); }

  bool derive(std::string_view secret) {
    static constexpr std::array<std::string_view, kPurposes> kInfos = {"edge-proxy session 1", "edge-proxy tokens 1",
                                                                       "edge-proxy login 1", "edge-proxy affinity 1"};
    for (std::size_t i = 0; i < kPurposes; ++i) {
      if (!hkdf(secret, kInfos[i], keys[i])) return false;
    }
    return hkdf(secret, "edge-proxy key id 1", id);
  }
  std::string_view id_text() const { return {reinterpret_cast<const char*>(id.data()), id.size()}; }
};

}  // namespace

struct SealingKeys::Impl {
  Cipher cipher;
  CookieKeys current;
  CookieKeys previous;
  bool has_previous = false;

  /// Null for a secret that is not ours.
  const CookieKeys* find(std::string_view id) const {
    if (id == current.id_text()) return &current;
    return has_previous && id == previous.id_text() ? &previous : nullptr;
  }
};

SealingKeys::SealingKeys(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SealingKeys::~SealingKeys() = default;
SealingKeys::SealingKeys(SealingKeys&&) noexcept = default;
SealingKeys& SealingKeys::operator=(SealingKeys&&) noexcept = default;

Result<SealingKeys> SealingKeys::derive(std::string_view current, std::string_view previous) {
  if (current.size() != kSecretSize || (!previous.empty() && previous.size() != kSecretSize)) {
    return Error{ErrorCode::kInvalidArgument, "a session secret has 32 bytes"};
  }
  auto impl = std::make_unique<Impl>();
  // Fetched once: looking a cipher up by name costs more than opening a cookie with it.
  impl->cipher.reset(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
  impl->has_previous = !previous.empty();
  if (impl->cipher == nullptr || !impl->current.derive(current) ||
      (impl->has_previous && !impl->previous.derive(previous))) {
    return Error{ErrorCode::kInternal, "the keys of a session secret cannot be derived"};
  }
  return SealingKeys(std::move(impl));
}

std::optional<std::string> SealingKeys::seal(SealPurpose purpose, std::string_view bound_to,
                                             std::string_view plain) const {
  const CookieKeys& keys = impl_->current;
  std::string sealed(kOverhead + plain.size(), '\0');
  unsigned char* const nonce = writable(sealed.data()) + kKeyIdSize;
  unsigned char* const text = nonce + kNonceSize;
  std::copy(keys.id.begin(), keys.id.end(), sealed.begin());
  const CipherContext context(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      context != nullptr && RAND_bytes(nonce, kNonceSize) == 1 &&
      EVP_EncryptInit_ex2(context.get(), impl_->cipher.get(), keys.keys[static_cast<std::size_t>(purpose)].data(),
                          nonce, nullptr) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, readable(bound_to), static_cast<int>(bound_to.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), text, &size, readable(plain), static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), text + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagSize, text + plain.size()) == 1;
  if (!done) return std::nullopt;
  return to_base64url(sealed);
}

std::optional<std::string> SealingKeys::open(SealPurpose purpose, std::string_view bound_to,
                                             std::string_view sealed) const {
  if (sealed.size() > kMaxText) return std::nullopt;
  std::optional<std::string> bytes = from_base64url(sealed);
  if (!bytes || bytes->size() < kOverhead) return std::nullopt;
  const CookieKeys* const keys = impl_->find(std::string_view(*bytes).substr(0, kKeyIdSize));
  if (keys == nullptr) return std::nullopt;
  unsigned char* const nonce = writable(bytes->data()) + kKeyIdSize;
  unsigned char* const text = nonce + kNonceSize;
  const std::size_t size = bytes->size() - kOverhead;
  const CipherContext context(EVP_CIPHER_CTX_new());
  int written = 0;
  const bool done =
      context != nullptr &&
      EVP_DecryptInit_ex2(context.get(), impl_->cipher.get(), keys->keys[static_cast<std::size_t>(purpose)].data(),
                          nonce, nullptr) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &written, readable(bound_to), static_cast<int>(bound_to.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), text, &written, text, static_cast<int>(size)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, text + size) == 1 &&
      EVP_DecryptFinal_ex(context.get(), text + size, &written) == 1;
  if (!done) return std::nullopt;
  return bytes->substr(kKeyIdSize + kNonceSize, size);
}

}  // namespace edge::net::tls
