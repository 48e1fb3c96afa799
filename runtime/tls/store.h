// A program's TLS contexts, made from the secrets that it names: for listeners and for backends.
//
// Made apart from the program, because secrets change without it; every thread switches to a store together with its
// program. A missing or invalid secret is reported, and affects only the names that use it: nothing falls back to plain
// text or to unverified TLS.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/tls/client.h"
#include "net/tls/server.h"
#include "program/values/secrets.h"
#include "runtime/match/load.h"
#include "runtime/tls/challenges.h"
#include "runtime/tls/expiry.h"

namespace edge::runtime {

class TlsStore {
 public:
  /// Makes a store. Contexts of equal secrets and settings are shared with `previous`, so that sessions with backends
  /// can be resumed. `tickets` encrypt the session tickets.
  static std::shared_ptr<const TlsStore> make(const LoadedProgram& program, const program::SecretSet& secrets,
                                              std::shared_ptr<net::tls::TicketKeys> tickets, const TlsStore* previous);

  /// Returns the decrypting listeners of a bind; null where there are none, and for an index that is no bind's (kNone).
  const std::shared_ptr<const net::tls::Sites>& sites(std::uint32_t bind) const {
    static const std::shared_ptr<const net::tls::Sites> kNoSites;
    return bind < sites_.size() ? sites_[bind] : kNoSites;
  }
  /// Returns one context per BackendRecord. Null: no TLS, or, where the record requires TLS, no connection is allowed.
  std::span<const std::shared_ptr<const net::tls::ClientContext>> backends() const { return backends_; }
  /// By cluster.
  using ClusterContexts = std::map<std::string, std::shared_ptr<const net::tls::ClientContext>, std::less<>>;
  /// Returns the contexts of each ClusterRefRecord: one, or for `*` one for each cluster that is known. Null: no
  /// connection is allowed.
  std::span<const ClusterContexts> clusters() const { return clusters_; }
  /// Returns which other clusters are believed, by the list of those that may call and be called. Null: the program has
  /// neither listeners for other clusters nor backends of them.
  const std::shared_ptr<const net::tls::Authorities>& cluster_peers() const { return cluster_peers_; }
  /// Returns whether a listener (by index in the program) decrypts but has no certificate: every handshake is refused.
  bool shows_nothing(std::uint32_t listener) const { return shows_nothing_[listener]; }
  /// Returns the answers to CAs that validate names; null: none does.
  const std::shared_ptr<const Challenges>& challenges() const { return challenges_; }
  /// Returns one line per unusable secret, with the consequence. Without values.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Returns one entry per secret with a certificate in use, ascending by name.
  std::vector<CertificateExpiry> expiries() const;

 private:
  friend class TlsStoreBuilder;
  /// Certificate and key as text, and what was parsed from them.
  struct KnownCertificate {
    std::string chain;
    std::string key;
    std::string staple;
    net::tls::ServerCertificate made;
  };
  using Name = std::pair<std::string, std::string>;

  std::vector<std::shared_ptr<const net::tls::Sites>> sites_;
  std::vector<std::shared_ptr<const net::tls::ClientContext>> backends_;
  std::vector<ClusterContexts> clusters_;
  std::shared_ptr<const net::tls::Authorities> cluster_peers_;
  std::vector<bool> shows_nothing_;
  std::shared_ptr<const Challenges> challenges_;
  std::vector<std::string> faults_;
  std::map<Name, KnownCertificate> certificates_;
  /// By everything that they were made from.
  std::map<std::string, std::shared_ptr<const net::tls::Authorities>> authorities_;
  std::map<std::string, std::shared_ptr<const net::tls::ServerContext>> server_contexts_;
  std::map<std::string, std::shared_ptr<const net::tls::ClientContext>> client_contexts_;
};

}  // namespace edge::runtime
