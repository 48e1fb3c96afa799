// The key for session persistence: agents encrypt with it the values that clients store.
#pragma once

#include <optional>

#include "program/sign.h"
#include "program/values/secrets.h"

namespace edge::program {

/// Derived from the key that signs programs, so that it is stable, and all agents of one signer have the same. Sent
/// with the secrets of the configuration. nullopt: the derivation failed, and there is no session persistence.
std::optional<NamedSecret> session_secret(const SigningKey& key);

}  // namespace edge::program
