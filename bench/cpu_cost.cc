#include "bench/cpu_cost.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace edge::bench {
namespace {

double cpu_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

double least_cost(int rounds, double round_microseconds, const char* complaint, const std::function<bool()>& work) {
  double best = 1e12;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_microseconds();
    double spent = 0;
    int count = 0;
    while (spent < round_microseconds) {
      for (int i = 0; i < 16; ++i, ++count) {
        if (work()) continue;
        std::fprintf(stderr, "%s\n", complaint);
        std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
      }
      spent = cpu_microseconds() - start;
    }
    best = std::min(best, spent / count);
  }
  return best;
}

}  // namespace edge::bench
