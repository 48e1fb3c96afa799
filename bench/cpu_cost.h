// What one call of something costs, for benchmarks of functions.
#pragma once

#include <functional>

namespace edge::bench {

/// Returns the CPU time of this thread a call, in microseconds: that of the cheapest of `rounds`, each of which takes
/// `round_microseconds`. Where `work` returns false, what it says is no cost: ends the process with `complaint`.
double least_cost(int rounds, double round_microseconds, const char* complaint, const std::function<bool()>& work);

}  // namespace edge::bench
