// Finds and compares bytes in short texts: hosts, paths, names. Never reads outside of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace edge::runtime {

inline constexpr std::size_t kScanBlock = 64;

namespace scan_detail {

inline std::uint64_t bytewise_mask(const char* text, std::size_t size, char byte) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < size; ++i) mask |= std::uint64_t{text[i] == byte} << i;
  return mask;
}

#if defined(__SSE2__)
inline std::uint64_t mask16(const char* text, __m128i byte) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, byte)));
}
/// Loads the first and the last eight bytes of a text of 8..16 as one register.
inline std::uint64_t mask8to16(const char* text, std::size_t size, __m128i byte) {
  std::int64_t first;
  std::int64_t last;
  std::memcpy(&first, text, 8);
  std::memcpy(&last, text + size - 8, 8);
  const auto mask = static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set_epi64x(last, first), byte)));
  return (mask & 0xff) | (mask >> 8) << (size - 8);
}
#endif

}  // namespace scan_detail

/// Returns a mask with bit i set when text[i] is `byte`. Precondition: size <= kScanBlock. The loads of a longer text
/// overlap.
inline std::uint64_t byte_mask(const char* text, std::size_t size, char byte) {
#if defined(__SSE2__)
  using namespace scan_detail;
  const __m128i wanted = _mm_set1_epi8(byte);
  if (size > 32) {
    const std::uint64_t low = mask16(text, wanted) | mask16(text + 16, wanted) << 16;
    return low | mask16(text + size - 16, wanted) << (size - 16) | (size > 48 ? mask16(text + 32, wanted) << 32 : 0);
  }
  if (size > 16) return mask16(text, wanted) | mask16(text + size - 16, wanted) << (size - 16);
  if (size >= 8) return mask8to16(text, size, wanted);
#endif
  return scan_detail::bytewise_mask(text, size, byte);
}

/// memcmp without the call, for mostly short texts.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  std::uint64_t x;
  std::uint64_t y;
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      std::memcpy(&x, a + i, 8);
      std::memcpy(&y, b + i, 8);
      if (x != y) return false;
    }
    std::memcpy(&x, a + size - 8, 8);
    std::memcpy(&y, b + size - 8, 8);
    return x == y;
  }
  if (size >= 4) {
    std::uint32_t first[2];
    std::uint32_t last[2];
    std::memcpy(&first[0], a, 4);
    std::memcpy(&first[1], b, 4);
    std::memcpy(&last[0], a + size - 4, 4);
    std::memcpy(&last[1], b + size - 4, 4);
    return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace edge::runtime
