// How long a client may take for the body of a request: a grace, and a second more for each so many bytes that came.
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/clock.h"
#include "program/format/format.h"

namespace edge::runtime {

/// Counts the time in which nothing but the client is waited for. What takes the body may be slower than it.
class BodyPace {
 public:
  explicit BodyPace(const program::ClientLimitsRecord& limits)
      : grace_(static_cast<std::int64_t>(limits.body_grace_ns)), rate_(limits.min_body_rate) {}

  /// Nothing of the body is here.
  void begin(net::Time now) {
    if (since_ == net::kNever) since_ = now;
  }
  /// Some of it is here, and cannot be taken yet.
  void pause(net::Time now) {
    if (since_ == net::kNever) return;
    waited_ += now - since_;
    since_ = net::kNever;
  }
  /// When so many bytes come too slowly; kNever: there is no bound, or nobody waits.
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
