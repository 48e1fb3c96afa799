// The hash for tables whose keys clients choose: SipHash (Aumasson, Bernstein), with a secret key. With hash_bytes,
// whose values are public in programs, anybody could construct colliding keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace edge {

struct HashKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// From the kernel.
  static HashKey random();
};

/// SipHash-1-3 is meant for tables; 2-4 has the authors' test vectors. Little-endian machines only.
template <int kRounds = 1, int kLastRounds = 3>
std::uint64_t sip_hash(const HashKey& key, std::string_view text) {
  std::uint64_t v0 = key.low ^ 0x736f6d6570736575;
  std::uint64_t v1 = key.high ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.low ^ 0x6c7967656e657261;
  std::uint64_t v3 = key.high ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](std::uint64_t word) {
    v3 ^= word;
    rounds(kRounds);
    v0 ^= word;
  };
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    take(word);
  }
  word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  take(last | word);
  v2 ^= 0xff;
  rounds(kLastRounds);
  return v0 ^ v1 ^ v2 ^ v3;
}

/// For a table of the standard library; each instance has a key of its own.
class KeyedHash {
 public:
  using is_transparent = void;
  explicit KeyedHash(const HashKey& key = HashKey::random()) : key_(key) {}
  std::size_t operator()(std::string_view text) const { return sip_hash(key_, text); }

 private:
  HashKey key_;
};

}  // namespace edge
