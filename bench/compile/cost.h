// What the operating system says a piece of work cost.
#pragma once

#include <cstddef>

#include <sched.h>

namespace edge::bench {

/// CPU time of this process, its threads, and its children, the running ones included, in milliseconds.
double cpu_ms();
/// CPU time of this thread, in nanoseconds.
double thread_ns();
/// CPU time of all threads of this process, in nanoseconds.
double process_ns();
/// Wall clock, in nanoseconds.
double wall_ns();
/// Resident memory of this process in MB (10^6 bytes): anonymous, and pages of files.
struct Resident {
  double anonymous = 0;
  double file = 0;
};
Resident resident_mb();
/// The most that this process ever had resident, in MB.
double peak_mb();
/// Keeps this thread and what it starts on one core.
void pin_to_core(int core);
/// While it lives, this thread and what it starts may run on every core.
class AllCores {
 public:
  AllCores();
  ~AllCores();
  AllCores(const AllCores&) = delete;
  AllCores& operator=(const AllCores&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace edge::bench
