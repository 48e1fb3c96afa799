// The controller's own authority: whose certificates agents and administrators show, and who may join. Decision 0060.
//
// Its directory (mode 0700, files 0600) holds
//
//   ca.pem            key and certificate of the authority that signs now
//   ca-next.pem       of the one that will, while agents learn of it
//   ca-previous.pem   certificate of the one that did, while its certificates last
//   roots.pem         certificates of all of these
//   server.pem        certificate and key that the controller shows
//   join              token and roots, for `edge-agent --token-file`
//   admin.pem         key, certificate and roots of an administrator, for edgectl
//   revoked           agents by name, and since when; administrators too, all of them
//   names             agents by name, with the key that each name belongs to, and until when
//   tokens            digests of tokens that are for one name
//   join-<name>       token and roots of an agent in this process (edge-standalone's own)
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/authority/certificates.h"

namespace edge::controller {

struct AuthorityOptions {
  std::string directory;
  std::string controller{};           ///< `HOST:PORT` for the administrator's file; empty: not said
  std::function<WallTime()> clock{};  ///< null: the system's
  /// An authority that is not valid yet, made by a clock that ran ahead, is replaced. Where false it is waited for:
  /// agents that believe it cannot join again by themselves.
  bool replace_early = false;
};

/// How long certificates hold. Each is renewed when two thirds are over.
inline constexpr auto kAgentLifetime = std::chrono::hours(24 * 30);
inline constexpr auto kServerLifetime = std::chrono::hours(24 * 90);
inline constexpr auto kAdministratorLifetime = std::chrono::hours(24 * 365);
inline constexpr auto kNamedTokenLifetime = std::chrono::hours(24);
inline constexpr auto kAuthorityLifetime = std::chrono::hours(24 * 3650);
/// Clocks differ: what is issued holds a little before it was.
inline constexpr auto kClockSkew = std::chrono::hours(1);

/// Every function may be called from any thread.
class Authority {
 public:
  /// Makes what is not there yet. Fails when the directory is not ours alone.
  static Result<std::unique_ptr<Authority>> open(AuthorityOptions options);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  /// In a time that tells nothing of the tokens there are.
  bool is_token(std::string_view presented) const;
  /// A first certificate for an agent, decision 0095. The join file's token gives a name that is free, or this key's.
  /// One that was made for the name takes it from another key, whose certificates are refused from then on.
  /// kUnauthenticated: `is_token` is false; kPermissionDenied: it is another name's, or another key's;
  /// kAlreadyExists: the name is another key's; kInvalidArgument for a name or a request that is none.
  Result<std::string> join(std::string_view token, std::string_view name, std::string_view request);
  /// The next certificate of an agent that has shown one: the name is this key's from now on. Fails as above.
  Result<std::string> sign(std::string_view name, std::string_view request);
  /// A join file with a token for this name alone, good for a day and for the first key that joins with it.
  Result<std::string> join_file_for(std::string_view name);
  /// Path of a join file for an agent in this process, whose token lasts as long as the process does, for any key.
  Result<std::string> own_join_file(std::string_view name);
  /// Who shows this certificate, whose signature TLS has verified. kUnauthenticated: over, not yet valid, or revoked.
  /// An agent's name is its key's from then on, where no other has it.
  Result<CertificateFacts> identify(std::string_view certificate);
  /// Of an agent's certificate that was identified before.
  bool is_revoked(const CertificateFacts& facts) const;
  /// No certificate that was issued for `name` until now is good any more, and the name is free.
  Status revoke(std::string_view name);

  /// Whom to believe, PEM.
  std::string roots() const;
  /// Does what is due: renews the server's and the administrator's certificates, lets authorities follow each other,
  /// and replaces the administrator's where base/os/operator_files.h asks for it: those before are refused. Call it
  /// every minute or so. \returns whether `roots` changed.
  Result<bool> tend();
  /// Begins to replace the authority: the next one is believed from now on, signs after kAgentLifetime, when every
  /// agent has heard of it with its own renewal at the latest, and is the only one after as much again.
  Status roll_over();
  /// After the port is known.
  Status set_controller(const std::string& controller);

  std::string path(std::string_view file) const;

 private:
  struct Impl;
  explicit Authority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
