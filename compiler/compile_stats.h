// Statistics of one compile, for tests of incrementality and for `--timings`.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace edge::compiler {

struct CompileStats {
  std::size_t hosts = 0;
  std::size_t hosts_lowered = 0;
  std::size_t native_shards_built = 0;
  std::size_t native_shards_from_disk = 0;
  std::size_t regex_sets_built = 0;
  std::size_t regex_sets_from_disk = 0;
  /// Why the disk cache is not used, though configured.
  std::string cache_fault;
  std::chrono::nanoseconds lower{0}, emit{0}, native{0}, regex{0}, prove{0}, assemble{0};
};

/// Adds the time of its lifetime to one field of the stats.
class StageTimer {
 public:
  explicit StageTimer(std::chrono::nanoseconds& total) : total_(total), start_(Clock::now()) {}
  ~StageTimer() { total_ += Clock::now() - start_; }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds& total_;
  Clock::time_point start_;
};

}  // namespace edge::compiler
