// Certificates of the controller's CA: subjects, issuing, and parsing. All keys are on P-256 (RFC 5480), all signatures
// ECDSA with SHA-256.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::controller {

using WallTime = std::chrono::system_clock::time_point;

/// kRemote: the controller of another cluster. kCluster: agents of a cluster before those of another, both ways.
enum class Role { kAgent, kAdministrator, kController, kRemote, kCluster };

/// In a certificate as the URI `edge://<role>/<name>`; the name is the CN too. The name of an agent in another cluster
/// begins with the cluster (base/resource_id.h): `edge://agent/berlin:edge-1`. That of another cluster's controller is
/// the cluster's: `edge://remote/berlin`.
struct Subject {
  Role role = Role::kAgent;
  std::string name;
  friend bool operator==(const Subject&, const Subject&) = default;
};

/// Returns whether a name consists of lower-case letters, digits, `-` and `.`, not at its ends; at most 253. A cluster
/// may precede it.
bool is_subject_name(std::string_view name);

/// The subject of a certificate for use with third-party programs.
struct PlainSubject {
  enum class Use { kClient, kServer };
  Use use = Use::kClient;
  std::string common_name;
  std::vector<std::string> organizations{};
  std::vector<std::string> hosts{};      ///< DNS names
  std::vector<std::string> addresses{};  ///< IP addresses
};

struct Validity {
  WallTime from{};
  WallTime until{};
};

/// The facts in a certificate whose signature TLS has verified.
struct CertificateFacts {
  Subject subject;
  Validity validity;
  WallTime issued{};  ///< to the millisecond: the first eight bytes of the serial number
  std::string key;    ///< SHA-256 of the public key, hex
};
/// Parses the first certificate in `pem`. kUnauthenticated when it is not of this CA's form.
Result<CertificateFacts> read_certificate(std::string_view pem);

/// Returns the key id of a request (PKCS#10), as CertificateFacts::key. kInvalidArgument when it is invalid.
Result<std::string> key_of_request(std::string_view request);

/// Returns the time of issue in a serial number (bytes, most significant first); the epoch for a number of another
/// form.
WallTime issued_by(std::string_view serial);
/// Returns the same for the first certificate in `pem`.
WallTime issue_of(std::string_view pem);

/// Returns the validity of the first certificate in `pem`, whatever its subject. kInvalidArgument when there is none.
Result<Validity> validity_of(std::string_view pem);

/// Returns whether the first certificate in `pem` was signed by the key of the first one in `authority`.
bool is_signed_by(std::string_view pem, std::string_view authority);

struct KeyPair {
  std::string key;          ///< PKCS#8, PEM
  std::string certificate;  ///< PEM
};

/// A CA: its key and its certificate. Immutable.
class Issuer {
 public:
  static Result<Issuer> create(Validity validity);
  static Result<Issuer> from_pem(std::string_view key_and_certificate);

  /// Returns key and certificate.
  std::string pem() const;
  const std::string& certificate() const;
  const Validity& validity() const;
  /// Returns whether the first certificate in `pem` was signed by this CA.
  bool has_issued(std::string_view pem) const;

  /// Issues a certificate for the key of a request (PKCS#10). The requested subject is ignored. kInvalidArgument when
  /// the request is invalid, not signed with its own key, or the key is on another curve.
  Result<std::string> issue(const Subject& subject, Validity validity, WallTime now, std::string_view request) const;
  /// Issues a certificate for a new key.
  Result<KeyPair> issue(const Subject& subject, Validity validity, WallTime now) const;
  /// Issues a certificate with another form of subject for a new key. kInvalidArgument for a name that a certificate
  /// cannot contain.
  Result<KeyPair> issue(const PlainSubject& subject, Validity validity, WallTime now) const;

 private:
  struct Impl;
  explicit Issuer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace edge::controller
