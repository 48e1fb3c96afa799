// HTTP-date (RFC 9110 §5.6.7): the three formats that a recipient must accept.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/shape/cache/directives.h"

namespace edge::runtime::cache {

/// Returns seconds since 1970. `now` determines the century of a two-digit year. nullopt for everything else, including
/// the `0` that some servers send as Expires.
std::optional<Seconds> parse_http_date(std::string_view text, Seconds now);

}  // namespace edge::runtime::cache
