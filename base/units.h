// Durations, sizes and timestamps as the specification writes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge {

/// `25ms`, `5s`, `5m`, `1h`, and sums as Go writes them (`1h30m`); units ns, us, ms, s, m, h. Not negative, at most
/// 10 years. nullopt otherwise; a number without a unit is refused, save 0.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
std::string duration_text(std::chrono::nanoseconds duration);

/// Size string ("Limits" of the specification): no suffix bytes; Ki, Mi, Gi powers of 1024; KB, MB powers of 1000
/// (GB is taken likewise). nullopt on anything else or past 2^63 - 1.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// RFC 3339, as metadata.creationTimestamp carries. Seconds since the epoch.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace edge
