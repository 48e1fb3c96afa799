// Which key each agent's name belongs to, and the tokens that were made for one name. Part of the authority, which
// locks; files and clock are its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/authority/certificates.h"

namespace edge::controller {

/// A name belongs to the key of the newest certificate that was issued for it, until that is over.
class Names {
 public:
  static constexpr std::size_t kMost = 16'384;

  /// A file's text: `name key milliseconds` a line. A line that is none is passed over: its agent is known again by the
  /// certificate that it shows.
  static Names read(std::string_view text);
  std::string text() const;

  /// Until when another key than `key` has the name; nullopt: it is free, or this key's.
  std::optional<WallTime> taken(std::string_view name, std::string_view key, WallTime now) const;
  bool has(std::string_view name, WallTime now) const;
  /// kResourceExhausted: there are too many others.
  Status take(std::string_view name, std::string_view key, WallTime until, WallTime now);
  void free(std::string_view name);

 private:
  struct Owner {
    std::string key;
    WallTime until{};
  };
  std::map<std::string, Owner, std::less<>> owners_;
};

/// A token for one name and one key: the first that joins with it. Kept as a digest.
struct NamedToken {
  std::string digest;
  std::string name;
  WallTime until{};
  std::string key{};  ///< empty: not used yet
};

/// At most so many are kept; the oldest give way.
inline constexpr std::size_t kMostNamedTokens = 1024;

std::string digest_of_token(std::string_view token);
/// `digest name milliseconds key` a line, `-` for no key.
std::vector<NamedToken> read_named_tokens(std::string_view text);
std::string text_of(const std::vector<NamedToken>& tokens);

}  // namespace edge::controller
