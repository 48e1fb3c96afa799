// The clock that deadlines are measured by. A loop reads it once a batch.
#pragma once

#include <chrono>

namespace edge::net {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr Time kNever = Time::max();

/// The steady clock; tests put their own in its place.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const { return std::chrono::steady_clock::now(); }
};

/// Stands still until it is told to move.
class ManualClock final : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_ = Time(std::chrono::hours(1));
};

}  // namespace edge::net
