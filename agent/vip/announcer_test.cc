#include "agent/vip/announcer.h"

#include <chrono>

#include <gtest/gtest.h>

namespace edge::agent::vip {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Announcer, WhatServesIsAnnounced) {
  Departure departure;
  EXPECT_TRUE(still_announced(departure, {.fit = true}, seconds(1)));
  EXPECT_FALSE(still_announced(departure, {.fit = false}, seconds(2)));
}

TEST(Announcer, WhoDepartsIsAnnouncedUntilRoutersChoseOthers) {
  Departure departure;
  const Candidate departs{.fit = true, .departs = true, .others = true};
  EXPECT_TRUE(still_announced(departure, departs, seconds(10)));
  EXPECT_TRUE(still_announced(departure, departs, seconds(10) + kNotice - milliseconds(1)));
  EXPECT_FALSE(still_announced(departure, departs, seconds(10) + kNotice));
  EXPECT_EQ(departure.withdrawn, seconds(10) + kNotice);
  EXPECT_FALSE(still_announced(departure, departs, seconds(20)));
  EXPECT_EQ(departure.withdrawn, seconds(10) + kNotice);
  // Drained no longer, and drained again.
  EXPECT_TRUE(still_announced(departure, {.fit = true}, seconds(21)));
  EXPECT_TRUE(still_announced(departure, departs, seconds(22)));
}

TEST(Announcer, TheLastThatServesGoesOn) {
  Departure departure;
  EXPECT_TRUE(still_announced(departure, {.fit = true, .departs = true}, seconds(10)));
  EXPECT_TRUE(still_announced(departure, {.fit = true, .departs = true}, seconds(20)));
  EXPECT_FALSE(still_announced(departure, {.fit = true, .departs = true, .others = true}, seconds(30)));
  EXPECT_TRUE(still_announced(departure, {.fit = true, .departs = true}, seconds(31))) << "the other one is gone";
}

/// Of an address that every node announces nobody is the holder, and it counts in nobody's share.
TEST(Announcer, NobodyHoldsASharedAddress) {
  Assignment assignment("a", 1, Time(0));
  assignment.set_rules({{.id = 1, .min_healthy_nodes = 2, .shared = true}, {.id = 2}});
  assignment.set_serves(1, Serves::kFull);
  assignment.set_serves(2, Serves::kFull);
  Time now{};
  for (; now < seconds(2); now += kBeat) assignment.step(now);
  EXPECT_FALSE(assignment.held().contains(1));
  EXPECT_TRUE(assignment.held().contains(2));
  EXPECT_FALSE(assignment.enough(1));
  Word word{.node = "b", .instance = 1, .number = 1, .addresses = {}};
  word.addresses.push_back({.id = 1, .serves = Serves::kFull, .offered_to = {}});
  ASSERT_TRUE(assignment.hear(word, now));
  EXPECT_TRUE(assignment.enough(1));
  EXPECT_FALSE(assignment.enough(3)) << "there is no such address";
  // One that was held, and is announced from now on.
  assignment.set_rules({{.id = 2, .shared = true}});
  assignment.step(now);
  EXPECT_TRUE(assignment.held().empty());
}

}  // namespace
}  // namespace edge::agent::vip
