// When the keys of an issuer are fetched: before the old ones are over, again soon after a failure, and when a token
// names a key that is not there, but never more often than an issuer can stand.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "net/clock.h"

namespace edge::runtime::auth {

/// What an answer says of how long it holds (RFC 9111 §4.2.1, §4.2.3); nullopt: nothing. `no-store` and `no-cache` are
/// 0. Arguments are the values of its fields.
std::optional<std::chrono::seconds> freshness(std::string_view cache_control, std::string_view expires,
                                              std::string_view date, std::string_view age);

struct JwksPace {
  /// Whatever an answer says, its keys hold this long, and no longer than that.
  net::Duration least = std::chrono::minutes(1);
  net::Duration most = std::chrono::hours(24);
  /// Where it says nothing.
  net::Duration usual = std::chrono::minutes(10);
  /// After a failure, twice as much after each further one.
  net::Duration first_retry = std::chrono::seconds(1);
  net::Duration last_retry = std::chrono::minutes(1);
  /// Between two fetches of which the later is for a key that is not known: whoever makes tokens up makes one request
  /// in this time.
  net::Duration between_asked = std::chrono::seconds(10);
  /// For how long the last good keys serve while no new ones can be had. Then it is not known any more which hold.
  net::Duration through_outage = std::chrono::hours(24);
};

/// Plain numbers, no clock of its own. Not for several threads at once.
class JwksSchedule {
 public:
  explicit JwksSchedule(const JwksPace& pace = {}) : pace_(pace), retry_(pace.first_retry) {}

  void begin(net::Time now) { begun_ = now; }
  void succeed(net::Time now, std::optional<std::chrono::seconds> fresh);
  void fail(net::Time now);

  /// When the next fetch is due without being asked for.
  net::Time next() const { return next_; }
  /// Whether one may be made now for a key that is not known.
  bool may_ask(net::Time now) const;
  /// Whether the keys that were fetched last still hold.
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
