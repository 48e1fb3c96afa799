// Ed25519 signatures over a program's hash (format.h, SignatureBlock). Native code is loaded from a program only
// after its signature was verified.
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
  /// A fresh key from the operating system's randomness.
  static Result<SigningKey> generate();
  /// PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes.
  static Result<SigningKey> from_pem(std::string_view pem);
  std::string private_pem() const;
  /// SubjectPublicKeyInfo PEM, what agents are given.
  std::string public_pem() const;

  /// 32 bytes that only who has the key can tell, the same at all times; other ones for each `purpose`
  /// (HMAC-SHA256 of the private key).
  std::string derived_secret(std::string_view purpose) const;

  /// Fills the SignatureBlock of an assembled program in place.
  Status sign(std::span<std::byte> program) const;

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
  /// kUnauthenticated when unsigned, signed by another key, or the signature is wrong.
  Status verify(const ProgramView& program) const;

 private:
  struct Impl;
  VerifyKey() = default;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace edge::program
