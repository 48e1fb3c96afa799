#include "program/sha256.h"

#include <cstdlib>
#include <initializer_list>
#include <memory>

#include <openssl/evp.h>

#include "base/owned.h"

namespace edge::program {
namespace {

/// With its terminating zero.
constexpr char kManifestDomain[] = "edge program";

// One context a thread: making one costs more than hashing a small section.
EVP_MD_CTX* thread_context() {
  thread_local const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  return context.get();
}

Hash digest(std::initializer_list<std::span<const std::byte>> parts) {
  // Fetched once: an implicit fetch costs more than hashing a small section. Never written after its construction.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* const context = thread_context();
  Hash hash{};
  bool ok = algorithm != nullptr && context != nullptr && EVP_DigestInit_ex2(context, algorithm, nullptr) == 1;
  for (const auto part : parts) ok = ok && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
  // A process without SHA-256 can vouch for nothing.
  if (!ok || EVP_DigestFinal_ex(context, hash.data(), nullptr) != 1) std::abort();
  return hash;
}

}  // namespace

Hash sha256(std::span<const std::byte> bytes) { return digest({bytes}); }

Hash manifest_hash(std::span<const std::byte> manifest) {
  return digest({std::as_bytes(std::span(kManifestDomain)), manifest});
}

}  // namespace edge::program
