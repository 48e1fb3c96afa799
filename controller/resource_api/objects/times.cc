#include <charconv>
#include <chrono>

#include "controller/resource_api/objects/metadata.h"

namespace edge::resource_api::objects {
namespace {

/// Digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// Seconds east of UTC of `Z`, `+02:00`; false when it is neither.
bool offset_of(std::string_view zone, int& seconds) {
  seconds = 0;
  if (zone == "Z" || zone == "z") return true;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return false;
  const int hours = digits(zone, 1, 2);
  const int minutes = digits(zone, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
  seconds = (hours * 60 + minutes) * 60 * (zone[0] == '-' ? -1 : 1);
  return true;
}

void append(std::string& out, int value, int width) {
  std::string text = std::to_string(value);
  out.append(static_cast<std::size_t>(width) - std::min(text.size(), static_cast<std::size_t>(width)), '0');
  out += text;
}

}  // namespace

std::int64_t time_of(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':') {
    return -1;
  }
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (month < 0 || day < 0 || !date.ok()) return -1;
  std::string_view zone = text.substr(19);
  if (zone.starts_with('.')) {
    const std::size_t end = zone.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return -1;
    zone.remove_prefix(end);
  }
  int offset = 0;
  if (!offset_of(zone, offset)) return -1;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second - offset;
}

std::string time_text(std::int64_t unix_seconds) {
  constexpr std::int64_t kDay = 86'400;
  const std::int64_t in_day = ((unix_seconds % kDay) + kDay) % kDay;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days((unix_seconds - in_day) / kDay))};
  std::string out;
  append(out, static_cast<int>(date.year()), 4);
  out += '-';
  append(out, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  out += '-';
  append(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  out += 'T';
  append(out, static_cast<int>(in_day / 3600), 2);
  out += ':';
  append(out, static_cast<int>(in_day / 60 % 60), 2);
  out += ':';
  append(out, static_cast<int>(in_day % 60), 2);
  return out + "Z";
}

}  // namespace edge::resource_api::objects
