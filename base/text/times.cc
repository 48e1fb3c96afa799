#include "base/text/times.h"

#include <cstdio>
#include <ctime>

namespace edge {
namespace {

std::tm utc_of(std::int64_t unix_seconds) {
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  return utc;
}

}  // namespace

std::string rfc3339(std::int64_t unix_seconds) {
  const std::tm utc = utc_of(unix_seconds);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
}

void write_http_date(std::int64_t unix_seconds, std::span<char, 30> out) {
  const std::tm utc = utc_of(unix_seconds);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // By hand, because strftime follows the locale.
  std::snprintf(out.data(), out.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[utc.tm_wday % 7],
                utc.tm_mday % 100, kMonths[utc.tm_mon % 12], (utc.tm_year + 1900) % 10000, utc.tm_hour % 100,
                utc.tm_min % 100, utc.tm_sec % 100);
}

}  // namespace edge
