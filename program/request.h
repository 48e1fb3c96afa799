// What matching sees of one request. The session fills it from the parsed head, tests and `explain` from text.
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
  /// Canonical host (base/hostname.h), empty when the request names none.
  std::string_view host;
  /// Normalised path (net/http1/path.h), starting with `/`; `*` for an OPTIONS request of the whole server.
  std::string_view path;
  /// Raw query without the `?`.
  std::string_view query;
  std::span<const Field> headers;
  /// The client's address, after trusted proxies were taken into account.
  IpAddress source;
};

}  // namespace edge::program
