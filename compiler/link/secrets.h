// Checks referenced secrets for the required contents. Of values only the PEM format is checked, where needed; they are
// passed on as values, and never shown.
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
/// Of Secrets that policies name: a JWK set, a secret that a token issuer shares, and keys of API clients.
inline constexpr std::string_view kJwksKey = "jwks";
inline constexpr std::string_view kHmacKey = "secret";
inline constexpr std::string_view kApiKeysKey = "api-keys";

struct SecretTable {
  const std::vector<model::Secret>& secrets;
  const Resolver& names;
  /// ConfigMaps, which Gateway API allows for CAs; both or none.
  const std::vector<model::ConfigMap>* config_maps = nullptr;
  const Resolver* config_map_names = nullptr;
};

/// The requirements on a secret.
struct SecretNeed {
  std::string_view key;
  std::size_t size = 0;     ///< bytes of the value; 0: any but empty
  std::string_view type{};  ///< empty: any
  std::string_view pem{};   ///< end of the label of a required PEM block; empty: any value
};

/// A certificate with its key, and CAs.
inline constexpr SecretNeed kCertificateNeed{"tls.crt", 0, kCertificateType, "CERTIFICATE"};
inline constexpr SecretNeed kPrivateKeyNeed{"tls.key", 0, kCertificateType, "PRIVATE KEY"};
inline constexpr SecretNeed kAuthorityNeed{kAuthorityKey, 0, {}, "CERTIFICATE"};

enum class SecretFault : std::uint8_t { kNone, kNotPermitted, kNotFound, kUnfit };

/// Resolves a reference of `from` and checks each of `needs`. Errors are reported; the first is returned.
SecretFault check_secret(const model::Metadata& from, const model::Reference& reference,
                         const std::vector<SecretNeed>& needs, const std::string& field, const SecretTable& table,
                         Findings& findings);

/// The key that encrypts sessions: AES-256 (specification, "Limits").
inline constexpr SecretNeed kSessionSecretNeed{"session-secret", 32};

/// Returns a placeholder for the value of `entry` for which check_secret() has the same result: linking needs no real
/// secrets.
std::string blotted(const model::SecretEntry& entry);

/// Returns whether the text has a PEM block whose label ends in `label`. The block's contents are parsed by the agent.
bool has_pem(std::string_view text, std::string_view label);

/// The same for a ConfigMap with a list of networks; its name has no prefix.
SecretFault check_config_map_networks(const model::Metadata& from, const model::Reference& reference,
                                      const std::string& field, const SecretTable& table, Findings& findings);

/// Returns a placeholder for a list of networks, for which check_config_map_networks() has the same result.
std::string blotted_networks(const std::string& text);

/// The same for a ConfigMap with CAs; its name follows model::kConfigMapPrefix.
SecretFault check_config_map_authority(const model::Metadata& from, const model::Reference& reference,
                                       const std::string& field, const SecretTable& table, Findings& findings);

/// Returns the secrets that a configuration refers to, with their values; without missing ones.
program::SecretSet collect_secrets(const LinkedConfig& config, const model::ResourceSet& resources);

/// Returns the name of one value of the secret that `reference` of `from` refers to.
SecretKey secret_key(const model::Metadata& from, const model::Reference& reference, std::string_view key);

}  // namespace edge::compiler::link
