// Users and their password hashes: a file of lines `user:hash`, as written by Apache's htpasswd.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/policy/auth/basic/password_hash.h"

namespace edge::runtime::auth {

inline constexpr std::size_t kMaxHtpasswdBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxUsers = 50'000;
inline constexpr std::size_t kMaxUserBytes = 255;

/// Immutable once read.
class Htpasswd {
 public:
  Htpasswd(Htpasswd&&) = default;
  Htpasswd& operator=(Htpasswd&&) = default;
  /// Parses a file. Ignores blank lines and those that begin with `#`. An invalid line locks out its own user and is
  /// reported in faults(); the first of several lines of a user applies, as in Apache.
  static Htpasswd read(std::string_view text);

  /// Returns the user's hash; null when there is none.
  const PasswordHash* find(std::string_view user) const;
  /// Returns the hash to check for an unknown user, so that the time is the same: the most expensive hash of the file.
  /// Null when the file has none.
  const PasswordHash* decoy() const { return decoy_; }
  std::size_t size() const { return users_.size(); }
  /// Returns errors such as `line 3: ...`, without names or quoted text.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  Htpasswd() = default;
  void add(std::string_view line, std::size_t number);

  std::unordered_map<std::string, PasswordHash, Hash, std::equal_to<>> users_;
  const PasswordHash* decoy_ = nullptr;  ///< points into `users_`, whose elements do not move
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime::auth
