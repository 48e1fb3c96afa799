#include "runtime/policy/auth/keyed_digest.h"

#include <cstdlib>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/owned.h"

namespace edge::runtime::auth {

DigestKey::DigestKey() : sha256_(EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_free) {
  // Without randomness, or its hash, a process has no business to tell anybody apart.
  if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1 || sha256_ == nullptr) std::abort();
}

Digest DigestKey::of(std::initializer_list<std::string_view> parts) const {
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  Digest digest{};
  bool sound = context != nullptr && EVP_DigestInit_ex(context.get(), sha256_.get(), nullptr) == 1 &&
               EVP_DigestUpdate(context.get(), key_.data(), key_.size()) == 1;
  for (const std::string_view part : parts) {
    const std::uint64_t size = part.size();
    sound = sound && EVP_DigestUpdate(context.get(), &size, sizeof(size)) == 1 &&
            EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
  }
  if (!sound || EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) std::abort();
  return digest;
}

}  // namespace edge::runtime::auth
