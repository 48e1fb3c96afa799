#include "runtime/upstream/retry.h"

#include <algorithm>

namespace edge::runtime {

RetryPolicy retry_policy(const program::TreatmentRecord& treatment, const program::BackendRecord& backend) {
  RetryPolicy policy{.on = backend.retry_on,
                     .max_retries = backend.max_retries,
                     .try_time = net::Duration(backend.per_try_timeout_ns),
                     .backoff = net::Duration(backend.backoff_base_ns),
                     .longest_backoff = net::Duration(backend.backoff_max_ns),
                     .max_concurrent_retries = backend.max_concurrent_retries,
                     .budget_percent = backend.retry_budget_percent,
                     .min_concurrent_retries = backend.min_concurrent_retries};
  if (treatment.max_retries != program::kRetriesOfBackend) {
    policy.on = treatment.retry_on;
    policy.max_retries = treatment.max_retries;
    policy.try_time = net::Duration(treatment.try_timeout_ns);
  }
  return policy;
}

Retries::Retries(const RetryPolicy& policy, BackendState& state) : policy_(policy), state_(state) {
  state_.live().take(0);
}

void Retries::add_details(std::span<const program::FilterRecord> filters) {
  details_ = filters;
  const auto pause = std::ranges::find(filters, program::FilterOp::kRetryPause, &program::FilterRecord::op);
  if (pause != filters.end()) least_wait_ = std::chrono::milliseconds(pause->detail);
}

Retries::~Retries() {
  state_.live().give();
  if (made_ != 0) state_.retrying().give();
}

// Who asks for `5xx` wants an answer that is none: where the backend gives no answer at all, ours would be a 502.
bool Retries::wants(RetryCause cause) const {
  std::uint32_t conditions = program::kRetry5xx;
  switch (cause) {
    case RetryCause::kConnectFailure:
      conditions |= program::kRetryConnectFailure;
      break;
    case RetryCause::kReset:
      conditions |= program::kRetryReset;
      break;
    case RetryCause::kRefused:
      conditions |= program::kRetryRefusedStream;
      break;
  }
  return (policy_.on & conditions) != 0;
}

bool Retries::wants(int status) const {
  std::uint32_t conditions = status >= 500 ? program::kRetry5xx : 0;
  switch (status) {
    case 409:
      conditions |= program::kRetryRetriable4xx;
      break;
    case 429:
      conditions |= program::kRetry429;
      break;
    case 500:
      conditions |= program::kRetry500;
      break;
    case 502:
      conditions |= program::kRetry502;
      break;
    case 503:
      conditions |= program::kRetry503;
      break;
    case 504:
      conditions |= program::kRetry504;
      break;
    default:
      break;
  }
  if ((policy_.on & conditions) != 0) return true;
  return std::ranges::any_of(details_, [&](const program::FilterRecord& one) {
    return one.op == program::FilterOp::kRetryStatus && one.detail == static_cast<std::uint32_t>(status);
  });
}

bool Retries::take() {
  if (made_ >= policy_.max_retries) return false;
  if (made_ == 0) {
    const std::uint64_t share = std::uint64_t{state_.live().value()} * policy_.budget_percent / 100;
    const auto budget = std::max(policy_.min_concurrent_retries, static_cast<std::uint32_t>(share));
    const std::uint32_t limit = std::min(budget, policy_.max_concurrent_retries);
    const bool allowed = limit != 0 && state_.retrying().take(limit);
    if (!allowed) {
      state_.count_retry(false);
      return false;
    }
  }
  ++made_;
  state_.count_retry(true);
  return true;
}

net::Duration Retries::backoff(std::uint64_t random) const {
  net::Duration most = policy_.backoff;
  for (std::uint32_t n = 1; n < made_ && most < policy_.longest_backoff; ++n) most *= 2;
  most = std::min(most, std::max(policy_.backoff, policy_.longest_backoff));
  const auto range = static_cast<std::uint64_t>(most.count()) + 1;
  const auto jitter = static_cast<std::int64_t>((static_cast<unsigned __int128>(random) * range) >> 64);
  return least_wait_ + net::Duration(jitter);
}

}  // namespace edge::runtime
