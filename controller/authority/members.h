// Which key each agent's name belongs to, the tokens for one name, and whose certificates are revoked. Part of the
// authority, which provides locking, files and clock.
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

/// Stands before the name of another cluster, which is none of an agent.
inline constexpr std::string_view kRemotePrefix = "remote/";
/// Before the name of another cluster that certificates were issued to, whether they were shown or not.
inline constexpr std::string_view kRenewalsPrefix = "renewals/";

/// A name belongs to the key of the newest certificate issued for it, until that expires.
class Names {
 public:
  static constexpr std::size_t kMost = 16'384;

  struct Owner {
    std::string key;
    WallTime until{};
    /// Of another cluster: when the certificate was first shown. Of other keys none counts that was issued until then.
    WallTime shown{};
    /// Of an agent: when it joined, as far as this authority knows. A renewal does not change it, whatever its key.
    WallTime joined{};
  };

  /// Parses a file: lines `name key until shown joined`, times in milliseconds, the last two optional. Invalid lines
  /// are ignored: their agents are recorded again when they present their certificates.
  static Names read(std::string_view text);
  std::string text() const;

  /// Returns until when a key other than `key` has the name; nullopt: the name is free, or this key's.
  std::optional<WallTime> taken(std::string_view name, std::string_view key, WallTime now) const;
  bool has(std::string_view name, WallTime now) const;
  /// Whom a name is recorded with, over or not; null: nobody. Until the next change.
  const Owner* find(std::string_view name) const;
  /// kResourceExhausted: too many other names are recorded.
  Status take(std::string_view name, Owner owner, WallTime now);
  void free(std::string_view name);

 private:
  std::map<std::string, Owner, std::less<>> owners_;
};

/// Among the revoked: no agent has such a name.
inline constexpr std::string_view kAdministrators = "*administrators";
/// Stands for all names but the administrators' that are not among the revoked any more.
inline constexpr std::string_view kForgotten = "*forgotten";

/// Since when certificates of a name do not count: those that were issued until then. Nothing is forgotten because its
/// time is over, which a clock that jumped ahead would say of what still holds. At kMost names, the one of longest ago
/// gives way, and from then on no certificate of any name counts that was issued until its time.
class Revocations {
 public:
  static constexpr std::size_t kMost = 32'768;

  /// Parses a file: lines `name milliseconds`. Invalid lines are ignored.
  static Revocations read(std::string_view text);
  std::string text() const;

  std::optional<WallTime> since(std::string_view name) const;
  /// Of agents alone: neither of administrators nor of other clusters. kForgotten is among them where every certificate
  /// that was issued until then is over by `now`: a later one is not believed, which would keep all agents out.
  Revocations of_agents(WallTime now) const;
  /// Adds what `other` has, the later time of each name. Whoever stores the result bounds its size (`fit`).
  void merge(const Revocations& other);
  /// Makes `text` no longer than `bytes`: names of longest ago give way as in `add`, if their certificates are over by
  /// a clock that is kClockSkew behind, too. False: the others are too many.
  bool fit(std::size_t bytes, WallTime now);
  /// No certificate of any name counts from now on that was issued until then.
  void forget(WallTime until);
  const std::map<std::string, WallTime, std::less<>>& all() const { return since_; }
  /// Certificates that were issued until then; never fewer than before, also where the clock was set back.
  /// kResourceExhausted: there are kMost names, and by `now` there may still be certificates as old as the oldest.
  Status add(std::string_view name, WallTime until, WallTime now);

 private:
  Status make_room(WallTime now);

  std::map<std::string, WallTime, std::less<>> since_;
};

/// A token for one name and one key: the first that joins with it. Only its digest is stored.
struct NamedToken {
  std::string digest;
  std::string name;
  WallTime until{};
  std::string key{};  ///< empty: not used yet
};

/// The most tokens stored; the oldest are dropped.
inline constexpr std::size_t kMostNamedTokens = 1024;

std::string digest_of_token(std::string_view token);
/// Parses lines `digest name milliseconds key`, with `-` for no key.
std::vector<NamedToken> read_named_tokens(std::string_view text);
std::string text_of(const std::vector<NamedToken>& tokens);

}  // namespace edge::controller
