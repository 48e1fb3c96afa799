// Digests of credentials under a key of the process: what caches know tokens and passwords by, so that none of them
// stands in memory longer than its request, and nobody can find two that meet.
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

/// Immutable. From any thread.
class DigestKey {
 public:
  /// A random key.
  DigestKey();
  /// SHA-256 of the key and the parts, each with its length. Never shown to anybody, so that the plain form will do.
  Digest of(std::initializer_list<std::string_view> parts) const;

 private:
  std::array<std::uint8_t, 64> key_{};
  std::shared_ptr<evp_md_st> sha256_;
};

}  // namespace edge::runtime::auth
