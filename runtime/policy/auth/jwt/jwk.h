// Keys that signatures are checked with, as JWK and JWK sets carry them (RFC 7517, RFC 7518 §6, RFC 8037).
//
// A key knows what it is for: it checks signatures of its own type and scheme and no others, whatever a token says
// (RFC 8725 §3.1). So an RSA key is never the secret of an HMAC, and a key for PS512 checks no RS256.
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

/// RFC 7518 §3.1, RFC 8037 §3.1. `none` is none of them.
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

/// As `alg` spells it, letter by letter; nullopt for everything else.
std::optional<Algorithm> algorithm_named(std::string_view name);
std::string_view algorithm_name(Algorithm algorithm);
/// Of the hash that it signs: 256, 384 or 512. That of EdDSA is the key's own affair: 512.
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

/// Where a key comes from. Shared secrets are good from a configuration alone: one that is published is none.
enum class KeyOrigin : std::uint8_t { kPublished, kConfigured };

/// Immutable; copies share what is large. From any thread.
class Key {
 public:
  /// The error says what the key lacks, and quotes none of it.
  static Result<Key> read(const Json& jwk, KeyOrigin origin);

  /// Empty: it has none.
  const std::string& id() const { return id_; }
  bool fits(Algorithm algorithm) const;
  /// False, too, for an algorithm that the key does not fit. `signature` as JWS has it: ECDSA's two numbers side by
  /// side (RFC 7518 §3.4), not DER.
  bool verify(Algorithm algorithm, std::string_view signed_text, std::string_view signature) const;
  /// Makes the tables of a key on P-256, which `verify` then takes half the time with: see P256Tables::make.
  /// \returns whether it is one.
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
/// So many keys of a set, the first ones, get tables: issuers have one or two in use.
inline constexpr std::size_t kMaxPrepared = 4;

struct KeySet {
  std::vector<Key> keys;
  /// Of other types and uses, or at fault: passed over (RFC 7517 §5).
  std::size_t unusable = 0;
};

/// `{"keys": [...]}` as issuers publish it. Not on a loop's thread: keys on P-256 are prepared.
Result<KeySet> read_key_set(std::string_view text);

}  // namespace edge::runtime::auth
