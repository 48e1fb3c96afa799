#include "controller/acme/rounds.h"

#include <algorithm>

#include "base/hash.h"

namespace edge::controller::acme {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
/// Let's Encrypt allows five failed validations of a name an hour: the first four waits are 5, 10, 20 and 40 minutes.
constexpr std::int64_t kFirstWait = 5 * kMinute;
/// From one CA to the next of the list.
constexpr std::int64_t kNextAuthority = 5;
constexpr std::uint32_t kFailuresBeforeStaging = 2;
/// An order is good for a week with most CAs; one that is older is made anew.
constexpr std::int64_t kMostOrderAge = 6 * kDay;
/// A wait beyond that is the trace of a clock that was set: a CA may ask for a week, to which a fifth is added.
constexpr std::int64_t kMostDelay = 9 * kDay;

}  // namespace

double share_of(std::string_view name) {
  constexpr double kRange = 4294967296.0;
  return static_cast<double>(hash_bytes(0, name) & 0xFFFFFFFFU) / kRange;
}

bool is_claimed(const OrderState& state, const std::string& identity, std::int64_t now) {
  constexpr std::int64_t kClaim = kMinute;
  return state.url.empty() && !state.owner.empty() && state.owner != identity && state.created > now - kClaim &&
         state.created < now + kClaim;
}

void begin_round(OrderState& state, const compiler::AcmeSettings& settings, std::int64_t now) {
  if (state.authority >= settings.authorities.size()) state.authority = 0;
  const compiler::AcmeAuthority& authority = settings.authorities[state.authority];
  state.staging = state.staging && !authority.staging.empty();
  const std::string& directory = state.staging ? authority.staging : authority.directory;
  const bool old = state.created > now || state.created < now - kMostOrderAge;
  if (state.directory != directory || old) {
    state.url.clear();
    state.failed.clear();
  }
  state.directory = directory;
  if (state.not_before > now + kMostDelay) state.not_before = now;
}

void end_round(OrderState& state, const compiler::AcmeSettings& settings, const OrderFault& fault, std::int64_t now,
               double share) {
  state.fault = fault.text;
  state.failed.clear();
  if (!fault.limited()) ++state.failures;
  const auto last = static_cast<std::uint32_t>(settings.authorities.size() - 1);
  if (state.authority < last) {
    ++state.authority;
    state.staging = false;
    state.not_before = now + kNextAuthority;
    return;
  }
  state.authority = 0;
  const compiler::AcmeAuthority& first = settings.authorities.front();
  state.staging = !fault.limited() && !first.staging.empty() && state.failures >= kFailuresBeforeStaging;
  const std::uint32_t doublings = std::min<std::uint32_t>(std::max<std::uint32_t>(state.failures, 1) - 1, 9);
  std::int64_t wait = std::min(kFirstWait << doublings, kDay);
  if (fault.limited()) wait = kHour;
  if (fault.retry_after > 0) wait = std::max(fault.retry_after, fault.limited() ? kMinute : wait);
  // Those of many names that failed together do not come back together.
  state.not_before = now + wait + static_cast<std::int64_t>(static_cast<double>(wait) * share / 5);
}

void end_trial(OrderState& state, std::int64_t now) {
  state.staging = false;
  state.url.clear();
  state.failed.clear();
  state.not_before = now;
}

std::int64_t renewal_time(const CertificateView& certificate, const std::optional<RenewalAdvice>& advice,
                          double share) {
  const std::int64_t lifetime = std::max<std::int64_t>(certificate.until - certificate.from, 1);
  if (advice) {
    const auto within = static_cast<std::int64_t>(static_cast<double>(advice->until - advice->from) * share);
    // A CA that always says "now" is not to be asked for one certificate after the other, and one that says "never"
    // does not let the certificate end.
    const std::int64_t first = certificate.from + std::min(lifetime / 10, kDay);
    return std::clamp(advice->from + within, first, std::max(first, certificate.until - lifetime / 10));
  }
  return certificate.from + lifetime / 3 * 2 - static_cast<std::int64_t>(static_cast<double>(lifetime) / 20 * share);
}

}  // namespace edge::controller::acme
