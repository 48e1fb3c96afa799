#include "bench/compile/cost.h"

#include <sys/resource.h>

#include <ctime>
#include <fstream>
#include <string>

#include <sched.h>
#include <unistd.h>

namespace edge::bench {
namespace {

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

double nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Children that still run: RUSAGE_CHILDREN counts those alone that were waited for.
double running_children_ms() {
  double total = 0;
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (std::string child; children >> child;) {
    std::ifstream schedstat("/proc/" + child + "/schedstat");
    double nanoseconds = 0;
    if (schedstat >> nanoseconds) total += nanoseconds / 1e6;
  }
  return total;
}

}  // namespace

double cpu_ms() {
  double total = running_children_ms();
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  }
  return total;
}

double thread_ns() { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
double process_ns() { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }
double wall_ns() { return nanoseconds(CLOCK_MONOTONIC); }

Resident resident_mb() {
  Resident resident;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const auto value = [&line] { return std::stod(line.substr(line.find(':') + 1)) * 1024 / 1e6; };
    if (line.starts_with("RssAnon:")) resident.anonymous = value();
    if (line.starts_with("RssFile:") || line.starts_with("RssShmem:")) resident.file += value();
  }
  return resident;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void pin_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

AllCores::AllCores() {
  sched_getaffinity(0, sizeof(before_), &before_);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
  sched_setaffinity(0, sizeof(all), &all);
}
AllCores::~AllCores() { sched_setaffinity(0, sizeof(before_), &before_); }

}  // namespace edge::bench
