// The retries of one request: whether one is allowed, and when. Rule D10: a route's `retry` replaces its backend's
// `retryPolicy` completely.
//
// Relay determines what can safely be sent twice: this class decides whether a retry is configured and the backend can
// bear it. Retries of all requests together are limited to a share of those in flight, so that a failing backend does
// not get a multiple of its load.
#pragma once

#include <cstdint>
#include <span>

#include "net/clock.h"
#include "program/format/format.h"
#include "program/format/treatments.h"
#include "runtime/upstream/health/backend_state.h"

namespace edge::runtime {

/// Why a try failed.
enum class RetryCause : std::uint8_t {
  kConnectFailure,  ///< no connection: nothing was sent
  kReset,           ///< the connection ended, or the try timed out, without a response
  kRefused,         ///< an HTTP/2 peer did not process it (RFC 9113 §8.7)
};

struct RetryPolicy {
  std::uint32_t on = 0;  ///< program::RetryOn bits
  std::uint32_t max_retries = 0;
  net::Duration try_time{};  ///< 0: only the request's own timeout applies
  net::Duration backoff{};
  net::Duration longest_backoff{};
  std::uint32_t max_concurrent_retries = 0;  ///< retries of all requests to the backend
  std::uint32_t budget_percent = 0;          ///< the same limit as a share of the requests in flight
  std::uint32_t min_concurrent_retries = 0;  ///< the lower bound of that share

  explicit operator bool() const { return max_retries != 0 && on != 0; }
};

/// Returns the route's policy if it has one, else the backend's. The backoff is always the backend's.
RetryPolicy retry_policy(const program::TreatmentRecord& treatment, const program::BackendRecord& backend);

class Retries {
 public:
  Retries(const RetryPolicy& policy, BackendState& state);
  ~Retries();
  Retries(const Retries&) = delete;
  Retries& operator=(const Retries&) = delete;

  /// Adds the statuses and the least wait among the treatment's filters, which must outlive this. For a policy with
  /// program::kRetryDetails.
  void add_details(std::span<const program::FilterRecord> filters);

  /// Returns whether to retry after a failure, and counts the retry if so.
  bool again(RetryCause cause) { return wants(cause) && take(); }
  /// The same after a response with this status.
  bool again(int status) { return wants(status) && take(); }

  /// Returns the wait before a retry: random, up to a bound that doubles with each ("full jitter"), after the least
  /// one.
  net::Duration backoff(std::uint64_t random) const;
  /// Returns when a try that begins now times out; kNever without a timeout of its own.
  net::Time try_until(net::Time now) const {
    return policy_.try_time == net::Duration(0) ? net::kNever : now + policy_.try_time;
  }

 private:
  bool wants(RetryCause cause) const;
  bool wants(int status) const;
  bool take();

  RetryPolicy policy_;
  BackendState& state_;
  std::uint32_t made_ = 0;
  std::span<const program::FilterRecord> details_;
  net::Duration least_wait_{};
};

}  // namespace edge::runtime
