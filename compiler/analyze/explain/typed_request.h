// A request as typed by a user: a URL, fields, an address; converted to the form in which the data plane matches it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/analyze/space/witness.h"

namespace edge::compiler::analyze {

struct TypedRequest {
  /// The host canonical, the path normalised, field names in lower case.
  Witness request;
  /// The port is explicit, not implied by the scheme.
  bool port_written = false;
  /// The host of the URL, which a client names in its TLS handshake whatever its field Host says; empty: the URL has
  /// an address, and clients name none (RFC 6066 §3).
  std::string server_name{};

  /// Parses `scheme://host[:port]/path?query`. kInvalidArgument says which part is invalid; the same below.
  Status set_url(std::string_view url);
  /// `host` replaces the URL's authority.
  Status add_header(std::string_view name, std::string_view value);
  Status set_method(std::string_view method);

 private:
  Status set_authority(std::string_view authority);
};

/// Returns whether a text is a token, RFC 9110 §5.6.2.
bool is_token(std::string_view text);

}  // namespace edge::compiler::analyze
