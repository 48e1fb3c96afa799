// Finds routes whose counters may be freed: without requests for a while, and not in the program any more.
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
  /// Longer than the usual windows of dashboards and alerts.
  static constexpr auto kRest = std::chrono::minutes(15);
  /// Between two checks: each walks over all routes of the program if any counter was idle.
  static constexpr auto kBetween = std::chrono::minutes(1);

  /// Returns these routes, and forgets them. `program` may be null.
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
