#include "agent/sync/seal.h"

#include <sys/stat.h>

#include <climits>
#include <memory>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/os/file.h"
#include "base/owned.h"

namespace edge::agent {
namespace {

using ContextPtr = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

constexpr std::string_view kForm = "edge sealed 1\n";
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kOverhead = kForm.size() + kNonceBytes + kTagBytes;

unsigned char* writable(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* readable(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

Result<std::string> seal_key(const std::string& path) {
  auto key = read_file(path, 2 * kSealKeyBytes);
  if (key) {
    if (key->size() != kSealKeyBytes) return Error{ErrorCode::kDataLoss, path + ": is not a key of 32 bytes"};
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || (info.st_mode & 077) != 0) {
      return Error{ErrorCode::kFailedPrecondition, path + ": others may read this key; chmod 600"};
    }
    return key;
  }
  if (key.error().code != ErrorCode::kNotFound) return key;
  std::string fresh(kSealKeyBytes, '\0');
  if (RAND_bytes(writable(fresh.data()), kSealKeyBytes) != 1) {
    return Error{ErrorCode::kInternal, "the system gives no random bytes"};
  }
  if (Status status = write_file(path, std::string_view(fresh), FileAccess::kOwnerOnly); !status) {
    return status.error();
  }
  return fresh;
}

Result<std::string> seal(std::string_view key, std::string_view bound_to, std::string_view plain) {
  if (plain.size() > INT_MAX - kOverhead) return Error{ErrorCode::kResourceExhausted, "too much to be sealed"};
  std::string sealed(kOverhead + plain.size(), '\0');
  kForm.copy(sealed.data(), kForm.size());
  unsigned char* const nonce = writable(sealed.data()) + kForm.size();
  unsigned char* const text = nonce + kNonceBytes;
  const ContextPtr context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (key.size() != kSealKeyBytes || context == nullptr || RAND_bytes(nonce, kNonceBytes) != 1 ||
      EVP_EncryptInit_ex2(context.get(), EVP_aes_256_gcm(), readable(key), nonce, nullptr) != 1 ||
      EVP_EncryptUpdate(context.get(), nullptr, &size, readable(bound_to), static_cast<int>(bound_to.size())) != 1 ||
      EVP_EncryptUpdate(context.get(), text, &size, readable(plain), static_cast<int>(plain.size())) != 1 ||
      EVP_EncryptFinal_ex(context.get(), text + size, &size) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, text + plain.size()) != 1) {
    return Error{ErrorCode::kInternal, "cannot seal"};
  }
  return sealed;
}

Result<std::string> open_sealed(std::string_view key, std::string_view bound_to, std::string_view sealed) {
  const Error broken{ErrorCode::kDataLoss, "not sealed with this key, or changed since"};
  if (key.size() != kSealKeyBytes || sealed.size() < kOverhead || sealed.size() > INT_MAX ||
      !sealed.starts_with(kForm)) {
    return broken;
  }
  const std::string_view nonce = sealed.substr(kForm.size(), kNonceBytes);
  const std::string_view text = sealed.substr(kForm.size() + kNonceBytes, sealed.size() - kOverhead);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string plain(text.size(), '\0');
  const ContextPtr context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (context == nullptr ||
      EVP_DecryptInit_ex2(context.get(), EVP_aes_256_gcm(), readable(key), readable(nonce), nullptr) != 1 ||
      EVP_DecryptUpdate(context.get(), nullptr, &size, readable(bound_to), static_cast<int>(bound_to.size())) != 1 ||
      EVP_DecryptUpdate(context.get(), writable(plain.data()), &size, readable(text), static_cast<int>(text.size())) !=
          1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) != 1 ||
      EVP_DecryptFinal_ex(context.get(), writable(plain.data()) + size, &size) != 1) {
    return broken;
  }
  return plain;
}

}  // namespace edge::agent
