#include "runtime/policy/concurrency_limit.h"

#include <utility>

namespace edge::runtime {

ConcurrencyLimit::ConcurrencyLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
                                   const program::ConcurrencyRecord& settings)
    : key_(policies, policy.id, settings.keys), most_(settings.requests) {}

std::optional<PolicyAnswer> ConcurrencyGroup::pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                                   ConcurrencyTable& table,
                                                   std::optional<ConcurrencyPermit>& permit) const {
  // A permit of its own until all limits have passed: what it has is given up where one refuses.
  ConcurrencyPermit taken(table);
  std::uint64_t first = 0;
  bool passes = true;
  for (const ConcurrencyLimit* limit : limits) {
    const std::uint64_t key = limit->key().hash(policy_request, client, table.seed());
    if (first == 0) first = key;
    passes = taken.enter(key, limit->most());
    if (!passes) break;
  }
  if (tally != nullptr && (counts_passes || !passes)) tally->count(first, passes);
  if (!passes) {
    return PolicyAnswer{status, "concurrency-limited", "Too many requests are in progress.", "Retry-After: 1\r\n"};
  }
  if (permit) {
    permit->join(std::move(taken));
  } else {
    permit = std::move(taken);
  }
  return std::nullopt;
}

}  // namespace edge::runtime
