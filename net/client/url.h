// An absolute URL in configuration and discovery documents: http or https, a host, a port, a target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::net::client {

inline constexpr std::size_t kMaxUrlBytes = 4096;

struct Url {
  bool secure = false;     ///< https
  std::string host;        ///< lower case, an IPv6 address without its brackets
  std::uint16_t port = 0;  ///< never 0 in a parsed one
  std::string target;      ///< path and query as written; begins with `/`

  /// Returns the value of a Host field: with the port where it is not the scheme's default.
  std::string authority() const;
  /// Returns `https://example.com:8443`, the port as above (RFC 6454 §4).
  std::string origin() const;
  friend bool operator==(const Url&, const Url&) = default;
};

/// Parses a URL. Rejects other schemes, user names and passwords (RFC 9110 §4.2.4), fragments, blanks, control bytes
/// and non-ASCII bytes. The error quotes nothing of the text.
Result<Url> parse_url(std::string_view text);

}  // namespace edge::net::client
