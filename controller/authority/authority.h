// The controller's certificate authority: issues certificates for agents and administrators, and decides who may join.
// Decision 0060.
//
//   Succession   the CAs, one after the other
//   Names, NamedTokens, Revocations (members.h)   who is who, and who was
//   Authority    issues and identifies by them, with one lock, clock and directory
//
// The directory (mode 0700, files 0600) contains
//
//   ca.pem            key and certificate of the CA that signs now
//   ca-next.pem       of the next CA, while agents learn of it
//   ca-previous.pem   certificate of the previous CA, until its certificates expire
//   roots.pem         certificates of all of these
//   server.pem        the controller's server certificate and key
//   join              token and roots, for `edge-agent --token-file`
//   admin.pem         key, certificate and roots of an administrator, for edgectl
//   revoked           agents and other clusters by name, and the time of revocation; administrators too, all of them
//   names             agents and other clusters by name, with the key that each name belongs to, and until when
//   tokens            digests of tokens that are for one name
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/authority/certificates.h"
#include "controller/authority/lifetimes.h"

namespace edge::controller {

struct AuthorityOptions {
  std::string directory;
  std::string controller{};           ///< `HOST:PORT` for the administrator's file; empty: omitted
  std::function<WallTime()> clock{};  ///< null: the system clock
  /// Replaces a CA that is not valid yet, made while the clock was ahead. If false, start waits until it is valid:
  /// agents that trust it could not rejoin by themselves.
  bool replace_early = false;
  /// PEM: join files say that programs are signed with this key, which agents then believe alone. Empty: they do not.
  std::string program_key{};
};

/// The certificate of another cluster's controller that has its name.
struct ShownCertificate {
  std::string key;   ///< as CertificateFacts::key
  WallTime until{};  ///< to the second
  WallTime shown{};  ///< for the first time; the next full second
  friend bool operator==(const ShownCertificate&, const ShownCertificate&) = default;
};

/// Thread-safe.
class Authority {
 public:
  /// Opens the directory, and creates missing files. Fails when others can access the directory.
  static Result<std::unique_ptr<Authority>> open(AuthorityOptions options);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  /// Returns whether a token is valid; in constant time.
  bool is_token(std::string_view presented) const;
  /// A first certificate for an agent, decision 0095. The join file's token gives a name that is free, or this key's.
  /// One that was made for the name takes it from another key, whose certificates are refused from then on.
  /// kUnauthenticated: `is_token` is false; kPermissionDenied: it is another name's, or another key's;
  /// kAlreadyExists: the name is another key's, or reserved; kInvalidArgument for a name or a request that is none.
  Result<std::string> join(std::string_view token, std::string_view name, std::string_view request);
  /// Issues the next certificate of an agent that has presented a valid one: the name is this key's from then on. Fails
  /// as above.
  Result<std::string> sign(std::string_view name, std::string_view request);
  /// Returns a join file with a token for this name only, valid for a day and for the first key that joins with it.
  Result<std::string> join_file_for(std::string_view name);
  /// An agent in this process has this name and needs no certificate: nobody else joins by it, or shows it.
  void reserve(std::string_view name);
  /// A first certificate with its key for the controller of another cluster. Earlier ones of the name are refused from
  /// now on, and this one once a later one was shown. kInvalidArgument: the name is no cluster's, or the lifetime is
  /// none or longer than kMostInvitation.
  Result<KeyPair> invite_remote(std::string_view name, std::chrono::seconds lifetime);
  /// Issues the next certificate of another cluster that has presented a valid one.
  Result<std::string> sign_remote(std::string_view name, std::string_view request);
  /// Issues a certificate by which agents of another cluster call and are called by other clusters' agents, and one for
  /// this cluster itself with its key.
  Result<std::string> sign_cluster(std::string_view name, std::string_view request);
  Result<KeyPair> own_cluster(std::string_view name);
  /// Returns the time up to which certificates of another cluster are revoked; the epoch: none are.
  WallTime remote_revoked_until(std::string_view name) const;
  /// Who has the name of another cluster, by the certificate that was shown last; nullopt: nobody that counts.
  std::optional<ShownCertificate> shown_remote(std::string_view name) const;
  /// Learns what another controller of this cluster has recorded: the name is that key's from then on, where no
  /// certificate was shown here that lasts longer, and nothing was revoked since.
  Status learn_remote(std::string_view name, const ShownCertificate& shown);
  /// Returns whether a certificate is of this authority, or of the one before or after it.
  bool has_issued(std::string_view certificate) const;
  /// Revokes all certificates of another cluster issued so far, or until then, as another controller of this cluster
  /// has revoked them. What was revoked already stays so.
  Status revoke_remote(std::string_view name);
  Status revoke_remote_until(std::string_view name, WallTime until);

  /// Who shows this certificate, whose signature TLS has verified. kUnauthenticated: over, not yet valid, or revoked.
  /// An agent's name is its key's from then on, where no other has it; another cluster's is that of the certificate
  /// which lasts longest, and no other one counts that was issued until that was first shown.
  Result<CertificateFacts> identify(std::string_view certificate);
  /// Returns whether a certificate, identified before, was revoked since.
  bool is_revoked(const CertificateFacts& facts) const;
  /// Revokes all certificates issued for `name` so far, and frees the name.
  Status revoke(std::string_view name);
  /// Returns which agents are revoked, for other controllers of this cluster: lines as in the file `revoked`.
  std::string revoked_agents() const;
  /// Learns what `revoked_agents` says elsewhere. What was revoked already stays so, and a name stays its key's where
  /// that has joined since. Where it has only renewed since, `revoked_agents` has the later time.
  Status learn_revoked_agents(std::string_view text);

  /// Returns the trusted CA certificates, PEM.
  std::string roots() const;
  /// Does periodic work: renews the server's and the administrator's certificates, rotates CAs, and replaces the
  /// administrator's certificate where base/os/operator_files.h requests it, revoking earlier ones. To be called about
  /// once a minute. \returns whether `roots` changed.
  Result<bool> tend();
  /// Begins the rotation of the CA: the next one is trusted from now on, signs after kAgentLifetime, when every agent
  /// has learned of it at its own renewal at the latest, and is the only one after as much time again.
  Status roll_over();
  /// Called once the port is known.
  Status set_controller(const std::string& controller);

  std::string path(std::string_view file) const;

 private:
  struct Impl;
  explicit Authority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
