// What travels beside a program and must be known to few: the values of the secrets that it names. Changing them
// recompiles nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/read.h"

namespace edge::program {

/// Keys of secrets that the runtime asks for.
inline constexpr std::string_view kCertificateKey = "tls.crt";
inline constexpr std::string_view kPrivateKeyKey = "tls.key";
/// Beside a certificate, where it is: an OCSP response for it, DER.
inline constexpr std::string_view kStapleKey = "tls.ocsp-staple";
/// Beside an authority of clients: PEM of what it has revoked.
inline constexpr std::string_view kRevokedKey = "ca.crl";

/// What the controller adds to those of the configuration: 32 bytes by which its agents know the sessions that they
/// have given to clients (session persistence). No resource of Kubernetes has a `:` in its name.
inline constexpr std::string_view kSessionSecretSpace = "edge-system";
inline constexpr std::string_view kSessionSecretName = "session-persistence:key";
inline constexpr std::string_view kSessionSecretKey = "key";

struct SecretValue {
  std::string key;
  /// Shared by the sets that hold it. Never null.
  std::shared_ptr<const std::string> value;
  friend bool operator==(const SecretValue& a, const SecretValue& b) {
    return a.key == b.key && (a.value == b.value || *a.value == *b.value);
  }
};

struct NamedSecret {
  std::string name_space;
  std::string name;
  std::vector<SecretValue> values;  ///< ascending by key
  friend bool operator==(const NamedSecret&, const NamedSecret&) = default;
};

/// Ascending by namespace and name.
struct SecretSet {
  std::vector<NamedSecret> secrets;

  /// Null when there is none.
  const std::string* find(std::string_view name_space, std::string_view name, std::string_view key) const;
  /// Of a record in `section`; `key` in place of the record's own where that is empty.
  const std::string* find(const SectionView& section, const SecretRecord& record, std::string_view key = {}) const;
  /// Puts the secrets and their values in order; of doubles the first stays.
  void sort();
  friend bool operator==(const SecretSet&, const SecretSet&) = default;
};

/// Of `all` those that a record of a program names, with every value that `all` has of them. Of the program these
/// sections alone name secrets.
SecretSet named_by(const SectionView& listeners, const SectionView& backends, const SectionView& policies,
                   const SecretSet& all);

/// The file form of `edge-agent --secrets`: JSON
/// `{"secrets":[{"namespace":"shop","name":"cert","data":{"tls.crt":"LS0t..."}}]}`, values in base64.
/// At most 256 MiB, 100,000 secrets. An error quotes no value.
Result<SecretSet> read_secrets(std::string_view json);
std::string write_secrets(const SecretSet& secrets);

}  // namespace edge::program
