// Thousands of schedules through the real merge, state and sessions. `EDGE_FEDERATION_SEED` runs one schedule, and
// `EDGE_FEDERATION_SCHEDULES` another number of them.
#include "controller/federation/simulation.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace edge::federation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSchedules = 300;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t kSchedules = 300;
#else
constexpr std::uint64_t kSchedules = 10'000;
#endif
#else
constexpr std::uint64_t kSchedules = 10'000;
#endif

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(FederationSimulation, ClustersConvergeAndLoseNothing) {
  const std::uint64_t one = number_from("EDGE_FEDERATION_SEED", 0);
  const std::uint64_t count = one != 0 ? 1 : number_from("EDGE_FEDERATION_SCHEDULES", kSchedules);
  SimulationResult total;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Schedule schedule = random_schedule(one != 0 ? one : i + 1);
    const SimulationResult result = simulate(schedule);
    if (!result.failure.empty()) {
      const Schedule shorter = shortened(schedule);
      FAIL() << "seed " << schedule.seed << ": " << result.failure << "\nshortened: " << simulate(shorter).failure
             << '\n'
             << text_of(shorter);
    }
    total.writes += result.writes;
    total.conflicts += result.conflicts;
    total.restores += result.restores;
    total.retired += result.retired;
    total.collected += result.collected;
  }
  RecordProperty("writes", std::to_string(total.writes));
  RecordProperty("conflicts", std::to_string(total.conflicts));
  if (one != 0 || count < 100) return;
  // Schedules that never come to these would show nothing.
  EXPECT_GT(total.conflicts, count / 10);
  EXPECT_GT(total.restores, count / 20);
  EXPECT_GT(total.collected, count / 10);
  // One of some 800 does: the 300 of a sanitizer's build may not.
  if (count >= 3'000) EXPECT_GT(total.retired, 0U);
}

TEST(FederationSimulation, ASeedGivesOneSchedule) {
  EXPECT_EQ(text_of(random_schedule(7)), text_of(random_schedule(7)));
  EXPECT_NE(text_of(random_schedule(7)), text_of(random_schedule(8)));
}

}  // namespace
}  // namespace edge::federation
