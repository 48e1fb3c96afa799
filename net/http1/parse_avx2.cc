// The parser for CPUs with AVX2, under the target attribute instead of a compiler flag: inline functions of other
// headers must not be compiled for AVX2 here, or the linker could hand them to the whole program.
#if defined(__x86_64__)
#include <immintrin.h>

#include "net/http1/field_sink.h"
#include "net/http1/parsers.h"
#include "net/http1/scan.h"

#pragma clang attribute push(__attribute__((target("avx2,bmi"))), apply_to = function)

#include "net/http1/head_parser.h"

namespace edge::net::http1 {

namespace {

template <typename Stops>
struct Avx2Find {
  static const char* find(const char* p, const char* end) {
    for (; end - p >= 32; p += 32) {
      if (const unsigned mask = Stops::mask(p)) return p + __builtin_ctz(mask);
    }
    if (p == end) return end;
    const char* last = end - 32;
    const unsigned mask = Stops::mask(last) >> (p - last);
    return mask != 0 ? p + __builtin_ctz(mask) : end;
  }
};

/// For each low nibble, a bit set of the high nibbles with which it forms a token character.
struct TokenNibbles {
  alignas(16) std::uint8_t bits[16] = {};
  constexpr TokenNibbles() {
    for (unsigned c = 0; c < 0x80; ++c) {
      if ((kCharClasses[c] & kTokenChar) != 0) bits[c & 15] |= static_cast<std::uint8_t>(1u << (c >> 4));
    }
  }
};
constexpr TokenNibbles kTokenNibbles;

struct Avx2Scan {
  struct TokenStops {
    static unsigned mask(const char* p) {
      const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      const __m256i low =
          _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(kTokenNibbles.bits)));
      const __m256i high = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, static_cast<char>(128), 0, 0, 0, 0, 0, 0, 0, 0, 1,
                                            2, 4, 8, 16, 32, 64, static_cast<char>(128), 0, 0, 0, 0, 0, 0, 0, 0);
      const __m256i by_low = _mm256_shuffle_epi8(low, c);
      const __m256i by_high =
          _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(c, 4), _mm256_set1_epi8(0x0f)));
      const __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(by_low, by_high), _mm256_setzero_si256());
      return static_cast<unsigned>(_mm256_movemask_epi8(none));
    }
  };
  struct ValueStops {
    static unsigned mask(const char* p) {
      const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(c, _mm256_set1_epi8(0x1f)), c);
      const __m256i tab = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('\t'));
      const __m256i del = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(0x7f));
      return static_cast<unsigned>(_mm256_movemask_epi8(_mm256_or_si256(_mm256_andnot_si256(tab, low), del)));
    }
  };
  struct TargetStops {
    static unsigned mask(const char* p) {
      const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      // Signed: bytes from 0x80 on are negative.
      const __m256i low = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x21), c);
      const __m256i del = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(0x7f));
      const __m256i hash = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('#'));
      const __m256i mark = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('?'));
      return static_cast<unsigned>(
          _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(low, del), _mm256_or_si256(hash, mark))));
    }
  };

  static const char* token_end(const char* p, const char* end) { return Avx2Find<TokenStops>::find(p, end); }
  static const char* value_end(const char* p, const char* end) { return Avx2Find<ValueStops>::find(p, end); }
  static const char* target_end(const char* p, const char* end) { return Avx2Find<TargetStops>::find(p, end); }
};

}  // namespace

#pragma clang attribute pop

const Parsers& avx2_parsers() {
  static constexpr Parsers kParsers{HeadParser<Avx2Scan>::request, HeadParser<Avx2Scan>::response, 32};
  return kParsers;
}

}  // namespace edge::net::http1
#endif
