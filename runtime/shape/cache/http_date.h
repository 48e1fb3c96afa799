// HTTP-date (RFC 9110 §5.6.7): all three forms that must be understood.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/shape/cache/directives.h"

namespace edge::runtime::cache {

/// Seconds since 1970. `now` settles the century of a year of two digits. nullopt for everything else, among it the
/// `0` that some send as Expires.
std::optional<Seconds> parse_http_date(std::string_view text, Seconds now);

}  // namespace edge::runtime::cache
