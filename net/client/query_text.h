// Encodes text as a part of a URL's query or path.
#pragma once

#include <string>
#include <string_view>

namespace edge::net::client {

/// Percent-encodes every byte but letters, digits and `-._~` (RFC 3986 §2.3).
std::string url_encoded(std::string_view text);

}  // namespace edge::net::client
