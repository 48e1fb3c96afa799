// The clock of deadlines. A loop reads it once per batch.
#pragma once

#include <chrono>

namespace edge::net {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr Time kNever = Time::max();

/// The steady clock; tests replace it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const { return std::chrono::steady_clock::now(); }
};

/// Advances only by `advance`.
class ManualClock final : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_ = Time(std::chrono::hours(1));
};

}  // namespace edge::net
