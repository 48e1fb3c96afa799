// Further tries of one request: whether there may be one, and when. Rule D10: a route's `retry` replaces its backend's
// `retryPolicy` whole.
//
// What may be sent twice at all is known elsewhere (Relay): here it is asked whether that is wanted, and whether the
// backend bears it. Retries of all requests together are held to a share of those under way, so that a backend in
// trouble does not get several times its load.
#pragma once

#include <cstdint>

#include "net/clock.h"
#include "program/format/format.h"
#include "runtime/upstream/health/backend_state.h"

namespace edge::runtime {

/// Why a try came to nothing.
enum class RetryCause : std::uint8_t {
  kConnectFailure,  ///< no connection: nothing was sent
  kReset,           ///< the connection ended, or the time of the try, without an answer
  kRefused,         ///< an HTTP/2 peer said that it did nothing (RFC 9113 §8.7)
};

struct RetryPolicy {
  std::uint32_t on = 0;  ///< program::RetryOn bits
  std::uint32_t max_retries = 0;
  net::Duration try_time{};  ///< 0: that of the request alone
  net::Duration backoff{};
  net::Duration longest_backoff{};
  std::uint32_t max_concurrent_retries = 0;  ///< retries of all requests to the backend
  std::uint32_t budget_percent = 0;          ///< the same as a share of the requests under way
  std::uint32_t min_concurrent_retries = 0;  ///< what the share is at least

  explicit operator bool() const { return max_retries != 0 && on != 0; }
};

/// The route's when it has one, else the backend's. How long to wait between tries is the backend's in any case.
RetryPolicy retry_policy(const program::TreatmentRecord& treatment, const program::BackendRecord& backend);

class Retries {
 public:
  Retries(const RetryPolicy& policy, BackendState& state);
  ~Retries();
  Retries(const Retries&) = delete;
  Retries& operator=(const Retries&) = delete;

  /// Whether to try once more; it then counts as a try.
  bool again(RetryCause cause) { return wants(cause) && take(); }
  /// Of a try that was answered so.
  bool again(int status) { return wants(status) && take(); }

  /// How long to wait before the try that `again` allowed: anything up to twice as long as before it ("full jitter").
  net::Duration backoff(std::uint64_t random) const;
  /// When the try that begins now is given up; kNever without a time of its own.
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
};

}  // namespace edge::runtime
