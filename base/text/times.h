// Times as text, in UTC.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace edge {

/// Returns `2026-01-31T12:00:00Z` (RFC 3339) of seconds since 1970.
std::string rfc3339(std::int64_t unix_seconds);

/// Writes an IMF-fixdate (RFC 9110 §5.6.7), 29 characters and a zero, whatever the locale.
void write_http_date(std::int64_t unix_seconds, std::span<char, 30> out);

}  // namespace edge
