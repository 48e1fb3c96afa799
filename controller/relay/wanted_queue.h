// Names that clients ask the agents of a site for, until the hub is told: within bounds whatever the agents say, and
// however long the hub is away.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include "controller/distribute/wanted_name.h"

namespace edge::controller::relay {

/// For one thread at a time.
class WantedQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// New names and uses, each; the oldest gives way to the next.
  static constexpr std::size_t kMost = 2048;
  /// New names that wait for longer are dropped: who asked is gone. As of agents (runtime/tls/wanted_names.h).
  static constexpr auto kWorth = std::chrono::seconds(60);

  /// One that waits already waits once.
  void add(std::vector<WantedName> names, Time now);
  /// Takes at most kMostWantedNames, new names first.
  std::vector<WantedName> take(Time now);

 private:
  struct Waiting {
    WantedName name;
    Time since;
  };
  std::deque<Waiting> wanted_;  ///< in order of time, likewise
  std::deque<Waiting> used_;
};

}  // namespace edge::controller::relay
