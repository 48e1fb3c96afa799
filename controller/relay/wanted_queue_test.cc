#include "controller/relay/wanted_queue.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::controller::relay {
namespace {

using namespace std::chrono_literals;

std::vector<WantedName> names(std::size_t from, std::size_t until, bool served) {
  std::vector<WantedName> made;
  for (; from < until; ++from) made.push_back({"shop", "acme:web:https", "n" + std::to_string(from) + ".test", served});
  return made;
}

TEST(WantedQueue, NewNamesComeFirstAndEachOnce) {
  WantedQueue queue;
  const WantedQueue::Time now{1h};
  queue.add(names(0, 2, true), now);
  queue.add(names(0, 2, false), now);
  queue.add(names(1, 3, false), now);
  std::vector<WantedName> expected = names(0, 3, false);
  for (const WantedName& used : names(0, 2, true)) expected.push_back(used);
  EXPECT_EQ(queue.take(now), expected);
  EXPECT_TRUE(queue.take(now).empty());
}

TEST(WantedQueue, WhileNobodyTakesThemTheyAreBoundedAndNewNamesEnd) {
  WantedQueue queue;
  WantedQueue::Time now{1h};
  for (const bool served : {false, true}) queue.add(names(0, 3 * WantedQueue::kMost, served), now);
  EXPECT_EQ(queue.take(now), names(2 * WantedQueue::kMost, 2 * WantedQueue::kMost + kMostWantedNames, false));
  now += WantedQueue::kWorth;
  EXPECT_EQ(queue.take(now), names(2 * WantedQueue::kMost, 2 * WantedQueue::kMost + kMostWantedNames, true));
}

TEST(WantedRate, OneWhoTellsTooMuchIsCut) {
  WantedRate rate(WantedRate::kOfAgent);
  WantedRate::Time now{1h};
  std::size_t told = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<WantedName> some = names(0, kMostWantedNames, false);
    rate.cut(some, now);
    told += some.size();
  }
  EXPECT_EQ(told, 1200U);
  now += 10s;
  std::vector<WantedName> some = names(0, kMostWantedNames, false);
  rate.cut(some, now);
  EXPECT_EQ(some, names(0, 200, false));
}

}  // namespace
}  // namespace edge::controller::relay
