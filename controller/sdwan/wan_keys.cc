#include "controller/sdwan/wan_keys.h"

#include <array>
#include <memory>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "controller/sdwan/wan_plan.h"

namespace edge::controller::sdwan {
namespace {

constexpr std::size_t kKeyBytes = 32;

TunnelKey key_of_epoch(std::string_view master, std::string_view site, std::int64_t epoch) {
  TunnelKey key{.epoch = static_cast<std::uint32_t>(epoch),
                .bytes = derived_key(master, "tunnels of " + std::string(site) + " " + std::to_string(epoch))};
  // As WireGuard stores them (RFC 7748 section 5): others would read it as this one.
  key.bytes.front() = static_cast<char>(key.bytes.front() & 0xf8);
  key.bytes.back() = static_cast<char>((key.bytes.back() & 0x7f) | 0x40);
  return key;
}

}  // namespace

std::string derived_key(std::string_view master, std::string_view purpose) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), master.data(), static_cast<int>(master.size()),
         reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size(), mac.data(), &size);
  return {mac.begin(), mac.begin() + kKeyBytes};
}

std::vector<TunnelKey> private_keys(std::string_view master, std::string_view site,
                                    std::chrono::system_clock::time_point now) {
  const auto age = now.time_since_epoch();
  const std::int64_t epoch = age / kKeyTime;
  std::vector<TunnelKey> keys;
  if (epoch > 0 && age % kKeyTime < kKeyOverlap) keys.push_back(key_of_epoch(master, site, epoch - 1));
  keys.push_back(key_of_epoch(master, site, epoch));
  return keys;
}

std::string public_key_of(std::string_view private_key) {
  if (private_key.size() != kKeyBytes) return {};
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      ::EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr,
                                     reinterpret_cast<const unsigned char*>(private_key.data()), private_key.size()),
      ::EVP_PKEY_free);
  std::array<unsigned char, kKeyBytes> bytes{};
  std::size_t size = bytes.size();
  if (key == nullptr || ::EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1) return {};
  return {bytes.begin(), bytes.end()};
}

std::chrono::system_clock::time_point next_change(std::chrono::system_clock::time_point now) {
  const auto age = now.time_since_epoch();
  const auto begun = age / kKeyTime * kKeyTime;
  const auto next = age - begun < kKeyOverlap ? begun + kKeyOverlap : begun + kKeyTime;
  return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(next));
}

}  // namespace edge::controller::sdwan
