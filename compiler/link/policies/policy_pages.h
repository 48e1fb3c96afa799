// Bodies of the proxy's own answers that policies take from ConfigMaps.
#pragma once

#include <cstddef>
#include <optional>

#include "compiler/link/resolve.h"
#include "compiler/link/secrets.h"
#include "compiler/model/policy.h"

namespace edge::compiler::link {

/// Bytes of a body, wherever it is written.
inline constexpr std::size_t kMostBody = 65'536;

/// Returns the policy with the bodies that its ConfigMaps have; nullopt: it names none. One that is not there, that may
/// not be named or that is too large is reported, and sets `usable` to false: the policy cannot be applied as written.
std::optional<model::ProxyPolicy> with_bodies(const model::ProxyPolicy& policy, const SecretTable& tables,
                                              Findings& findings, bool& usable);

}  // namespace edge::compiler::link
