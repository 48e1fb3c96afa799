// Numbers for people: a row of little bars, and rates, times and sizes in few characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace edge::edgectl {

/// The last `width` of `values`, a character each, from 0 to the largest of them; on the right, with blanks before what
/// is not known yet. What is no number is a blank.
std::string sparkline(std::span<const double> values, std::size_t width);

/// `0`, `0.25`, `12.3`, `1.2k`, `3.4M`; `-` for what is no number.
std::string short_number(double value);
/// Of seconds: `850us`, `12.3ms`, `1.5s`; `-` for what is no number.
std::string short_time(double seconds);
/// `512B`, `1.5KiB`, `2.0GiB`.
std::string short_bytes(double bytes);
/// Of a fraction: `0%`, `0.02%`, `12.5%`.
std::string percent(double fraction);

}  // namespace edge::edgectl
