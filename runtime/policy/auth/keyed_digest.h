// Digests of credentials with a random key of the process, as keys of caches: no token or password stays in memory
// longer than its request, and collisions cannot be constructed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

struct evp_md_st;

namespace edge::runtime::auth {

using Digest = std::array<std::uint8_t, 32>;

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t value = 0;
    std::memcpy(&value, digest.data(), sizeof(value));
    return value;
  }
};

/// Immutable. Threads: any.
class DigestKey {
 public:
  /// A random key.
  DigestKey();
  /// Returns the SHA-256 of the key and the parts, each with its length. Never disclosed, so that HMAC is not needed.
  Digest of(std::initializer_list<std::string_view> parts) const;

 private:
  std::array<std::uint8_t, 64> key_{};
  std::shared_ptr<evp_md_st> sha256_;
};

}  // namespace edge::runtime::auth
