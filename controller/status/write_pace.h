// Spreads writes over time: at most so many in any window of it, the first ones at once.
#pragma once

#include <cstddef>
#include <set>

#include "net/clock.h"

namespace edge::controller {

/// Not thread-safe.
class WritePace {
 public:
  /// At most `most` writes in any `window`.
  WritePace(std::size_t most, net::Duration window) : window_(window) {
    for (std::size_t i = 0; i < most; ++i) free_.insert(net::Time());
  }

  /// When the next one may begin; kNever while all are under way.
  net::Time due() const { return free_.empty() ? net::kNever : *free_.begin(); }
  bool may_begin(net::Time now) const { return now >= due(); }
  /// Requires may_begin().
  void begin() { free_.erase(free_.begin()); }
  /// One has ended, whatever came of it. The window counts from here: when between the two the server took it is not
  /// known.
  void end(net::Time now) { free_.insert(now + window_); }
  /// None that is not under way begins before `at`.
  void hold_until(net::Time at);

 private:
  net::Duration window_;
  std::multiset<net::Time> free_;
};

}  // namespace edge::controller
