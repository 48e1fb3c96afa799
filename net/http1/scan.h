// The three scan functions for heads, one struct per instruction set. Each searches [p, end) for the first byte that
// ends a run, and returns `end` when there is none. The vector forms read whole vectors that end at `end` or before:
// the kWidth bytes before `end` must be readable.
#pragma once

#include <cstddef>

#include "net/http1/char_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace edge::net::http1 {

struct ScalarScan {
  static constexpr std::ptrdiff_t kWidth = 0;

  /// Finds the first byte that is not a token character.
  static const char* token_end(const char* p, const char* end) {
    while (p < end && is_class(*p, kTokenChar)) ++p;
    return p;
  }
  /// Finds the first control byte except HTAB.
  static const char* value_end(const char* p, const char* end) {
    while (p < end && !is_control(*p)) ++p;
    return p;
  }
  /// Finds the first byte that is not visible ASCII, or is `#` or `?`.
  static const char* target_end(const char* p, const char* end) {
    while (p < end && is_class(*p, kTargetChar)) ++p;
    return p;
  }
};

#if defined(__x86_64__)

/// `Stops::mask(p)` has a bit for each of the kWidth bytes at `p` that end the run.
template <typename Stops>
struct VectorFind {
  static const char* find(const char* p, const char* end) {
    for (; end - p >= Stops::kWidth; p += Stops::kWidth) {
      if (const unsigned mask = Stops::mask(p)) return p + __builtin_ctz(mask);
    }
    if (p == end) return end;
    // The last bytes: a vector that ends at `end`, ignoring bytes before `p`.
    const char* last = end - Stops::kWidth;
    const unsigned mask = Stops::mask(last) >> (p - last);
    return mask != 0 ? p + __builtin_ctz(mask) : end;
  }
};

/// The baseline of x86-64.
struct Sse2Scan {
  static constexpr std::ptrdiff_t kWidth = 16;

  /// Stops at any byte but letters, digits and `-`: nearly all names contain nothing else, the table handles the
  /// others.
  struct NameStops {
    static constexpr std::ptrdiff_t kWidth = 16;
    static unsigned mask(const char* p) {
      const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const __m128i letter = _mm_sub_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
      const __m128i digit = _mm_sub_epi8(c, _mm_set1_epi8('0'));
      const __m128i letters = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter);
      const __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
      const __m128i dash = _mm_cmpeq_epi8(c, _mm_set1_epi8('-'));
      return ~static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letters, digits), dash))) & 0xffff;
    }
  };
  struct ValueStops {
    static constexpr std::ptrdiff_t kWidth = 16;
    static unsigned mask(const char* p) {
      const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(c, _mm_set1_epi8(0x1f)), c);
      const __m128i tab = _mm_cmpeq_epi8(c, _mm_set1_epi8('\t'));
      const __m128i del = _mm_cmpeq_epi8(c, _mm_set1_epi8(0x7f));
      return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del)));
    }
  };
  struct TargetStops {
    static constexpr std::ptrdiff_t kWidth = 16;
    static unsigned mask(const char* p) {
      const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      // Signed: bytes from 0x80 on are negative.
      const __m128i low = _mm_cmplt_epi8(c, _mm_set1_epi8(0x21));
      const __m128i del = _mm_cmpeq_epi8(c, _mm_set1_epi8(0x7f));
      const __m128i hash = _mm_cmpeq_epi8(c, _mm_set1_epi8('#'));
      const __m128i mark = _mm_cmpeq_epi8(c, _mm_set1_epi8('?'));
      return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, del), _mm_or_si128(hash, mark))));
    }
  };

  static const char* token_end(const char* p, const char* end) {
    for (;;) {
      p = VectorFind<NameStops>::find(p, end);
      if (p == end || !is_class(*p, kTokenChar)) return p;
      ++p;
    }
  }
  static const char* value_end(const char* p, const char* end) { return VectorFind<ValueStops>::find(p, end); }
  static const char* target_end(const char* p, const char* end) { return VectorFind<TargetStops>::find(p, end); }
};

#endif

}  // namespace edge::net::http1
