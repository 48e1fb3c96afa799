#include "agent/vip/assignment.h"

#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace edge::agent::vip {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kFirst = 100;

/// Nodes that hear each other at once, by one clock.
struct Group {
  std::map<std::string, std::unique_ptr<Assignment>> nodes;
  std::size_t addresses;
  Time now = seconds(1);
  std::vector<std::pair<std::string, Move>> moves;

  explicit Group(std::size_t count) : addresses(count) {}

  Assignment& start(const std::string& name, std::uint64_t instance = 1, std::uint32_t min_healthy = 0) {
    auto& node = nodes[name] = std::make_unique<Assignment>(name, instance, now);
    std::vector<Rule> rules;
    for (std::size_t i = 0; i < addresses; ++i) rules.push_back({kFirst + i, min_healthy});
    node->set_rules(std::move(rules));
    for (std::size_t i = 0; i < addresses; ++i) node->set_serves(kFirst + i, Serves::kFull);
    return *node;
  }
  void run(Time time) {
    for (const Time end = now + time; now < end; now += milliseconds(50)) {
      for (auto& [name, node] : nodes) {
        for (Move& move : node->step(now)) moves.emplace_back(name, std::move(move));
        const Word word = node->word();
        for (auto& [other, hears] : nodes) hears->hear(word, now);
      }
    }
  }
  std::string holder(std::uint64_t id) const {
    std::string found;
    for (const auto& [name, node] : nodes) {
      if (node->held().contains(id)) found += (found.empty() ? "" : "+") + name;
    }
    return found;
  }
  std::map<std::uint64_t, std::string> holders() const {
    std::map<std::uint64_t, std::string> all;
    for (std::size_t i = 0; i < addresses; ++i) all[kFirst + i] = holder(kFirst + i);
    return all;
  }
};

TEST(Assignment, OneNodeHoldsEverythingOnceItHasListened) {
  Group group(3);
  group.start("a");
  group.run(kListen);
  EXPECT_TRUE(group.nodes["a"]->held().empty());
  group.run(milliseconds(100));
  EXPECT_EQ(group.nodes["a"]->held().size(), 3U);
  EXPECT_EQ(group.nodes["a"]->epoch(kFirst), 1U);
}

TEST(Assignment, SpreadsAddressesEvenlyAtTheStart) {
  Group group(200);
  for (const char* name : {"a", "b", "c"}) group.start(name);
  group.run(seconds(2));
  for (auto& [name, node] : group.nodes) {
    EXPECT_GE(node->held().size(), 66U) << name;
    EXPECT_LE(node->held().size(), 67U) << name;
  }
  EXPECT_EQ(group.moves.size(), 200U) << "each was taken once";
}

TEST(Assignment, ALostNodeMovesItsOwnAddressesAlone) {
  Group group(30);
  for (const char* name : {"a", "b", "c"}) group.start(name);
  group.run(seconds(15));
  const auto before = group.holders();
  group.nodes.erase("b");
  group.moves.clear();
  group.run(kSilence + milliseconds(150));
  for (const auto& [id, holder] : group.holders()) {
    if (before.at(id) != "b") {
      EXPECT_EQ(holder, before.at(id));
    } else {
      EXPECT_TRUE(holder == "a" || holder == "c") << holder;
    }
  }
  EXPECT_EQ(group.moves.size(), 10U);
  EXPECT_TRUE(std::ranges::all_of(group.moves, [](const auto& move) {
    return move.second.cause == Cause::kNodeLost && move.second.other == "b" && move.second.epoch == 2;
  }));
}

TEST(Assignment, ANodeThatComesIsGivenItsShareAndNothingElseMoves) {
  Group group(9);
  group.start("a");
  group.start("b");
  group.run(seconds(3));
  group.start("c");
  group.moves.clear();
  group.run(seconds(9));
  EXPECT_TRUE(group.moves.empty()) << "not before it has been there for a while";
  group.run(seconds(20));
  for (auto& [name, node] : group.nodes) EXPECT_EQ(node->held().size(), 3U) << name;
  EXPECT_EQ(std::ranges::count_if(group.moves, [](const auto& move) { return move.second.held; }), 3);
}

/// As the agent of a controller that `nodeSelector` does not choose.
TEST(Assignment, ANodeThatServesNothingKeepsNoOtherFromItsShare) {
  Group group(30);
  for (const char* name : {"a", "b"}) group.start(name);
  Assignment& idle = group.start("idle");
  for (std::size_t i = 0; i < group.addresses; ++i) idle.set_serves(kFirst + i, Serves::kNone);
  group.run(seconds(3));
  group.start("c");
  group.run(kStable + seconds(30));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(group.nodes[name]->held().size(), 10U) << name;
  EXPECT_TRUE(idle.held().empty());
}

TEST(Assignment, AnOfferIsTakenBeforeItsHolderLetsGo) {
  Group group(1);
  group.start("a");
  group.run(seconds(2));
  group.start("b");
  group.run(seconds(2));
  ASSERT_EQ(group.holder(kFirst), "a");
  EXPECT_FALSE(group.nodes["a"]->offer(kFirst, "nobody", group.now));
  EXPECT_FALSE(group.nodes["b"]->offer(kFirst, "a", group.now)) << "only its holder gives it away";
  ASSERT_TRUE(group.nodes["a"]->offer(kFirst, "b", group.now));
  group.moves.clear();
  group.run(seconds(30));
  EXPECT_EQ(group.holder(kFirst), "b");
  ASSERT_EQ(group.moves.size(), 2U);
  EXPECT_EQ(group.moves[0].first, "b");
  EXPECT_EQ(group.moves[0].second.cause, Cause::kOffered);
  EXPECT_EQ(group.moves[1].first, "a");
  EXPECT_EQ(group.moves[1].second.cause, Cause::kTaken);
  EXPECT_EQ(group.nodes["a"]->epoch(kFirst), 2U);
}

TEST(Assignment, ADrainedNodeGivesAwayWhatOthersServe) {
  Group group(2);
  group.start("a");
  group.start("b").set_serves(kFirst + 1, Serves::kNone);
  group.run(seconds(2));
  group.nodes["a"]->set_drained(true);
  group.run(seconds(1));
  EXPECT_EQ(group.holder(kFirst), "b");
  EXPECT_EQ(group.holder(kFirst + 1), "a") << "nobody else serves it";
  group.nodes["a"]->leave();
  group.run(seconds(1));
  group.nodes["a"]->let_go();
  group.run(seconds(1));
  EXPECT_EQ(group.holder(kFirst + 1), "");
  EXPECT_EQ(group.holder(kFirst), "b");
}

TEST(Assignment, ANodeThatServesItInPartHoldsItOnlyWhereNoneServesItWhole) {
  Group group(1);
  group.start("a").set_serves(kFirst, Serves::kPartly);
  group.run(seconds(2));
  EXPECT_EQ(group.holder(kFirst), "a");
  group.start("b");
  group.run(kStable + seconds(3));
  EXPECT_EQ(group.holder(kFirst), "b");
  group.nodes["b"]->set_serves(kFirst, Serves::kNone);
  group.run(milliseconds(200));
  EXPECT_EQ(group.holder(kFirst), "a");
}

TEST(Assignment, TooFewHealthyNodesHoldNothing) {
  Group group(1);
  group.start("a", 1, 2);
  group.run(seconds(2));
  EXPECT_EQ(group.holder(kFirst), "");
  group.start("b", 1, 2);
  group.run(seconds(2));
  EXPECT_NE(group.holder(kFirst), "");
  group.nodes["b"]->set_drained(true);
  group.run(seconds(2));
  EXPECT_EQ(group.holder(kFirst), "") << "a drained node is not healthy";
}

TEST(Assignment, WhatWasRemovedIsLetGoOf) {
  Group group(2);
  Assignment& a = group.start("a");
  group.run(seconds(2));
  group.moves.clear();
  a.set_rules({{kFirst, 0}});
  group.run(milliseconds(100));
  ASSERT_EQ(group.moves.size(), 1U);
  EXPECT_EQ(group.moves[0].second.cause, Cause::kRemoved);
  EXPECT_EQ(group.moves[0].second.id, kFirst + 1);
}

TEST(Assignment, ANodeThatStoodStillYieldsToWhoTookOver) {
  Group group(1);
  group.start("a");
  group.run(seconds(2));
  group.start("b");
  group.run(seconds(2));
  auto stopped = std::move(group.nodes["a"]);
  group.nodes.erase("a");
  group.run(seconds(3));
  EXPECT_EQ(group.holder(kFirst), "b");
  EXPECT_TRUE(stopped->held().contains(kFirst));
  EXPECT_TRUE(stopped->step(group.now).empty());
  EXPECT_FALSE(stopped->sure()) << "what it holds is not refreshed any more";
  EXPECT_TRUE(stopped->hear(group.nodes["b"]->word(), group.now));
  const auto moves = stopped->step(group.now);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].cause, Cause::kTaken);
}

TEST(Assignment, OldWordsAndItsOwnAreNotHeard) {
  Assignment a("a", 1, seconds(1));
  a.set_rules({{kFirst, 0}});
  Assignment b("b", 2, seconds(1));
  const Word first = b.word();
  const Word second = b.word();
  EXPECT_TRUE(a.hear(second, seconds(2)));
  EXPECT_FALSE(a.hear(first, seconds(2)));
  EXPECT_FALSE(a.hear(second, seconds(2)));
  Word older = b.word();
  older.instance = 1;
  EXPECT_FALSE(a.hear(older, seconds(2)));
  EXPECT_FALSE(a.hear(a.word(), seconds(2)));
  Word nameless = b.word();
  nameless.node.clear();
  EXPECT_FALSE(a.hear(nameless, seconds(2)));
}

TEST(Assignment, EpochsGoOnWhereTheyWere) {
  Group group(1);
  group.start("a").remember_epoch(kFirst, 41);
  group.run(seconds(2));
  EXPECT_EQ(group.nodes["a"]->epoch(kFirst), 42U);
}

TEST(Assignment, WhatAProcessBeforeHeldGoesOnAtOnce) {
  Group group(2);
  Assignment& a = group.start("a");
  a.adopt(kFirst, 7);
  EXPECT_TRUE(a.step(group.now).size() == 1) << "and the other one is taken";
  EXPECT_TRUE(a.sure());
  EXPECT_EQ(a.held().at(kFirst).epoch, 7U);
}

TEST(Assignment, OfTwoHalvesThatDoNotHearEachOtherOneYields) {
  Group group(1);
  for (const char* name : {"a", "b", "c", "d"}) group.start(name);
  group.run(seconds(2));
  Group other(1);
  other.now = group.now;
  for (const char* name : {"c", "d"}) {
    other.nodes[name] = std::move(group.nodes[name]);
    group.nodes.erase(name);
  }
  group.run(seconds(2));
  other.run(seconds(2));
  ASSERT_NE(group.holder(kFirst), "");
  ASSERT_NE(other.holder(kFirst), "");
  EXPECT_NE(group.nodes["a"]->yields_to_unheard(kFirst), other.nodes["c"]->yields_to_unheard(kFirst));
  EXPECT_EQ(group.nodes["a"]->yields_to_unheard(kFirst), group.nodes["b"]->yields_to_unheard(kFirst));
  group.nodes.erase("b");
  group.run(seconds(2));
  EXPECT_TRUE(group.nodes["a"]->yields_to_unheard(kFirst)) << "one of four";
}

}  // namespace
}  // namespace edge::agent::vip
