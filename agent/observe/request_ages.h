// Finds routes whose counters may be freed: nothing was counted for a while, and the program has no such route any
// more.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/match/load.h"
#include "runtime/observe/tally/request_sums.h"

namespace edge::agent {

class RequestAges {
 public:
  using Clock = std::chrono::steady_clock;
  /// Longer than what dashboards and alerts look back over.
  static constexpr auto kRest = std::chrono::minutes(15);
  /// Between two looks: one walks over all routes of the program where something has rested.
  static constexpr auto kBetween = std::chrono::minutes(1);

  /// Those are forgotten here as well. `program` may be null.
  std::vector<runtime::TallyNames> gone(const runtime::RequestSums& sums, const runtime::LoadedProgram* program,
                                        Clock::time_point now);

 private:
  struct Seen {
    std::uint64_t requests = 0;
    Clock::time_point since{};
  };
  std::map<runtime::TallyNames, Seen> seen_;
  Clock::time_point next_{};
};

}  // namespace edge::agent
