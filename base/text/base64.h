// Base64 (RFC 4648 §4), padded; and its URL-safe form (§5), without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge {

std::string to_base64(std::string_view bytes);
/// nullopt when the text is invalid. Line ends are ignored, as in Kubernetes.
std::optional<std::string> from_base64(std::string_view text);

std::string to_base64url(std::string_view bytes);
/// Strict, as RFC 7515 §2 requires: no padding, no line ends, and unused bits of the last digit are zero, so that every
/// value has only one encoding.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace edge
