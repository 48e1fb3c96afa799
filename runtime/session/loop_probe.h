// How late a thread comes to what is due: four times a second a timer looks how long after its time it was called. That
// long any event had to wait for the thread. Requests have no part in it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>

#include "metrics/histogram.h"
#include "net/counter.h"
#include "net/loop.h"

namespace edge::runtime {

/// In the buckets of metrics::kDurationBounds.
struct LoopLag {
  std::array<std::uint64_t, std::size(metrics::kDurationBounds) + 1> counts{};
  std::uint64_t nanoseconds = 0;
};

class LoopProbe final : private net::TimerNode {
 public:
  explicit LoopProbe(net::Loop& loop) : loop_(loop) {}

  /// Before the loop runs, or on its thread.
  void begin();
  /// One look; `late`: of which the loop's clock cannot tell less than a tick.
  void count(net::Duration late);
  /// From any thread.
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
