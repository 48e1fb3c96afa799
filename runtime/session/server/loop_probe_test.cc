#include "runtime/session/server/loop_probe.h"

#include <numeric>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;

LoopLag lag_of(const LoopProbe& probe) {
  LoopLag lag;
  probe.add_to(lag);
  return lag;
}

TEST(LoopProbe, TellsHowLateItsThreadCame) {
  net::ManualClock clock;
  net::Loop loop(&clock);
  LoopProbe probe(loop);
  probe.begin();
  loop.poll();
  EXPECT_EQ(lag_of(probe).nanoseconds, 0U);
  // In time, as far as the wheel's ticks tell.
  clock.advance(milliseconds(254));
  loop.poll();
  EXPECT_EQ(lag_of(probe).counts[0], 1U);
  // Something held the thread for so long.
  clock.advance(milliseconds(254 + 300));
  loop.poll();
  const LoopLag lag = lag_of(probe);
  EXPECT_EQ(lag.counts[8], 1U) << "over 0.25 s, not over 0.5 s";
  EXPECT_EQ(std::accumulate(lag.counts.begin(), lag.counts.end(), std::uint64_t{0}), 2U);
  EXPECT_GE(lag.nanoseconds, 296'000'000U);
}

TEST(LoopProbe, CountsABoundWithWhatIsBelow) {
  net::ManualClock clock;
  net::Loop loop(&clock);
  LoopProbe probe(loop);
  probe.count(milliseconds(1));
  probe.count(std::chrono::seconds(11));
  EXPECT_EQ(lag_of(probe).counts.front(), 1U);
  EXPECT_EQ(lag_of(probe).counts.back(), 1U);
}

}  // namespace
}  // namespace edge::runtime
