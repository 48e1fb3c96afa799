#include "runtime/shape/cache/http_date.h"

#include <array>
#include <chrono>
#include <cstddef>

namespace edge::runtime::cache {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr int kSecondsADay = 86400;

/// Parses from left to right; after a mismatch all further reads return false.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  void literal(std::string_view text) {
    ok_ = ok_ && rest_.starts_with(text);
    if (ok_) rest_.remove_prefix(text.size());
  }
  /// Exactly so many digits; a leading blank stands for 0 where `padded`.
  int number(std::size_t digits, bool padded = false) {
    ok_ = ok_ && rest_.size() >= digits;
    int value = 0;
    for (std::size_t i = 0; ok_ && i < digits; ++i) {
      const char c = padded && i == 0 && rest_[i] == ' ' ? '0' : rest_[i];
      ok_ = c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    if (ok_) rest_.remove_prefix(digits);
    return value;
  }
  template <std::size_t kCount>
  unsigned one_of(const std::array<std::string_view, kCount>& names) {
    for (unsigned i = 0; ok_ && i < kCount; ++i) {
      if (!rest_.starts_with(names[i])) continue;
      rest_.remove_prefix(names[i].size());
      return i;
    }
    ok_ = false;
    return 0;
  }
  int time_of_day() {
    const int hour = number(2);
    literal(":");
    const int minute = number(2);
    literal(":");
    const int second = number(2);
    // 60 is a leap second.
    ok_ = ok_ && hour < 24 && minute < 60 && second <= 60;
    return hour * 3600 + minute * 60 + second;
  }
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::optional<Seconds> seconds_of(const DateReader& reader, int year, unsigned month, int day, int time_of_day) {
  if (!reader.complete()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month + 1),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return Seconds{std::chrono::sys_days(date).time_since_epoch().count()} * kSecondsADay + time_of_day;
}

// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<Seconds> imf_fixdate(std::string_view text) {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.literal(", ");
  const int day = reader.number(2);
  reader.literal(" ");
  const unsigned month = reader.one_of(kMonths);
  reader.literal(" ");
  const int year = reader.number(4);
  reader.literal(" ");
  const int time = reader.time_of_day();
  reader.literal(" GMT");
  return seconds_of(reader, year, month, day, time);
}

// `Sunday, 06-Nov-94 08:49:37 GMT`: a year that seems more than 50 years ahead is the past one with those digits.
std::optional<Seconds> rfc850_date(std::string_view text, Seconds now) {
  DateReader reader(text);
  reader.one_of(kLongDays);
  reader.literal(", ");
  const int day = reader.number(2);
  reader.literal("-");
  const unsigned month = reader.one_of(kMonths);
  reader.literal("-");
  const int short_year = reader.number(2);
  reader.literal(" ");
  const int time = reader.time_of_day();
  reader.literal(" GMT");
  const std::chrono::year_month_day today(std::chrono::sys_days(std::chrono::days(now / kSecondsADay)));
  const int this_year = static_cast<int>(today.year());
  int year = this_year - this_year % 100 + short_year;
  if (year > this_year + 50) year -= 100;
  return seconds_of(reader, year, month, day, time);
}

// `Sun Nov  6 08:49:37 1994`
std::optional<Seconds> asctime_date(std::string_view text) {
  DateReader reader(text);
  reader.one_of(kDays);
  reader.literal(" ");
  const unsigned month = reader.one_of(kMonths);
  reader.literal(" ");
  const int day = reader.number(2, /*padded=*/true);
  reader.literal(" ");
  const int time = reader.time_of_day();
  reader.literal(" ");
  const int year = reader.number(4);
  return seconds_of(reader, year, month, day, time);
}

}  // namespace

std::optional<Seconds> parse_http_date(std::string_view text, Seconds now) {
  if (text.size() < 4) return std::nullopt;
  if (text[3] == ',') return imf_fixdate(text);
  if (text[3] == ' ') return asctime_date(text);
  return rfc850_date(text, now);
}

}  // namespace edge::runtime::cache
