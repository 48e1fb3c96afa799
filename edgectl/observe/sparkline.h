// Formats numbers for users: bar charts in a line, and short rates, times and sizes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace edge::edgectl {

/// Returns the last `width` of `values`, a character each, scaled from 0 to the largest; right-aligned, with blanks for
/// missing values. NaN is a blank.
std::string sparkline(std::span<const double> values, std::size_t width);

/// `0`, `0.25`, `12.3`, `1.2k`, `3.4M`; `-` for NaN.
std::string short_number(double value);
/// Formats seconds: `850us`, `12.3ms`, `1.5s`; `-` for NaN.
std::string short_time(double seconds);
/// `512B`, `1.5KiB`, `2.0GiB`.
std::string short_bytes(double bytes);
/// Formats a fraction: `0%`, `0.02%`, `12.5%`.
std::string percent(double fraction);

}  // namespace edge::edgectl
