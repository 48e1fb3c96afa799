// A limit of work that is the same on every machine: steps, not time.
#pragma once

#include <cstdint>

namespace edge::compiler::analyze {

class Effort {
 public:
  explicit Effort(std::uint64_t steps) : left_(steps) {}

  /// Uses `steps`; false when there were not enough left, and from then on.
  bool spend(std::uint64_t steps) {
    if (steps > left_) {
      exhausted_ = true;
      left_ = 0;
      return false;
    }
    left_ -= steps;
    return true;
  }
  bool exhausted() const { return exhausted_; }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
  bool exhausted_ = false;
};

}  // namespace edge::compiler::analyze
