// Base64 (RFC 4648 §4), padded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge {

std::string to_base64(std::string_view bytes);
/// nullopt when the text is none. Line ends are passed over, as Kubernetes does.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace edge
