// Secrets, which are sent separately from a program and confidentially: the values of the secrets that it refers to.
// Changing them requires no compile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/read.h"

namespace edge::program {

/// Keys of secrets that the runtime uses.
inline constexpr std::string_view kCertificateKey = "tls.crt";
inline constexpr std::string_view kPrivateKeyKey = "tls.key";
/// Optional next to a certificate: an OCSP response for it, DER.
inline constexpr std::string_view kStapleKey = "tls.ocsp-staple";
/// Next to a client CA: PEM of its revocation list.
inline constexpr std::string_view kRevokedKey = "ca.crl";

/// Added by the controller to those of the configuration: 32 bytes by which its agents authenticate the sessions that
/// clients store (session persistence). No Kubernetes resource has a `:` in its name.
inline constexpr std::string_view kSessionSecretSpace = "edge-system";
inline constexpr std::string_view kSessionSecretName = "session-persistence:key";
inline constexpr std::string_view kSessionSecretKey = "key";

struct SecretValue {
  std::string key;
  /// Shared between sets. Never null.
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
  /// For a record in `section`; `key` replaces an empty key of the record.
  const std::string* find(const SectionView& section, const SecretRecord& record, std::string_view key = {}) const;
  /// Sorts the secrets and their values; of duplicates the first is kept.
  void sort();
  friend bool operator==(const SecretSet&, const SecretSet&) = default;
};

/// Returns those of `all` that a record of a program refers to, with all their values. Only these sections of the
/// program refer to secrets.
SecretSet named_by(const SectionView& listeners, const SectionView& backends, const SectionView& policies,
                   const SecretSet& all);

/// The file form of `edge-agent --secrets`: JSON
/// `{"secrets":[{"namespace":"shop","name":"cert","data":{"tls.crt":"LS0t..."}}]}`, values in base64.
/// At most 256 MiB, 100,000 secrets. An error quotes no value.
Result<SecretSet> read_secrets(std::string_view json);
std::string write_secrets(const SecretSet& secrets);

}  // namespace edge::program
