#include "runtime/policy/rate_limit.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/hash.h"

namespace edge::runtime {
namespace {

std::string seconds(net::Duration duration) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(duration).count();
  return std::to_string(whole);
}

std::uint64_t identity(const program::PolicyRecord& policy, const program::RateRecord& settings) {
  const std::array<std::uint64_t, 3> numbers = {settings.requests, settings.period_ns, settings.burst};
  return hash_bytes(policy.id, {reinterpret_cast<const char*>(numbers.data()), sizeof(numbers)});
}

PolicyAnswer refusal(int status, const Rate& rate, const RateLimitTable::TakeResult& taken) {
  PolicyAnswer answer{status, "rate-limited", "Too many requests.", {}};
  answer.fields = "Retry-After: " + seconds(taken.retry_after) +
                  "\r\nRateLimit-Limit: " + std::to_string(rate.burst()) +
                  "\r\nRateLimit-Remaining: " + std::to_string(taken.remaining) +
                  "\r\nRateLimit-Reset: " + seconds(taken.full_after) + "\r\n";
  return answer;
}

}  // namespace

RateLimit::RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
                     const program::RateRecord& settings, bool shared)
    : rate_(settings.requests, settings.burst, net::Duration(static_cast<std::int64_t>(settings.period_ns)),
            static_cast<std::uint16_t>(policy.id)),
      key_(policies, identity(policy, settings), settings.keys),
      shared_(shared) {}

std::optional<PolicyAnswer> RateLimitGroup::pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                                 RateLimitTable& table, SharedLimits* shared) const {
  // The usual policy: nothing to look at before, and nobody to tell.
  if (limits.size() == 1 && !limits.front()->shared()) {
    const RateLimit& limit = *limits.front();
    const std::uint64_t bucket = limit.key().hash(policy_request, client, table.seed());
    const auto taken = table.take(limit.rate(), bucket, policy_request.now);
    if (tally != nullptr && (counts_passes || !taken.passes)) tally->count(bucket, taken.passes);
    if (taken.passes) return std::nullopt;
    return refusal(status, limit.rate(), taken);
  }
  struct Bucket {
    const Rate* rate;
    std::uint64_t key;
  };
  std::array<Bucket, kMost> buckets;
  std::array<std::optional<Rate>, kMost> parts;
  const std::size_t count = std::min(limits.size(), kMost);
  const net::Time now = policy_request.now;
  for (std::size_t i = 0; i < count; ++i) {
    const bool of_all = shared != nullptr && limits[i]->shared();
    buckets[i] = {&limits[i]->rate(),
                  limits[i]->key().hash(policy_request, client, of_all ? shared->seed() : table.seed())};
    if (!of_all) continue;
    if (const std::uint32_t share = shared->share(now); share != 1) {
      buckets[i].rate = &parts[i].emplace(limits[i]->rate().part(share));
    }
  }
  const Rate* refusing = nullptr;
  RateLimitTable::TakeResult strictest;
  const auto refuse = [&](const Rate& rate, const RateLimitTable::TakeResult& taken) {
    if (refusing != nullptr && taken.retry_after <= strictest.retry_after) return;
    refusing = &rate;
    strictest = taken;
  };
  // A single limit needs no look before: it takes nothing where it refuses.
  for (std::size_t i = 0; count > 1 && i < count; ++i) {
    const auto found = table.look(*buckets[i].rate, buckets[i].key, now);
    if (!found.passes) refuse(*buckets[i].rate, found);
  }
  for (std::size_t i = 0; refusing == nullptr && i < count; ++i) {
    const auto taken = table.take(*buckets[i].rate, buckets[i].key, now);
    if (taken.passes) continue;
    // Another thread was faster.
    for (std::size_t before = 0; before < i; ++before) table.give_back(*buckets[before].rate, buckets[before].key);
    refuse(*buckets[i].rate, taken);
  }
  if (tally != nullptr && (counts_passes || refusing != nullptr)) tally->count(buckets[0].key, refusing == nullptr);
  if (refusing != nullptr) return refusal(status, *refusing, strictest);
  for (std::size_t i = 0; shared != nullptr && i < count; ++i) {
    if (limits[i]->shared()) shared->note(limits[i]->key().identity(), buckets[i].key, now);
  }
  return std::nullopt;
}

}  // namespace edge::runtime
