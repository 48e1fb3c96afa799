// Measures the scheduling delay of an event loop: four times a second a timer compares its due time with the time of
// its call. All events waited that long for the thread. Requests do not take part.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>

#include "metrics/histogram.h"
#include "net/counter.h"
#include "net/loop.h"

namespace edge::runtime {

/// By the buckets of metrics::kDurationBounds.
struct LoopLag {
  std::array<std::uint64_t, std::size(metrics::kDurationBounds) + 1> counts{};
  std::uint64_t nanoseconds = 0;
};

class LoopProbe final : private net::TimerNode {
 public:
  explicit LoopProbe(net::Loop& loop) : loop_(loop) {}

  /// Called before the loop runs, or on its thread.
  void begin();
  /// Counts one sample; delays below a tick of the loop's clock cannot be measured.
  void count(net::Duration late);
  /// Any thread.
  void add_to(LoopLag& sum) const;

 private:
  static constexpr net::Duration kInterval = std::chrono::milliseconds(250);
  void expired() override;

  net::Loop& loop_;
  net::Time due_{};
  std::array<net::Counter, std::size(metrics::kDurationBounds) + 1> counts_;
  net::Counter nanoseconds_;
};

}  // namespace edge::runtime
