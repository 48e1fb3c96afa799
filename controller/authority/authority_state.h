// What an authority has, for the files that implement it: authority.cc, and for other clusters remote_certificates.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/authority/authority.h"
#include "controller/authority/members.h"
#include "controller/authority/succession.h"

namespace edge::controller {

struct Authority::Impl {
  explicit Impl(AuthorityOptions given) : options(std::move(given)), succession(options.directory) {}

  AuthorityOptions options;
  mutable std::mutex mutex;  ///< guards everything below
  Succession succession;
  std::string token;
  Validity server;
  Validity administrator;
  Revocations revoked;
  Names names;
  bool names_changed = false;  ///< not on disk yet
  std::vector<NamedToken> named_tokens;
  std::set<std::string, std::less<>> reserved;  ///< names of agents in this process
  /// A dashboard calls several times a second with the same certificate, and reading one takes longer than most calls.
  /// Only what it says is kept: whether it holds is found each time.
  std::string last_read;
  CertificateFacts last_facts;

  /// By what name its certificates are revoked; empty: they are not.
  static std::string revocation_of(const Subject& subject) {
    if (subject.role == Role::kController) return {};
    if (subject.role == Role::kAdministrator) return std::string(kAdministrators);
    const bool cluster = subject.role == Role::kRemote || subject.role == Role::kCluster;
    return cluster ? std::string(kRemotePrefix) + subject.name : subject.name;
  }
  bool is_revoked(const CertificateFacts& facts) const {
    const auto since = revoked.since(revocation_of(facts.subject));
    return since && facts.issued <= *since;
  }
  Status take_remote_name(const CertificateFacts& facts);
  /// Records until when certificates last that were issued under a name, where it is later than what is known: for a
  /// revocation by a clock that was set back. On disk with the names, at leisure.
  Status note_until(std::string_view name, WallTime until);
  /// When a certificate is issued now that is to hold, whatever was revoked, or shown, in this moment.
  WallTime after_revocation(std::string_view name) const {
    WallTime time = now();
    if (const auto since = revoked.since(name)) time = std::max(time, *since + std::chrono::milliseconds(1));
    const Names::Owner* const owner = names.find(name);
    if (owner != nullptr && owner->shown != WallTime()) {
      time = std::max(time, owner->shown + std::chrono::milliseconds(1));
    }
    return time;
  }
  bool server_holds() const { return server.from <= now() && now() < server.until; }
  WallTime now() const { return options.clock ? options.clock() : std::chrono::system_clock::now(); }
  const Issuer& current() const { return succession.current(); }
  std::string path(std::string_view file) const { return options.directory + "/" + std::string(file); }

  Status load();
  Status load_own(std::string_view file, Validity& validity) const;
  Status write_roots();
  Status write_join() const;
  Status write_server();
  Status write_administrator();
  Status write_revoked() const;
  Status load_members();
  Status write_names();
  Status write_named_tokens() const;
  Status replace_administrator_if_asked();
  std::string join_text(std::string_view about, std::string_view with) const;
  enum class Found { kNone, kForAll, kForName };
  struct Token {
    Found kind = Found::kNone;
    std::string_view name{};     ///< that it is for
    NamedToken* made = nullptr;  ///< what is kept of it
  };
  Token find(std::string_view digest);
  /// A certificate that is younger than the revocation of those before it. The name is the key's from then on.
  /// `joined`: as Names::Owner.
  Result<std::string> issue(std::string_view name, std::string_view key, std::string_view request, WallTime joined);
  /// Learns of one revocation of an agent's certificates. \returns whether it was new.
  Result<bool> learn_revoked_agent(std::string_view name, WallTime until);
  Status revoke(std::string_view name);
  Status revoke_until(std::string_view name, WallTime until);
  /// Up to when certificates of a name are refused so that none issued so far counts: neither one issued after a
  /// revocation in the same moment, nor one issued while the clock was ahead, once that time comes.
  WallTime issued_so_far(std::string_view name, std::string_view recorded, std::chrono::seconds lifetime) const;
  /// `name`: with kRemotePrefix. To a full second, as it is said in the API.
  Status revoke_cluster(std::string_view name);
  Result<std::string> issue_for_cluster(Role role, std::string_view name, std::string_view request);
  Result<bool> follow();
};

}  // namespace edge::controller
