// Password hashes in the formats of htpasswd, and their verification.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::runtime::auth {

/// Longer passwords are rejected without hashing.
inline constexpr std::size_t kMaxPasswordBytes = 1024;

class PasswordHash {
 public:
  enum class Kind : std::uint8_t {
    kSha256,  ///< `{SHA256}` and the hash in base64, without salt
    kApr1,    ///< `$apr1$salt$`: MD5, a thousand rounds
    kBcrypt,  ///< `$2a$`, `$2b$`, `$2y$`
  };
  /// The highest accepted cost of bcrypt: 2^15 rounds take about three seconds. A higher one would block logins.
  static constexpr unsigned kMostCost = 15;

  /// Parses a hash. The error describes the format, and quotes nothing.
  static Result<PasswordHash> read(std::string_view text);

  Kind kind() const { return kind_; }
  /// Returns the approximate time of a check in microseconds: decides whether it may run on an event loop, and which of
  /// two is slower.
  std::uint64_t cost() const;
  const std::string& text() const { return text_; }

  /// Verifies a password; compares in constant time. Takes about cost(). Any thread.
  bool verify(std::string_view password) const;

 private:
  PasswordHash(Kind kind, std::string_view text) : kind_(kind), text_(text) {}
  Kind kind_;
  unsigned rounds_ = 0;  ///< for bcrypt: the exponent of two
  std::string text_;
};

}  // namespace edge::runtime::auth
