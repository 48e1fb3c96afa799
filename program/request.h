// The input of matching for one request, set by the session from the parsed head, by tests and `explain` from text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/field.h"
#include "base/ip.h"

namespace edge::program {

/// Views only: valid as long as the buffer that the head was parsed from.
struct RequestView {
  std::string_view method;
  /// Canonical host (base/hostname.h), empty when the request has none.
  std::string_view host;
  /// Normalised path (base/path.h), starting with `/`; `*` for an OPTIONS request of the whole server.
  std::string_view path;
  /// Raw query without the `?`.
  std::string_view query;
  std::span<const Field> headers;
  /// The client's address, as determined through trusted proxies.
  IpAddress source;
};

}  // namespace edge::program
