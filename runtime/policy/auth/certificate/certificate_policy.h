// ClientCertificate: requests of clients whose certificates have one of the names pass. docs/client-certificates.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/task.h"
#include "net/tls/peer_identity.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

/// Immutable, shared by all threads.
class CertificatePolicy {
 public:
  static Result<std::shared_ptr<const CertificatePolicy>> make(const PolicyContext& making,
                                                               const program::PolicyRecord& policy,
                                                               const program::ClientCertificateRecord& record);

  /// Never waits. 403 without a certificate that verifies, and with one that is denied or not allowed.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;
  /// The same. `certificate`: null where the client has shown none.
  AuthResult decide(const net::tls::PeerIdentity* certificate) const;

 private:
  /// Texts ascend.
  struct Names {
    std::vector<std::string> dns_names{};
    std::vector<std::string> uris{};
    std::vector<std::string> uri_prefixes{};
    std::vector<std::string> emails{};
    std::vector<Cidr> networks{};
    std::vector<std::string> common_names{};
    std::vector<std::string> fingerprints{};
  };
  static Names names_of(const program::SectionView& section, const program::CertificateNamesRecord& record);
  /// Without the common name.
  static bool names_any(const Names& names, const net::tls::PeerIdentity& identity);

  CertificatePolicy() = default;

  bool allows_all_ = false;
  Names allow_;
  Names deny_;
  std::string identity_header_;
  bool forwards_ = false;
};

/// The name by which a certificate's holder is known: the first of its URIs, DNS names, email addresses; otherwise
/// `sha256:` and its fingerprint.
std::string subject_of(const net::tls::PeerIdentity& identity);
/// The value of X-Forwarded-Client-Cert, in Envoy's form: `Hash=...;Subject="...";URI=...;DNS=...`.
std::string forwarded_certificate(const net::tls::PeerIdentity& identity);

}  // namespace edge::runtime::auth
