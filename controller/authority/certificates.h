// Certificates of the controller's own authority: who one is for, how it is made and what is read from it. All keys are
// on P-256 (RFC 5480), all signatures ECDSA with SHA-256.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::controller {

using WallTime = std::chrono::system_clock::time_point;

enum class Role { kAgent, kAdministrator, kController };

/// Stands in a certificate as the URI `edge://<role>/<name>`; the name is the CN too. That of an agent in another
/// cluster has the cluster before it (base/resource_id.h): `edge://agent/berlin:edge-1`.
struct Subject {
  Role role = Role::kAgent;
  std::string name;
  friend bool operator==(const Subject&, const Subject&) = default;
};

/// Lower-case letters, digits, `-` and `.`, not at the ends; at most 253. Perhaps with a cluster before it.
bool is_subject_name(std::string_view name);

/// Whom a certificate is for that other programs than ours go by.
struct PlainSubject {
  enum class Use { kClient, kServer };
  Use use = Use::kClient;
  std::string common_name;
  std::vector<std::string> organizations{};
  std::vector<std::string> hosts{};      ///< names in DNS
  std::vector<std::string> addresses{};  ///< as numbers
};

struct Validity {
  WallTime from{};
  WallTime until{};
};

/// What is believed of a certificate whose signature TLS has verified.
struct CertificateFacts {
  Subject subject;
  Validity validity;
  WallTime issued{};  ///< to the millisecond: the first eight bytes of the serial number
  std::string key;    ///< SHA-256 of the public key, hex
};
/// Of the first certificate in `pem`. kUnauthenticated when it is none of this authority's kind.
Result<CertificateFacts> read_certificate(std::string_view pem);

/// As CertificateFacts::key, of the key in a request (PKCS#10). kInvalidArgument when it is none.
Result<std::string> key_of_request(std::string_view request);

/// When the certificate of a serial number (bytes, the most significant first) was issued; the epoch for a number that
/// is none of ours.
WallTime issued_by(std::string_view serial);
/// The same of the first certificate in `pem`.
WallTime issue_of(std::string_view pem);

/// Of the first certificate in `pem`, whomever it is for. kInvalidArgument when there is none.
Result<Validity> validity_of(std::string_view pem);

struct KeyPair {
  std::string key;          ///< PKCS#8, PEM
  std::string certificate;  ///< PEM
};

/// An authority: its key and its certificate. Immutable.
class Issuer {
 public:
  static Result<Issuer> create(Validity validity);
  static Result<Issuer> from_pem(std::string_view key_and_certificate);

  /// Key and certificate.
  std::string pem() const;
  const std::string& certificate() const;
  const Validity& validity() const;
  /// Whether the first certificate in `pem` is signed by this authority.
  bool has_issued(std::string_view pem) const;

  /// A certificate for the key of a request (PKCS#10). Of the request only the key is taken: who asks does not choose
  /// its name. kInvalidArgument when it is none, not signed with its own key, or the key is on another curve.
  Result<std::string> issue(const Subject& subject, Validity validity, WallTime now, std::string_view request) const;
  /// The same with a fresh key.
  Result<KeyPair> issue(const Subject& subject, Validity validity, WallTime now) const;
  /// For another subject, with a fresh key. kInvalidArgument for a name that no certificate can hold.
  Result<KeyPair> issue(const PlainSubject& subject, Validity validity, WallTime now) const;

 private:
  struct Impl;
  explicit Issuer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace edge::controller
