// Parses durations, sizes and timestamps in the formats of the specification.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge {

/// Parses `25ms`, `5s`, `5m`, `1h`, and sums as in Go (`1h30m`); units ns, us, ms, s, m, h. Not negative, at most 10
/// years. nullopt otherwise; a number without a unit is rejected, except 0.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
std::string duration_text(std::chrono::nanoseconds duration);

/// Parses a size ("Limits" of the specification): no suffix bytes; Ki, Mi, Gi powers of 1024; KB, MB powers of 1000 (GB
/// is accepted likewise). nullopt for anything else or beyond 2^63 - 1.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Parses RFC 3339, as in metadata.creationTimestamp. Returns seconds since the epoch.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace edge
