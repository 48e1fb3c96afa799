// The rules of RFC 9111 as functions of facts: what may be stored, how long it is fresh, and what a stored response may
// be used for. No state, no clock of their own.
#pragma once

#include <cstdint>

#include "runtime/shape/cache/message.h"

namespace edge::runtime::cache {

/// Of the gateway (`spec.cache`).
struct TtlLimits {
  Seconds default_ttl = 0;  ///< for what states no lifetime and may be given one (§4.2.2); 0: it is not stored
  Seconds max_ttl = 24 * 3600;
};

/// When a response was asked for and when it came (§4.2.3).
struct Times {
  Seconds request = 0;
  Seconds response = 0;
};

/// How long a stored response lives; everything that is asked of it later without its head.
struct Freshness {
  Seconds lifetime = 0;       ///< §4.2.1
  Seconds initial_age = 0;    ///< corrected_initial_age, §4.2.3
  Seconds response_time = 0;  ///< from here on it grows older with us
  Seconds stale_while_revalidate = 0;
  Seconds stale_if_error = 0;
  bool always_validate = false;  ///< `no-cache` (§5.2.2.4)
  bool never_stale = false;      ///< must-revalidate, proxy-revalidate, s-maxage (§4.2.4)

  /// current_age (§4.2.3). A clock that was set back makes nothing younger than it came.
  Seconds age(Seconds now) const;
  /// What is left of the lifetime; negative when stale.
  Seconds ttl(Seconds now) const { return lifetime - age(now); }
  bool fresh(Seconds now) const { return ttl(now) > 0; }
};
Freshness freshness_of(const Response& response, const TtlLimits& limits, const Times& times);

/// §3, and for Set-Cookie the stricter rule of decision 37.
bool storable(const Request& request, const Response& response, const TtlLimits& limits, const Times& times);

enum class Use : std::uint8_t {
  kFresh,
  kStaleAllowed,          ///< stale, but the client said `max-stale` (§5.2.1.2)
  kStaleWhileRevalidate,  ///< stale, to be fetched anew behind the client's back (RFC 5861 §3)
  kValidate,
};
/// What a stored response that matches may be used for (§4). `request` is GET or HEAD.
Use choose_use(const Freshness& stored, const Request& request, Seconds now);
/// Whether it may stand in for an answer that failed (RFC 5861 §4).
bool usable_on_error(const Freshness& stored, const Request& request, Seconds now);
/// Statuses that count as a failure of the origin then (RFC 5861 §4).
constexpr bool is_error(std::uint16_t status) {
  return status == 500 || status == 502 || status == 503 || status == 504;
}

/// Whether an answer ends what was stored of the target (§4.4): unsafe method, and no error.
bool invalidates(net::http1::Method method, std::uint16_t status);

}  // namespace edge::runtime::cache
