#include "runtime/policy/auth/jwt/jwks_schedule.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

#include "base/text/ascii.h"

namespace edge::runtime::auth {
namespace {

using std::chrono::seconds;

/// RFC 9111 §1.2.2; what is more than fits counts as much.
std::optional<seconds> delta_seconds(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || end != text.data() + text.size()) return std::nullopt;
  constexpr std::int64_t kYear = 366 * 86'400;
  return seconds(error == std::errc() ? std::min(value, kYear) : kYear);
}

/// IMF-fixdate (RFC 9110 §5.6.7), the form that everybody sends.
std::optional<std::int64_t> date_of(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* const end = ::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&parts));
}

}  // namespace

std::optional<seconds> freshness(std::string_view cache_control, std::string_view expires, std::string_view date,
                                 std::string_view age) {
  std::optional<seconds> lifetime;
  while (!cache_control.empty()) {
    const std::size_t comma = std::min(cache_control.find(','), cache_control.size());
    const std::string_view directive = trim_blanks(cache_control.substr(0, comma));
    cache_control.remove_prefix(std::min(comma + 1, cache_control.size()));
    if (equals_ignoring_case(directive, "no-store") || equals_ignoring_case(directive, "no-cache")) return seconds(0);
    const std::size_t equals = directive.find('=');
    if (equals == std::string_view::npos || !equals_ignoring_case(trim_blanks(directive.substr(0, equals)), "max-age"))
      continue;
    lifetime = delta_seconds(trim_blanks(directive.substr(equals + 1))).value_or(seconds(0));
  }
  if (!lifetime && !expires.empty()) {
    // What is no date is one that is past (RFC 9111 §5.3).
    const auto until = date_of(trim_blanks(expires));
    const auto from = date_of(trim_blanks(date));
    lifetime = until && from ? seconds(std::max<std::int64_t>(*until - *from, 0)) : seconds(0);
  }
  if (!lifetime) return std::nullopt;
  return std::max(*lifetime - delta_seconds(trim_blanks(age)).value_or(seconds(0)), seconds(0));
}

void JwksSchedule::succeed(net::Time now, std::optional<seconds> fresh) {
  net::Duration holds = pace_.usual;
  if (fresh) holds = std::clamp<net::Duration>(*fresh, pace_.least, pace_.most);
  // Ahead of the end, so that no request waits for it.
  next_ = now + holds - holds / 8;
  usable_until_ = now + holds + pace_.through_outage;
  retry_ = pace_.first_retry;
  failed_ = false;
}

void JwksSchedule::fail(net::Time now) {
  next_ = now + retry_;
  retry_ = std::min(2 * retry_, pace_.last_retry);
  failed_ = true;
}

bool JwksSchedule::may_ask(net::Time now) const { return !failed_ && now - begun_ >= pace_.between_asked; }

}  // namespace edge::runtime::auth
