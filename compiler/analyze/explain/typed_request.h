// A request as a person types it: a URL, fields, an address. It becomes what a session would make of it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "compiler/analyze/space/witness.h"

namespace edge::compiler::analyze {

struct TypedRequest {
  /// The host canonical, the path normalised, field names in lower case.
  Witness request;
  /// The port was written, not told from the scheme.
  bool port_written = false;

  /// `scheme://host[:port]/path?query`. kInvalidArgument says what is wrong with which part; so below.
  Status set_url(std::string_view url);
  /// `host` stands for the URL's authority.
  Status add_header(std::string_view name, std::string_view value);
  Status set_method(std::string_view method);

 private:
  Status set_authority(std::string_view authority);
};

/// RFC 9110 §5.6.2.
bool is_token(std::string_view text);

}  // namespace edge::compiler::analyze
