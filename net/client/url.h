// An absolute URL as configuration and discovery documents name one: http or https, a host, a port, a target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::net::client {

inline constexpr std::size_t kMaxUrlBytes = 4096;

struct Url {
  bool secure = false;     ///< https
  std::string host;        ///< lower case, an address of IPv6 without its brackets
  std::uint16_t port = 0;  ///< never 0 in a parsed one
  std::string target;      ///< path and query as written; begins with `/`

  /// As the Host field has it: with the port where it is not the scheme's.
  std::string authority() const;
  /// `https://example.com:8443`, the port as above (RFC 6454 §4).
  std::string origin() const;
  friend bool operator==(const Url&, const Url&) = default;
};

/// Refuses every other scheme, user names and passwords (RFC 9110 §4.2.4), fragments, blanks, control bytes and bytes
/// that are not ASCII. The error quotes nothing of the text.
Result<Url> parse_url(std::string_view text);

}  // namespace edge::net::client
