// A program's TLS with the secrets that it names: what listeners show to clients, and how backends are called.
//
// Made apart from the program, as secrets change without it; every thread takes one with the program that it is of. A
// secret that is missing or at fault is told of, and touches its own names alone: nothing is served in plain text, or
// unchecked, for it.
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
#include "runtime/tls/expiry.h"

namespace edge::runtime {

class TlsStore {
 public:
  /// What `previous` holds of the same secrets and settings is shared, not made again: sessions with backends go on.
  /// `tickets` seal what clients come back with.
  static std::shared_ptr<const TlsStore> make(const LoadedProgram& program, const program::SecretSet& secrets,
                                              std::shared_ptr<net::tls::TicketKeys> tickets, const TlsStore* previous);

  /// The listeners of a bind that decrypt; null where none does.
  const std::shared_ptr<const net::tls::Sites>& sites(std::uint32_t bind) const { return sites_[bind]; }
  /// One a BackendRecord. Null: no TLS, or, where the record asks for it, no connection may be made.
  std::span<const std::shared_ptr<const net::tls::ClientContext>> backends() const { return backends_; }
  /// The listener (an index into the program's) decrypts, and has no certificate to show: every handshake is refused.
  bool shows_nothing(std::uint32_t listener) const { return shows_nothing_[listener]; }
  /// One line a secret that cannot be used, and what comes of it. No values.
  const std::vector<std::string>& faults() const { return faults_; }
  /// One a secret with a certificate that is used, ascending by name.
  std::vector<CertificateExpiry> expiries() const;

 private:
  friend class TlsStoreBuilder;
  /// A pair of texts and what was read from them.
  struct KnownCertificate {
    std::string chain;
    std::string key;
    std::string staple;
    net::tls::ServerCertificate made;
  };
  using Name = std::pair<std::string, std::string>;

  std::vector<std::shared_ptr<const net::tls::Sites>> sites_;
  std::vector<std::shared_ptr<const net::tls::ClientContext>> backends_;
  std::vector<bool> shows_nothing_;
  std::vector<std::string> faults_;
  std::map<Name, KnownCertificate> certificates_;
  /// By everything that they were made of.
  std::map<std::string, std::shared_ptr<const net::tls::Authorities>> authorities_;
  std::map<std::string, std::shared_ptr<const net::tls::ServerContext>> server_contexts_;
  std::map<std::string, std::shared_ptr<const net::tls::ClientContext>> client_contexts_;
};

}  // namespace edge::runtime
