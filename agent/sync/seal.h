// Bytes on disk that only the owner of a key can read or make: AES-256-GCM (RFC 5116). Decision 0060 says what that
// protects from, and what not.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::agent {

inline constexpr std::size_t kSealKeyBytes = 32;

/// The key in `path`; made, readable by the owner alone, where there is none. kFailedPrecondition: others may read it;
/// kDataLoss: it is none.
Result<std::string> seal_key(const std::string& path);

/// What is sealed with `bound_to` opens with the same alone.
Result<std::string> seal(std::string_view key, std::string_view bound_to, std::string_view plain);
/// kDataLoss for anything but what `seal` made with this key.
Result<std::string> open_sealed(std::string_view key, std::string_view bound_to, std::string_view sealed);

}  // namespace edge::agent
