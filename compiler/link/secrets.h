// Secrets by name: whether the one that is referred to holds what is needed. Of values no more is looked at than
// whether they are PEM where PEM is needed; they are handed on to travel beside the program, and never shown.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/linked_config.h"
#include "compiler/link/policies/linked_policy.h"
#include "compiler/link/resolve.h"
#include "compiler/model/cluster.h"
#include "compiler/model/gateway_api.h"
#include "compiler/model/resource_set.h"
#include "program/values/secrets.h"

namespace edge::compiler::link {

inline constexpr std::string_view kCertificateType = "kubernetes.io/tls";
inline constexpr std::string_view kAuthorityKey = "ca.crt";

struct SecretTable {
  const std::vector<model::Secret>& secrets;
  const Resolver& names;
  /// ConfigMaps, of which Gateway API has authorities; both or none.
  const std::vector<model::ConfigMap>* config_maps = nullptr;
  const Resolver* config_map_names = nullptr;
};

/// What is asked of a secret.
struct SecretNeed {
  std::string_view key;
  std::size_t size = 0;     ///< bytes of the value; 0: any but none
  std::string_view type{};  ///< empty: any
  std::string_view pem{};   ///< end of the label of a PEM block that must be in it; empty: any value will do
};

/// A certificate with its key, and authorities.
inline constexpr SecretNeed kCertificateNeed{"tls.crt", 0, kCertificateType, "CERTIFICATE"};
inline constexpr SecretNeed kPrivateKeyNeed{"tls.key", 0, kCertificateType, "PRIVATE KEY"};
inline constexpr SecretNeed kAuthorityNeed{kAuthorityKey, 0, {}, "CERTIFICATE"};

enum class SecretFault : std::uint8_t { kNone, kNotPermitted, kNotFound, kUnfit };

/// Resolves a reference of `from` and checks each of `needs`. Faults are reported; the first is returned.
SecretFault check_secret(const model::Metadata& from, const model::Reference& reference,
                         const std::vector<SecretNeed>& needs, const std::string& field, const SecretTable& table,
                         Findings& findings);

/// The key that seals sessions: AES-256 (specification, "Limits").
inline constexpr SecretNeed kSessionSecretNeed{"session-secret", 32};

/// A value for the place of `entry`'s with which check_secret() finds the same, and in which nothing of it is left:
/// whoever links needs to know no secret.
std::string blotted(const model::SecretEntry& entry);

/// Whether the text has a PEM block whose label ends in `label`. What is in the block is the agent's to read.
bool has_pem(std::string_view text, std::string_view label);

/// The same for a ConfigMap with authorities; its name comes behind model::kConfigMapPrefix.
SecretFault check_config_map_authority(const model::Metadata& from, const model::Reference& reference,
                                       const std::string& field, const SecretTable& table, Findings& findings);

/// What a configuration names, with the values: of what is not there nothing.
program::SecretSet collect_secrets(const LinkedConfig& config, const model::ResourceSet& resources);

/// The name of one value of the secret that `reference` of `from` means.
SecretKey secret_key(const model::Metadata& from, const model::Reference& reference, std::string_view key);

}  // namespace edge::compiler::link
