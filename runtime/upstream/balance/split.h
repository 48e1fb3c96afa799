// Chooses the backend of a weighted split (rule D3).
#pragma once

#include <cstdint>

#include "program/format/records.h"

namespace edge::runtime {

/// A low-discrepancy sequence (multiples of the golden ratio): over any run of requests each backend's share differs
/// from its weight by a few requests only, however the routes are mixed. One per thread, started anywhere.
class SplitSequence {
 public:
  explicit SplitSequence(std::uint64_t start) : at_(start) {}
  /// Returns the next point, in [0, total).
  std::uint32_t next(std::uint32_t total) {
    at_ += 0x9e3779b97f4a7c15;
    return static_cast<std::uint32_t>((static_cast<unsigned __int128>(at_) * total) >> 64);
  }

 private:
  std::uint64_t at_;
};

/// Returns an index into the split's backends; kNone when every weight is 0, which is answered 500. `canary`: the
/// request has `X-Canary: true` and goes to the lowest weight, including zero.
std::uint32_t choose_backend(const program::Split& split, bool canary, SplitSequence& sequence);

}  // namespace edge::runtime
