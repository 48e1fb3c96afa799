// Where tests that try many cases take theirs from.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace edge {

/// The only source of chance: equal seed, equal case, on every machine (no std distributions, whose results vary).
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  /// 0..bound-1. Precondition: bound > 0.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[below(static_cast<std::uint32_t>(values.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace edge
