// Users and the hashes of their passwords: a file of lines `user:hash`, as Apache's htpasswd writes them.
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
  /// Blank lines and those that begin with `#` are passed over. A line that is at fault keeps its own user out and is
  /// told of in faults(); of a user that stands twice the first line holds, as Apache has it.
  static Htpasswd read(std::string_view text);

  /// Null when there is none.
  const PasswordHash* find(std::string_view user) const;
  /// What a user that is not there is checked by, so that it takes as long: the costliest hash of the file. Null when
  /// it has none.
  const PasswordHash* decoy() const { return decoy_; }
  std::size_t size() const { return users_.size(); }
  /// `line 3: ...`; names nobody, quotes nothing.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  Htpasswd() = default;
  void add(std::string_view line, std::size_t number);

  std::unordered_map<std::string, PasswordHash, Hash, std::equal_to<>> users_;
  const PasswordHash* decoy_ = nullptr;  ///< one of `users_`, whose entries stay where they are
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime::auth
