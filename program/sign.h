// Ed25519 signatures over a program's hash (format.h, SignatureBlock). Native code of a program is loaded only after
// its signature was verified.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/read.h"

namespace edge::program {

class SigningKey {
 public:
  /// Generates a key from the operating system's randomness.
  static Result<SigningKey> generate();
  /// Parses PKCS#8 PEM, as written by `openssl genpkey -algorithm ed25519`.
  static Result<SigningKey> from_pem(std::string_view pem);
  std::string private_pem() const;
  /// Returns SubjectPublicKeyInfo PEM, for agents.
  std::string public_pem() const;

  /// Returns 32 bytes derived from the private key (HMAC-SHA256), always the same for one `purpose`, and different for
  /// others.
  std::string derived_secret(std::string_view purpose) const;

  /// Writes the SignatureBlock of an assembled program in place.
  Status sign(std::span<std::byte> program) const;
  /// Signs another text: 64 bytes. `domain` separates what texts are for; it is no prefix of another one.
  Result<std::string> sign_message(std::string_view domain, std::string_view message) const;

 private:
  friend class VerifyKey;
  struct Impl;
  SigningKey() = default;
  std::shared_ptr<const Impl> impl_;
};

class VerifyKey {
 public:
  static Result<VerifyKey> from_pem(std::string_view pem);
  static VerifyKey of(const SigningKey& key);
  /// kUnauthenticated when unsigned, signed by another key, or the signature is invalid.
  Status verify(const ProgramView& program) const;
  /// kUnauthenticated when `signature` is not what `sign_message` returned for the same texts.
  Status verify_message(std::string_view domain, std::string_view message, std::string_view signature) const;

 private:
  struct Impl;
  VerifyKey() = default;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace edge::program
