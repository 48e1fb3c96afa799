// The rules of RFC 9111 as pure functions: what may be stored, how long it is fresh, and what a stored response may be
// used for. Without state or a clock.
#pragma once

#include <cstdint>

#include "runtime/shape/cache/message.h"

namespace edge::runtime::cache {

/// Limits of the gateway (`spec.cache`).
struct TtlLimits {
  Seconds default_ttl = 0;  ///< for a response without a lifetime that may be given one (§4.2.2); 0: such responses are
                            ///< not stored
  Seconds max_ttl = 24 * 3600;
};

/// When the response was requested and when it was received (§4.2.3).
struct Times {
  Seconds request = 0;
  Seconds response = 0;
};

/// The lifetime of a stored response: all that later decisions need without its head.
struct Freshness {
  Seconds lifetime = 0;       ///< §4.2.1
  Seconds initial_age = 0;    ///< corrected_initial_age, §4.2.3
  Seconds response_time = 0;  ///< from then on it ages by the local clock
  Seconds stale_while_revalidate = 0;
  Seconds stale_if_error = 0;
  bool always_validate = false;  ///< `no-cache` (§5.2.2.4)
  bool never_stale = false;      ///< must-revalidate, proxy-revalidate, s-maxage (§4.2.4)

  /// More than any lifetime: as a number that is too large to be told (§1.2.2).
  static constexpr Seconds kUnknownAge = Seconds{1} << 31;

  /// Returns current_age (§4.2.3). Of a response that has come at a time still ahead, by more than the clocks of
  /// threads differ, the age is not known: the clock was set back since, and the response may be older by all of that.
  Seconds age(Seconds now) const;
  /// Returns the rest of the lifetime; negative when stale.
  Seconds ttl(Seconds now) const { return lifetime - age(now); }
  bool fresh(Seconds now) const { return ttl(now) > 0; }
};
Freshness freshness_of(const Response& response, const TtlLimits& limits, const Times& times);

/// Implements §3, and for Set-Cookie the stricter rule of decision 37.
bool storable(const Request& request, const Response& response, const TtlLimits& limits, const Times& times);

enum class Use : std::uint8_t {
  kFresh,
  kStaleAllowed,          ///< stale, but the client said `max-stale` (§5.2.1.2)
  kStaleWhileRevalidate,  ///< stale, served while it is revalidated in the background (RFC 5861 §3)
  kValidate,
};
/// Returns what a stored response that matches may be used for (§4). `request` is GET or HEAD.
Use choose_use(const Freshness& stored, const Request& request, Seconds now);
/// Returns whether a stored response may replace a failed response (RFC 5861 §4).
bool usable_on_error(const Freshness& stored, const Request& request, Seconds now);
/// Returns whether a status counts as a failure of the origin for stale-if-error (RFC 5861 §4).
constexpr bool is_error(std::uint16_t status) {
  return status == 500 || status == 502 || status == 503 || status == 504;
}

/// Returns whether a response invalidates what is stored of the target (§4.4): unsafe method, and no error.
bool invalidates(net::http1::Method method, std::uint16_t status);

}  // namespace edge::runtime::cache
