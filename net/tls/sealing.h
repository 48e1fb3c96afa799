// Authenticated encryption (AES-256-GCM, RFC 5116) of values that clients store for the proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::net::tls {

/// Values encrypted for one purpose cannot be decrypted for another.
enum class SealPurpose : std::uint8_t {
  kSession,   ///< the user's identity
  kTokens,    ///< the provider's tokens of a session
  kLogin,     ///< a login in progress
  kAffinity,  ///< the endpoint of a persistent session
};

/// The keys from a session secret, and from the one before it. Immutable; shared by all threads.
///
/// A nonce is 96 random bits, so that one secret should encrypt no more than 2^32 times (NIST SP 800-38D §8.3):
/// thousands of logins per second for ten days, and far longer at usual rates.
class SealingKeys {
 public:
  static constexpr std::size_t kSecretSize = 32;
  /// Longer values are rejected.
  static constexpr std::size_t kMaxText = 15'200;

  /// Derives keys by HKDF-SHA256 (RFC 5869), one per purpose. `previous`: the earlier value of `current`, whose values
  /// can still be decrypted; empty: none. Fails when a secret has another size.
  static Result<SealingKeys> derive(std::string_view current, std::string_view previous);
  ~SealingKeys();
  SealingKeys(SealingKeys&&) noexcept;
  SealingKeys& operator=(SealingKeys&&) noexcept;

  /// Encrypts, and encodes as base64url for cookies. `bound_to` must be the same for decryption. nullopt when the
  /// system provides no random bytes.
  std::optional<std::string> seal(SealPurpose purpose, std::string_view bound_to, std::string_view plain) const;
  /// Decrypts; nullopt for anything but the result of `seal` with the current or the previous secret.
  std::optional<std::string> open(SealPurpose purpose, std::string_view bound_to, std::string_view sealed) const;

 private:
  struct Impl;
  explicit SealingKeys(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::net::tls
