// The key of client sessions (session persistence): what agents seal the values with that clients keep.
#pragma once

#include <optional>

#include "program/sign.h"
#include "program/values/secrets.h"

namespace edge::program {

/// Derived from the key that signs programs, so that it outlives whoever gives it, and every agent of one signer has
/// the same. It travels with the secrets of the configuration. nullopt: none could be derived, and clients have no
/// sessions.
std::optional<NamedSecret> session_secret(const SigningKey& key);

}  // namespace edge::program
