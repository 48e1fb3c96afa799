// Keys, requests and certificates for ACME: what is made for a CA, and what is read of its answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/link/linked_settings.h"

namespace edge::controller::acme {

/// Returns a new key, PKCS#8 in PEM.
Result<std::string> make_key(compiler::CertificateKeyType type);
/// Returns a request (PKCS#10, DER) for one host name, which may be a wildcard, signed with `key`.
Result<std::string> make_request(const std::string& key, const std::string& host);
/// Returns what is shown for tls-alpn-01 (RFC 8737 §3): a certificate with the key authorization's hash, and its key.
Result<std::string> challenge_certificate(const std::string& host, const std::string& key_authorization);
/// Returns the value of the TXT record of dns-01 (RFC 8555 §8.4).
std::string dns_value(std::string_view key_authorization);

struct CertificateView {
  std::vector<std::string> names{};  ///< DNS names, lower case
  std::int64_t from = 0;             ///< seconds since 1970
  std::int64_t until = 0;
  compiler::CertificateKeyType key_type = compiler::CertificateKeyType::kEc256;
  bool has_known_key_type = false;
  std::string renewal_id{};      ///< RFC 9773 §4.1; empty: it has no authority key identifier
  std::string top_issuer{};      ///< common name of the issuer of the chain's last certificate
  std::string responder{};       ///< URL of its OCSP responder; empty: it names none
  bool asks_for_staple = false;  ///< RFC 7633

  bool is_for(std::string_view host) const;
};
/// Parses a chain, whose first certificate must be of `key`. At most 16 certificates; the error quotes nothing of it.
Result<CertificateView> view_certificate(std::string_view chain, std::string_view key);

}  // namespace edge::controller::acme
