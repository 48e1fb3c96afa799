// Histograms updated from any thread, for infrequent events: a compile, a request of the resource API.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>

#include "metrics/exposition.h"

namespace edge::metrics {

/// Seconds. Each is at most two and a half times the one before.
inline constexpr double kDurationBounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25,  0.5,    1.0,   2.5,  5.0,   10.0};
/// Bytes.
inline constexpr double kSizeBounds[] = {256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};

class DurationHistogram {
 public:
  void observe(std::chrono::nanoseconds duration) {
    const auto seconds = std::chrono::duration<double>(duration).count();
    std::size_t bucket = 0;
    while (bucket < std::size(kDurationBounds) && seconds > kDurationBounds[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(duration.count()), std::memory_order_relaxed);
  }
  void write(Exposition& out, std::string_view labels = {}) const {
    std::array<std::uint64_t, std::size(kDurationBounds) + 1> counts;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i].load(std::memory_order_relaxed);
    const auto nanoseconds = static_cast<double>(nanoseconds_.load(std::memory_order_relaxed));
    out.histogram({kDurationBounds, counts, nanoseconds / 1e9}, labels);
  }

 private:
  std::array<std::atomic<std::uint64_t>, std::size(kDurationBounds) + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace edge::metrics
