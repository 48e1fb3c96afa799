// Verifies signatures by one P-256 key, with precomputed multiples of its public point.
//
// OpenSSL has such tables for the curve's generator; it multiplies the public key bit by bit, which is three quarters
// of a verification. A group with the public key as its generator has tables for the key too, so that verification
// takes half the time. Nothing here is secret, so timing reveals nothing.
#pragma once

#include <memory>
#include <string_view>

struct evp_pkey_st;

namespace edge::runtime::auth {

/// Immutable, threads: any. About 150 KiB.
class P256Tables {
 public:
  /// Takes 10 to 20 ms of CPU: not for an event loop's thread. Null when `key` is not on P-256.
  static std::shared_ptr<const P256Tables> make(const evp_pkey_st* key);
  ~P256Tables();
  P256Tables(const P256Tables&) = delete;
  P256Tables& operator=(const P256Tables&) = delete;

  /// Verifies ECDSA with SHA-256 (FIPS 186-5 §6.4.2); `signature` is r and s concatenated, 32 bytes each (RFC 7518
  /// §3.4).
  bool verify(std::string_view text, std::string_view signature) const;

 private:
  struct Impl;
  explicit P256Tables(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime::auth
