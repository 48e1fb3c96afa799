// A counter written by one thread and read by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace edge::net {

/// With a single writer, adding is a load and a store without a locked instruction.
class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void subtract(std::uint64_t n = 1) { add(~n + 1); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace edge::net
