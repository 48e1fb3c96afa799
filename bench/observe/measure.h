// What one part of a request's way costs, in CPU time of the thread that goes it.
#pragma once

#include <cstdio>

#include <time.h>

namespace edge::bench {

inline double nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Calls `part` with 0 up to `times`, and prints what one call took.
template <typename Part>
void measure(const char* what, int times, Part&& part) {
  const double before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < times; ++i) part(i);
  std::printf("%-36s %7.1f ns\n", what, (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before) / times);
}

}  // namespace edge::bench
