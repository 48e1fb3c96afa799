// When to fetch the keys of an issuer: before they expire, soon after a failure, and when a token names an unknown key,
// with a minimum interval.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "net/clock.h"

namespace edge::runtime::auth {

/// Returns how long a response is fresh (RFC 9111 §4.2.1, §4.2.3); nullopt: not stated. `no-store` and `no-cache` give
/// 0. The arguments are the values of its fields.
std::optional<std::chrono::seconds> freshness(std::string_view cache_control, std::string_view expires,
                                              std::string_view date, std::string_view age);

struct JwksPace {
  /// Bounds of the lifetime, whatever the response says.
  net::Duration least = std::chrono::minutes(1);
  net::Duration most = std::chrono::hours(24);
  /// The lifetime where the response states none.
  net::Duration usual = std::chrono::minutes(10);
  /// The backoff after a failure, doubled after each further one, up to last_retry.
  net::Duration first_retry = std::chrono::seconds(1);
  net::Duration last_retry = std::chrono::minutes(1);
  /// Minimum interval before a fetch for an unknown key: made-up tokens cause one request in this time.
  net::Duration between_asked = std::chrono::seconds(10);
  /// How long the last valid keys are used while new ones cannot be fetched. After that they are not trusted any more.
  net::Duration through_outage = std::chrono::hours(24);
};

/// Pure arithmetic without a clock. Not thread-safe.
class JwksSchedule {
 public:
  explicit JwksSchedule(const JwksPace& pace = {}) : pace_(pace), retry_(pace.first_retry) {}

  void begin(net::Time now) { begun_ = now; }
  void succeed(net::Time now, std::optional<std::chrono::seconds> fresh);
  void fail(net::Time now);

  /// Returns when the next regular fetch is due.
  net::Time next() const { return next_; }
  /// Returns whether a fetch for an unknown key is allowed now.
  bool may_ask(net::Time now) const;
  /// Returns whether the last fetched keys are still valid.
  bool usable(net::Time now) const { return now < usable_until_; }

 private:
  JwksPace pace_;
  net::Time begun_{};
  net::Time next_{};
  net::Time usable_until_{};
  net::Duration retry_;
  bool failed_ = false;
};

}  // namespace edge::runtime::auth
