// Bytes that only who has a secret can read or make (AES-256-GCM, RFC 5116): what the proxy gives to clients to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::net::tls {

/// What is sealed for one purpose opens for no other.
enum class SealPurpose : std::uint8_t {
  kSession,   ///< who the user is
  kTokens,    ///< the provider's tokens, of a session
  kLogin,     ///< a login that has been begun
  kAffinity,  ///< the endpoint that a client stays with
};

/// The keys of a session secret, and of the one before it. Immutable; shared by the threads.
///
/// A nonce is 96 random bits, so one secret should seal no more than 2^32 times (NIST SP 800-38D §8.3): thousands of
/// logins a second for ten days, and far longer at any usual rate.
class SealingKeys {
 public:
  static constexpr std::size_t kSecretSize = 32;
  /// A longer one is opened by no key.
  static constexpr std::size_t kMaxText = 15'200;

  /// Keys by HKDF-SHA256 (RFC 5869), one a purpose. `previous`: what was `current` before, whose cookies still open;
  /// empty: none. Fails when a secret is of another size.
  static Result<SealingKeys> derive(std::string_view current, std::string_view previous);
  ~SealingKeys();
  SealingKeys(SealingKeys&&) noexcept;
  SealingKeys& operator=(SealingKeys&&) noexcept;

  /// In the alphabet of cookies (base64url). `bound_to` must be given again to open it. nullopt when the system gives
  /// no random bytes.
  std::optional<std::string> seal(SealPurpose purpose, std::string_view bound_to, std::string_view plain) const;
  /// nullopt for anything but what `seal` made with the current secret or the previous one.
  std::optional<std::string> open(SealPurpose purpose, std::string_view bound_to, std::string_view sealed) const;

 private:
  struct Impl;
  explicit SealingKeys(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::net::tls
