// How long a client may take to send a request body: a grace period, and one second more for each so many bytes
// received.
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/clock.h"
#include "program/format/format.h"

namespace edge::runtime {

/// Measures the time spent waiting for the client alone. Time in which the receiver of the body is the slower side does
/// not count.
class BodyPace {
 public:
  explicit BodyPace(const program::ClientLimitsRecord& limits)
      : grace_(static_cast<std::int64_t>(limits.body_grace_ns)), rate_(limits.min_body_rate) {}

  /// Starts the clock: the client has sent nothing that is still unread.
  void begin(net::Time now) {
    if (since_ == net::kNever) since_ = now;
  }
  /// Stops the clock: bytes of the body have arrived that cannot be forwarded yet.
  void pause(net::Time now) {
    if (since_ == net::kNever) return;
    waited_ += now - since_;
    since_ = net::kNever;
  }
  /// Returns when a client that has sent `received` bytes is too slow; kNever: there is no limit, or the clock is
  /// stopped.
  net::Time due(std::uint64_t received) const {
    if (rate_ == 0 || since_ == net::kNever) return net::kNever;
    constexpr std::uint64_t kMost = 1'000'000'000;  // seconds, so that nothing overflows
    const std::chrono::seconds earned(static_cast<std::int64_t>(std::min(received / rate_, kMost)));
    return since_ + std::max(net::Duration{}, grace_ + earned - waited_);
  }

 private:
  net::Duration grace_;
  std::uint64_t rate_;
  net::Duration waited_{};
  net::Time since_ = net::kNever;
};

}  // namespace edge::runtime
