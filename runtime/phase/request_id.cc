#include "runtime/phase/request_id.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace edge::runtime {
namespace {

// "000102..fe ff": two digits a byte.
constexpr auto kHexPairs = [] {
  std::array<char, 512> pairs{};
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = kDigits[i >> 4];
    pairs[2 * i + 1] = kDigits[i & 15];
  }
  return pairs;
}();

char* put_bytes(char* out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    std::memcpy(out, &kHexPairs[2 * (value >> shift & 0xff)], 2);
    out += 2;
  }
  return out;
}

}  // namespace

Random::Random() {
  if (::getrandom(&state_, sizeof state_, 0) != sizeof state_) state_ = reinterpret_cast<std::uintptr_t>(this);
}

std::uint64_t Random::next() {
  state_ += 0xa0761d6478bd642f;
  return hash_mix(state_, state_ ^ 0xe7037ed1a0b428db);
}

void RequestId::generate(std::uint64_t unix_milliseconds, Random& random) {
  const std::uint64_t a = random.next();
  const std::uint64_t b = random.next();
  char* out = put_bytes(text_.data(), unix_milliseconds >> 16 & 0xffffffff, 4);
  *out++ = '-';
  out = put_bytes(out, unix_milliseconds & 0xffff, 2);
  *out++ = '-';
  out = put_bytes(out, 0x7000 | (a & 0x0fff), 2);
  *out++ = '-';
  out = put_bytes(out, 0x8000 | (a >> 16 & 0x3fff), 2);
  *out++ = '-';
  out = put_bytes(out, b, 6);
  size_ = static_cast<std::uint8_t>(out - text_.data());
}

bool RequestId::keep(std::string_view incoming) {
  if (incoming.empty() || incoming.size() > kMaxSize) return false;
  if (!std::all_of(incoming.begin(), incoming.end(), [](char c) { return c > 0x20 && c < 0x7f; })) return false;
  std::memcpy(text_.data(), incoming.data(), incoming.size());
  size_ = static_cast<std::uint8_t>(incoming.size());
  return true;
}

}  // namespace edge::runtime
