#include "runtime/shape/cache/policy.h"

#include <algorithm>

namespace edge::runtime::cache {
namespace {

using net::http1::Method;

// Statuses whose requirements for caching we meet (§3, must-understand). Not 206 and 304: parts are never stored, and a
// 304 renews what is stored instead.
bool understood(std::uint16_t status) {
  switch (status) {
    case 200:
    case 203:
    case 204:
    case 300:
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
    case 404:
    case 405:
    case 410:
    case 414:
    case 501:
      return true;
    default:
      return false;
  }
}

// RFC 9110 §15.1: what may be given a lifetime that it does not state.
bool heuristically_cacheable(std::uint16_t status) {
  return understood(status) && status != 302 && status != 303 && status != 307;
}

/// Threads read the clock at most once a second each.
constexpr Seconds kMostApart = 10;

bool states_lifetime(const Response& response) {
  return response.directives.s_maxage || response.directives.max_age || response.expires;
}

Seconds stated_lifetime(const Response& response, const TtlLimits& limits, Seconds response_time) {
  const ResponseDirectives& directives = response.directives;
  if (directives.s_maxage) return *directives.s_maxage;
  if (directives.max_age) return *directives.max_age;
  if (response.expires) return *response.expires - response.date.value_or(response_time);
  const bool may_guess = heuristically_cacheable(response.status) || directives.is_public;
  return may_guess ? limits.default_ttl : 0;
}

}  // namespace

Seconds Freshness::age(Seconds now) const {
  if (now < response_time - kMostApart) return kUnknownAge;
  return initial_age + std::max<Seconds>(0, now - response_time);
}

Freshness freshness_of(const Response& response, const TtlLimits& limits, const Times& times) {
  const ResponseDirectives& directives = response.directives;
  Freshness result;
  const Seconds stated = stated_lifetime(response, limits, times.response);
  result.lifetime = std::clamp<Seconds>(stated, 0, limits.max_ttl);
  const Seconds apparent_age = std::max<Seconds>(0, times.response - response.date.value_or(times.response));
  const Seconds corrected_age = response.age + std::max<Seconds>(0, times.response - times.request);
  result.initial_age = std::max(apparent_age, corrected_age);
  result.response_time = times.response;
  result.stale_while_revalidate = directives.stale_while_revalidate.value_or(0);
  result.stale_if_error = directives.stale_if_error.value_or(0);
  result.always_validate = directives.no_cache;
  result.never_stale = directives.must_revalidate || directives.proxy_revalidate || directives.s_maxage;
  return result;
}

bool storable(const Request& request, const Response& response, const TtlLimits& limits, const Times& times) {
  const ResponseDirectives& directives = response.directives;
  if (request.method != Method::kGet || request.directives.no_store) return false;
  if (response.status < 200 || response.status == 206 || response.status == 304) return false;
  // §5.2.2.3: who says `must-understand` too means its no-store for those who do not.
  if (directives.must_understand ? !understood(response.status) : directives.no_store) return false;
  if (directives.is_private || response.vary_any) return false;
  // §3.5.
  const bool shared = directives.is_public || directives.s_maxage;
  if (request.authorized && !shared && !directives.must_revalidate) return false;
  if (response.sets_cookie && !shared) return false;

  // A lifetime that nobody stated is no leave to give one user's answer to others (decision 93).
  const bool heuristic = limits.default_ttl > 0 && heuristically_cacheable(response.status) && !request.has_cookie;
  if (!states_lifetime(response) && !directives.is_public && !directives.no_cache && !heuristic) return false;
  // Worth its room only if it can ever be used: it is fresh, can be validated, or may stand in while stale.
  const Freshness freshness = freshness_of(response, limits, times);
  if (response.validators.any()) return true;
  if (freshness.always_validate) return false;
  const bool stands_in =
      !freshness.never_stale && std::max(freshness.stale_while_revalidate, freshness.stale_if_error) > 0;
  return freshness.fresh(times.response) || stands_in;
}

Use choose_use(const Freshness& stored, const Request& request, Seconds now) {
  const RequestDirectives& wants = request.directives;
  if (stored.always_validate || wants.no_cache) return Use::kValidate;
  const Seconds age = stored.age(now);
  const Seconds ttl = stored.ttl(now);
  if (wants.max_age && age > *wants.max_age) return Use::kValidate;
  if (wants.min_fresh && ttl < *wants.min_fresh) return Use::kValidate;
  if (ttl > 0) return Use::kFresh;
  if (stored.never_stale) return Use::kValidate;
  if (wants.max_stale && -ttl <= *wants.max_stale) return Use::kStaleAllowed;
  // Who gives a max-age and no max-stale wants nothing stale (§5.2.1.1).
  if (!wants.max_age && !wants.min_fresh && stored.stale_while_revalidate > 0 &&
      -ttl <= stored.stale_while_revalidate) {
    return Use::kStaleWhileRevalidate;
  }
  return Use::kValidate;
}

bool usable_on_error(const Freshness& stored, const Request& request, Seconds now) {
  if (stored.always_validate || stored.never_stale || request.directives.no_cache) return false;
  return stored.stale_if_error > 0 && -stored.ttl(now) <= stored.stale_if_error;
}

bool invalidates(Method method, std::uint16_t status) {
  const bool safe =
      method == Method::kGet || method == Method::kHead || method == Method::kOptions || method == Method::kTrace;
  return !safe && status >= 200 && status < 400;
}

}  // namespace edge::runtime::cache
