#include "base/units.h"

#include <array>
#include <charconv>
#include <limits>

namespace edge {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Longer names first, so that `ms` is not read as `m`.
constexpr Unit kDurations[] = {
    {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
constexpr std::uint64_t kLongestDuration = std::uint64_t{10} * 365 * 24 * 3'600'000'000'000;

constexpr Unit kSizes[] = {{"", 1},       {"Ki", 1 << 10},   {"Mi", 1 << 20},      {"Gi", 1 << 30},
                           {"KB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}};

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Reads `text[at, at + digits)` as a number; false when a byte is no digit.
bool read_digits(std::string_view text, std::size_t at, std::size_t digits, int& out) {
  if (at + digits > text.size()) return false;
  out = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (!digit(text[i])) return false;
    out = out * 10 + (text[i] - '0');
  }
  return true;
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
std::int64_t days_from_civil(int year, int month, int day) {
  return std::chrono::sys_days(std::chrono::year(year) / month / day).time_since_epoch().count();
}

/// `Z`, `+hh:mm` or `-hh:mm` as seconds east of UTC.
std::optional<int> parse_zone(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  int hours = 0;
  int minutes = 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' || !read_digits(text, 1, 2, hours) ||
      !read_digits(text, 4, 2, minutes) || hours > 23 || minutes > 59) {
    return std::nullopt;
  }
  const int seconds = hours * 3600 + minutes * 60;
  return text[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  // Fractions (`1.5h`) are kept exact: digits and their scale, multiplied out in 128 bits.
  unsigned __int128 total = 0;
  while (!text.empty()) {
    unsigned __int128 number = 0;
    unsigned __int128 scale = 1;
    std::size_t at = 0;
    std::size_t digits = 0;
    bool fraction = false;
    for (; at < text.size() && (digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
      if (text[at] == '.') {
        fraction = true;
        continue;
      }
      if (++digits > 18) return std::nullopt;
      number = number * 10 + static_cast<unsigned>(text[at] - '0');
      if (fraction) scale *= 10;
    }
    if (digits == 0 || text[at - 1] == '.') return std::nullopt;
    text.remove_prefix(at);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kDurations) {
      if (!text.starts_with(candidate.name)) continue;
      unit = &candidate;
      break;
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->factor / scale;
    if (total > kLongestDuration) return std::nullopt;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

std::string duration_text(std::chrono::nanoseconds duration) {
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (rest == 0) return "0s";
  std::string text;
  constexpr std::array<std::size_t, 6> kLargestFirst = {5, 4, 3, 2, 1, 0};
  for (const std::size_t index : kLargestFirst) {
    const Unit& unit = kDurations[index];
    if (rest < unit.factor) continue;
    text += std::to_string(rest / unit.factor);
    text += unit.name;
    rest %= unit.factor;
  }
  return text;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : kSizes) {
    if (unit.name != suffix) continue;
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (number > kLargest / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const bool shape = text.size() >= 20 && text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == 't') &&
                     text[13] == ':' && text[16] == ':' && read_digits(text, 0, 4, year) &&
                     read_digits(text, 5, 2, month) && read_digits(text, 8, 2, day) && read_digits(text, 11, 2, hour) &&
                     read_digits(text, 14, 2, minute) && read_digits(text, 17, 2, second);
  // 60 is a leap second; it counts as the second before it.
  if (!shape || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (!(std::chrono::year(year) / month / day).ok()) return std::nullopt;
  if (second == 60) second = 59;
  std::size_t at = 19;
  if (text[at] == '.') {
    do ++at;
    while (at < text.size() && digit(text[at]));
    if (at == 20) return std::nullopt;
  }
  const auto zone = parse_zone(text.substr(at));
  if (!zone) return std::nullopt;
  return days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - *zone;
}

}  // namespace edge
