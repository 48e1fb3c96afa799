// Signatures by one key on the curve P-256, checked with tables of multiples of its public point.
//
// OpenSSL keeps such tables for the curve's own generator; a public key is multiplied bit by bit, and that is three
// quarters of a check. A group whose generator is the public key has tables for it, too, so that a check costs half.
// Nothing here is secret: what takes longer for some numbers tells nobody anything.
#pragma once

#include <memory>
#include <string_view>

struct evp_pkey_st;

namespace edge::runtime::auth {

/// Immutable, and used from any thread. Some 150 KiB.
class P256Tables {
 public:
  /// Takes 10 to 20 ms of CPU: not on a loop's thread. Null when `key` is no key on P-256.
  static std::shared_ptr<const P256Tables> make(const evp_pkey_st* key);
  ~P256Tables();
  P256Tables(const P256Tables&) = delete;
  P256Tables& operator=(const P256Tables&) = delete;

  /// ECDSA with SHA-256 (FIPS 186-5 §6.4.2); `signature` is r and s side by side, 32 bytes each (RFC 7518 §3.4).
  bool verify(std::string_view text, std::string_view signature) const;

 private:
  struct Impl;
  explicit P256Tables(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime::auth
