// A federation of three to five clusters in one process, with the real merge, state and sessions: links that part,
// reorder and repeat, clusters that crash, are restored from a backup and have clocks that are days off. A schedule is
// a list of events, each of which stands for itself, so that a schedule that fails can be shortened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edge::federation {

struct SimulatedEvent {
  enum class Kind : std::uint8_t {
    kWrite,
    kRemove,
    kResolve,
    kDeliver,
    kConnect,
    kPartition,
    kCrash,
    kBackup,
    kRestore,
    kSkew,
    kCompare,
    kSuspend,
    kCollect,
    kForget,  ///< a peer is removed, and added again later
  } kind = Kind::kWrite;
  std::uint64_t choice = 0;  ///< which cluster, link, object and so on
};

struct Schedule {
  std::uint64_t seed = 0;
  std::vector<SimulatedEvent> events;
};

Schedule random_schedule(std::uint64_t seed);

struct SimulationResult {
  std::string failure{};  ///< empty: all holds
  std::size_t writes = 0;
  std::size_t conflicts = 0;  ///< listed at the end
  std::size_t restores = 0;
  std::size_t retired = 0;
  std::size_t collected = 0;
};
SimulationResult simulate(const Schedule& schedule);

/// Returns the shortest schedule that still fails, found by leaving out events.
Schedule shortened(Schedule schedule);
/// Returns one event a line.
std::string text_of(const Schedule& schedule);

}  // namespace edge::federation
