#include "controller/resource_api/identity.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace edge::resource_api {
namespace {

// Without vowels and what looks alike, so that no word comes out.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kSuffix = 5;
constexpr std::size_t kMaxName = 63;

template <std::size_t kBytes>
std::array<std::uint8_t, kBytes> random_bytes() {
  static_assert(kBytes <= 256, "getrandom gives this much whole");
  std::array<std::uint8_t, kBytes> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return bytes;
}

}  // namespace

std::string new_uid() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::uint8_t, 16> bytes = random_bytes<16>();
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string generated_name(std::string_view prefix) {
  std::string name(prefix.substr(0, kMaxName - kSuffix));
  for (const std::uint8_t byte : random_bytes<kSuffix>()) name += kAlphabet[byte % kAlphabet.size()];
  return name;
}

}  // namespace edge::resource_api
