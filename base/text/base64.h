// Base64 (RFC 4648 §4), padded; and its form for URLs (§5), without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge {

std::string to_base64(std::string_view bytes);
/// nullopt when the text is none. Line ends are passed over, as Kubernetes does.
std::optional<std::string> from_base64(std::string_view text);

std::string to_base64url(std::string_view bytes);
/// Strict, as RFC 7515 §2 needs it: no padding, no line ends, and the bits that the last digit has over are zero, so
/// that no two texts mean the same bytes.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace edge
