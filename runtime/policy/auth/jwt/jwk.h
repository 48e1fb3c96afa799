// Keys for verifying signatures, from JWK and JWK sets (RFC 7517, RFC 7518 §6, RFC 8037).
//
// A key is bound to its purpose: it verifies signatures of its own type and scheme only, whatever a token says (RFC
// 8725 §3.1). So an RSA key is never used as an HMAC secret, and a key for PS512 verifies no RS256.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/jwt/p256.h"

struct evp_pkey_st;

namespace edge::runtime::auth {

/// RFC 7518 §3.1, RFC 8037 §3.1, without `none`.
enum class Algorithm : std::uint8_t {
  kRs256,
  kRs384,
  kRs512,
  kPs256,
  kPs384,
  kPs512,
  kEs256,
  kEs384,
  kEs512,
  kEdDsa,
  kHs256,
  kHs384,
  kHs512,
};

/// Returns the algorithm that `alg` names, case-sensitive; nullopt for everything else.
std::optional<Algorithm> algorithm_named(std::string_view name);
std::string_view algorithm_name(Algorithm algorithm);
/// Returns the size of the hash that is signed: 256, 384 or 512. EdDSA's hash is internal: 512.
unsigned hash_bits(Algorithm algorithm);

class AlgorithmSet {
 public:
  void add(Algorithm algorithm) { bits_ |= bit(algorithm); }
  bool has(Algorithm algorithm) const { return (bits_ & bit(algorithm)) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  static std::uint32_t bit(Algorithm algorithm) { return std::uint32_t{1} << static_cast<unsigned>(algorithm); }
  std::uint32_t bits_ = 0;
};

/// The source of a key. HMAC secrets are accepted from the configuration only: a published one is not secret.
enum class KeyOrigin : std::uint8_t { kPublished, kConfigured };

/// Immutable; copies share large parts. Threads: any.
class Key {
 public:
  /// Parses a key. The error says what is missing, and quotes nothing.
  static Result<Key> read(const Json& jwk, KeyOrigin origin);
  /// A secret that an issuer shares, byte by byte: it fits HMAC alone. An Error for less than 256 bits (RFC 7518 §3.2).
  static Result<Key> shared(std::string secret);

  /// Empty: the key has no id.
  const std::string& id() const { return id_; }
  bool fits(Algorithm algorithm) const;
  /// Verifies a signature. False also for an algorithm that the key does not fit. `signature` as in JWS: ECDSA's two
  /// numbers concatenated (RFC 7518 §3.4), not DER.
  bool verify(Algorithm algorithm, std::string_view signed_text, std::string_view signature) const;
  /// Computes tables for a P-256 key, with which `verify` takes half the time: see P256Tables::make. \returns whether
  /// it is such a key.
  bool prepare();

 private:
  enum class Type : std::uint8_t { kRsa, kP256, kP384, kP521, kEd25519, kEd448, kOctets };
  friend class KeyReader;
  Key() = default;

  Type type_ = Type::kRsa;
  std::optional<Algorithm> bound_;
  std::string id_;
  std::string octets_;
  std::shared_ptr<evp_pkey_st> handle_;
  std::shared_ptr<const P256Tables> tables_;
};

inline constexpr std::size_t kMaxKeySetBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxKeys = 128;
/// The number of keys of a set, the first ones, that get tables: issuers use one or two at a time.
inline constexpr std::size_t kMaxPrepared = 4;

struct KeySet {
  std::vector<Key> keys;
  /// Keys that were ignored: of other types and uses, or invalid (RFC 7517 §5).
  std::size_t unusable = 0;
};

/// Parses `{"keys": [...]}` as issuers publish it. Not for an event loop's thread: prepares P-256 keys.
Result<KeySet> read_key_set(std::string_view text);

}  // namespace edge::runtime::auth
