#include "controller/kube/time_text.h"

#include <array>
#include <cstdio>

namespace edge::kube {
namespace {

std::string text_of(std::chrono::system_clock::time_point time, bool micro) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::microseconds>(time - day));
  std::array<char, 48> text;
  int size = std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                           static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                           static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                           static_cast<int>(clock.seconds().count()));
  std::string out(text.data(), static_cast<std::size_t>(size));
  if (micro) {
    size = std::snprintf(text.data(), text.size(), ".%06d", static_cast<int>(clock.subseconds().count()));
    out.append(text.data(), static_cast<std::size_t>(size));
  }
  return out + "Z";
}

}  // namespace

std::string time_text(std::chrono::system_clock::time_point time) { return text_of(time, false); }
std::string micro_time_text(std::chrono::system_clock::time_point time) { return text_of(time, true); }

}  // namespace edge::kube
