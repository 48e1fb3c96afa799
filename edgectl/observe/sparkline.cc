#include "edgectl/observe/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace edge::edgectl {
namespace {

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kNone = "-";

/// Three digits or so; no zeros behind the point.
std::string digits(double value) {
  char text[32];
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  std::string out = text;
  if (decimals > 0) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.ends_with('.')) out.pop_back();
  }
  return out;
}

std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return digits(value) + std::string(units[unit]);
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  if (values.size() > width) values = values.last(width);
  double most = 0;
  for (const double value : values) most = std::isfinite(value) ? std::max(most, value) : most;
  std::string out(width - values.size(), ' ');
  for (const double value : values) {
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    const double part = most > 0 ? std::max(value, 0.0) / most : 0;
    out += kBars[std::min<std::size_t>(static_cast<std::size_t>(part * 8), kBars.size() - 1)];
  }
  return out;
}

std::string short_number(double value) {
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  if (!std::isfinite(value)) return kNone;
  return value < 0 ? "-" + scaled(-value, 1000, kUnits) : scaled(value, 1000, kUnits);
}

std::string short_time(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return kNone;
  if (seconds >= 1) return digits(seconds) + "s";
  return seconds >= 0.001 ? digits(seconds * 1000) + "ms" : digits(seconds * 1e6) + "us";
}

std::string short_bytes(double bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  return std::isfinite(bytes) && bytes >= 0 ? scaled(bytes, 1024, kUnits) : kNone;
}

std::string percent(double fraction) {
  return std::isfinite(fraction) && fraction >= 0 ? digits(fraction * 100) + "%" : kNone;
}

}  // namespace edge::edgectl
