// Keys of API clients: a file of lines `name:key`, or `name:{SHA256}HASH` where the key itself is not to be stored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/read.h"
#include "runtime/policy/auth/keyed_digest.h"

namespace edge::runtime::auth {

inline constexpr std::size_t kMaxApiKeysBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxApiKeys = 200'000;
/// A shorter key could be guessed.
inline constexpr std::size_t kLeastApiKeyBytes = 16;
inline constexpr std::size_t kMaxApiKeyBytes = 512;

/// Immutable once read. No key is stored: one is found by a digest with a random key of the process, so that the time
/// of a search says nothing about the keys that there are.
class ApiKeys {
 public:
  /// Adds the lines of a file. Blank lines and those that begin with `#` are ignored. An invalid line locks out its own
  /// key and is reported in faults(). A name may have several keys, so that one can be replaced without a gap; a key
  /// has one name.
  void add(std::string_view text);

  /// Returns the name that a key belongs to; null: there is no such key.
  const std::string* find(std::string_view key) const;
  std::size_t size() const { return names_.size(); }
  /// Returns errors such as `line 3: ...`, without names or quoted text.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  Digest place_of(const program::Hash& hash) const;
  void add_line(std::string_view line, std::size_t number);

  DigestKey digests_;
  std::unordered_map<Digest, std::string, DigestHash> names_;
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime::auth
