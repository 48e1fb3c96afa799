// Secrets by name: whether the one that is referred to holds what is needed. Values are never looked at, only handed
// on to travel beside the program.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/linked_config.h"
#include "compiler/link/linked_policy.h"
#include "compiler/link/resolve.h"
#include "compiler/model/cluster.h"
#include "compiler/model/gateway_api.h"
#include "program/secrets.h"

namespace edge::compiler::link {

inline constexpr std::string_view kCertificateType = "kubernetes.io/tls";
inline constexpr std::string_view kAuthorityKey = "ca.crt";

struct SecretTable {
  const std::vector<model::Secret>& secrets;
  const Resolver& names;
};

/// What is asked of a secret.
struct SecretNeed {
  std::string_view key;
  std::size_t size = 0;     ///< bytes of the value; 0: any but none
  std::string_view type{};  ///< empty: any
};

enum class SecretFault : std::uint8_t { kNone, kNotPermitted, kNotFound, kUnfit };

/// Resolves a reference of `from` and checks each of `needs`. Faults are reported; the first is returned.
SecretFault check_secret(const model::Metadata& from, const model::Reference& reference,
                         const std::vector<SecretNeed>& needs, const std::string& field, const SecretTable& table,
                         Findings& findings);

/// What a configuration names, with the values: of what is not there nothing.
program::SecretSet collect_secrets(const LinkedConfig& config, const std::vector<model::Secret>& secrets,
                                   const std::vector<model::ConfigMap>& config_maps);

/// The name of one value of the secret that `reference` of `from` means.
SecretKey secret_key(const model::Metadata& from, const model::Reference& reference, std::string_view key);

}  // namespace edge::compiler::link
