// How many frames that carry nothing a peer may send: a bucket that time fills slowly and real work quickly.
#pragma once

#include <algorithm>

#include "net/clock.h"

namespace edge::net::http2 {

/// Rapid resets (CVE-2023-44487), PINGs, SETTINGS, empty DATA, PRIORITY, WINDOW_UPDATE: each is good for something, and
/// a flood of it is not. What is sent to the client, or comes from it with content, pays for many of them, so that the
/// bookkeeping of a busy connection never counts.
class Patience {
 public:
  static constexpr unsigned kMost = 1000;
  static constexpr unsigned kPerSecond = 50;
  static constexpr unsigned kReset = 4;

  explicit Patience(Time now) : filled_at_(now) {}

  /// \returns false when there is none left.
  bool spend(unsigned cost, Time now) {
    if (left_ < cost) refill(now);
    if (left_ < cost) return false;
    left_ -= cost;
    return true;
  }
  void earn(unsigned value) { left_ = std::min(left_ + value, kMost); }

 private:
  void refill(Time now) {
    const auto seconds = std::chrono::duration<double>(now - filled_at_).count();
    filled_at_ = now;
    earn(static_cast<unsigned>(std::min(seconds * kPerSecond, double{kMost})));
  }

  unsigned left_ = kMost;
  Time filled_at_;
};

}  // namespace edge::net::http2
