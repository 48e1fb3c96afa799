// Hashes of passwords as htpasswd writes them, and whether a password is the one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::runtime::auth {

/// Longer ones are refused before they are hashed.
inline constexpr std::size_t kMaxPasswordBytes = 1024;

class PasswordHash {
 public:
  enum class Kind : std::uint8_t {
    kSha256,  ///< `{SHA256}` and the hash in base64, without salt
    kApr1,    ///< `$apr1$salt$`: MD5, a thousand times
    kBcrypt,  ///< `$2a$`, `$2b$`, `$2y$`
  };
  /// Of bcrypt: 2^15 rounds take some three seconds. A larger cost would stop whoever logs in, and those behind him.
  static constexpr unsigned kMostCost = 15;

  /// The error says what the form is not, and quotes nothing of it.
  static Result<PasswordHash> read(std::string_view text);

  Kind kind() const { return kind_; }
  /// Rough, in microseconds: whether it may be checked where others wait, and which of two takes longer.
  std::uint64_t cost() const;
  const std::string& text() const { return text_; }

  /// Compares in constant time. Takes as long as cost() says. From any thread.
  bool verify(std::string_view password) const;

 private:
  PasswordHash(Kind kind, std::string_view text) : kind_(kind), text_(text) {}
  Kind kind_;
  unsigned rounds_ = 0;  ///< of bcrypt, as a power of two
  std::string text_;
};

}  // namespace edge::runtime::auth
