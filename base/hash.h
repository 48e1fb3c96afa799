// The non-cryptographic hash for stable identities and lookup tables. Its values are stored in programs, so it never
// changes within a format version.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace edge {

namespace hash_detail {
inline constexpr std::uint64_t kMul0 = 0x9e3779b97f4a7c15;
inline constexpr std::uint64_t kMul1 = 0xd1342543de82ef95;

inline std::uint64_t load64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline std::uint64_t load32(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
}  // namespace hash_detail

/// 64x64 -> 128 bit multiplication, folded: the mixing step of all functions below.
inline std::uint64_t hash_mix(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Continues `seed` with the bytes of `text`. `hash_bytes(hash_bytes(s, a), b)` differs from `hash_bytes(s, ab)`: the
/// length is included, so that segment-wise folding is unambiguous. Little-endian machines only, like the format.
inline std::uint64_t hash_bytes(std::uint64_t seed, std::string_view text) {
  using namespace hash_detail;
  const char* p = text.data();
  std::size_t n = text.size();
  std::uint64_t h = seed ^ hash_mix(kMul0 ^ n, kMul1);
  while (n > 16) {
    h = hash_mix(h ^ load64(p), kMul0 ^ load64(p + 8));
    p += 16;
    n -= 16;
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (n >= 8) {
    a = load64(p);
    b = load64(p + n - 8);
  } else if (n >= 4) {
    a = load32(p);
    b = load32(p + n - 4);
  } else if (n > 0) {
    a = static_cast<std::uint8_t>(p[0]) | static_cast<std::uint64_t>(static_cast<std::uint8_t>(p[n >> 1])) << 8 |
        static_cast<std::uint64_t>(static_cast<std::uint8_t>(p[n - 1])) << 16;
  }
  return hash_mix(h ^ a ^ kMul1, kMul0 ^ b);
}

/// Returns the id of a resource or a part of one: equal text, equal id, on every machine and in every version.
inline std::uint64_t stable_id(std::string_view kind, std::string_view name_space, std::string_view name) {
  return hash_bytes(hash_bytes(hash_bytes(0x6564676500000001, kind), name_space), name);
}

}  // namespace edge
