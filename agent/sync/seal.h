// Authenticated encryption of files on disk: AES-256-GCM (RFC 5116). Decision 0060 says what it protects from, and what
// not.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::agent {

inline constexpr std::size_t kSealKeyBytes = 32;

/// Returns the key in `path`; generated, readable only by the owner, when missing. kFailedPrecondition: others may read
/// it; kDataLoss: it is invalid.
Result<std::string> seal_key(const std::string& path);

/// Encrypts; decryption requires the same `bound_to`.
Result<std::string> seal(std::string_view key, std::string_view bound_to, std::string_view plain);
/// kDataLoss for anything but the result of `seal` with this key.
Result<std::string> open_sealed(std::string_view key, std::string_view bound_to, std::string_view sealed);

}  // namespace edge::agent
