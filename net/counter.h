// A number that one thread counts and any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace edge::net {

/// One writer, so that counting is a load and a store, no locked instruction.
class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void subtract(std::uint64_t n = 1) { add(~n + 1); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace edge::net
