#include "agent/wan/liveness.h"

#include <random>

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProbedPath {
 public:
  void answered(int count = 1) {
    for (; count > 0; --count) life.answered(next());
  }
  void missed(int count = 1) {
    for (; count > 0; --count) life.missed(next());
  }
  /// Misses until it is dead. \returns how many that took; `most` when it lives yet.
  unsigned until_dead(unsigned most = 100) {
    unsigned count = 0;
    for (; life.alive() && count < most; ++count) missed();
    return count;
  }
  Time next() { return now += milliseconds(100); }

  Liveness life;
  Time now = seconds(1);
};

TEST(Liveness, ThreeAnswersMakeAPathAlive) {
  ProbedPath path;
  EXPECT_FALSE(path.life.alive());
  path.answered();
  const Time first = path.now;
  path.missed(2);
  path.answered();
  EXPECT_FALSE(path.life.alive());
  path.answered();
  EXPECT_TRUE(path.life.alive());
  EXPECT_EQ(path.life.since(), first);
}

TEST(Liveness, AnswersAcrossAnOutageAreNotAddedUp) {
  ProbedPath path;
  for (int i = 0; i < 10; ++i) {
    path.answered(2);
    path.missed(3);
  }
  EXPECT_FALSE(path.life.alive());
}

TEST(Liveness, ACleanPathIsDeadAfterThreeMissed) {
  ProbedPath path;
  path.answered(50);
  path.missed();
  const Time first = path.now;
  EXPECT_EQ(path.until_dead(), 2U);
  EXPECT_EQ(path.life.since(), first);
}

TEST(Liveness, APathThatLosesALotIsDeadAfterMore) {
  ProbedPath path;
  path.answered(3);
  unsigned before = 0;
  for (const int answered : {63, 7, 3, 1}) {
    // One of 64, of 8, of 4, of 2.
    for (int i = 0; i < 50; ++i) {
      path.missed();
      path.answered(answered);
    }
    ProbedPath copy = path;
    const unsigned missed = copy.until_dead();
    EXPECT_EQ(missed, path.life.missed_until_dead());
    EXPECT_GT(missed, before);
    before = missed;
  }
  EXPECT_GE(before, 15U);
}

TEST(Liveness, AnyPathIsDeadAfterThirtyMissed) {
  ProbedPath path;
  path.answered(3);
  for (int row = 1; row < 10; ++row) {
    for (int i = 0; i < 50; ++i) {
      path.missed(row);
      path.answered();
    }
  }
  EXPECT_TRUE(path.life.alive());
  EXPECT_EQ(path.until_dead(), kMostMissed);
}

TEST(Liveness, AnOutageDoesNotMakeTheNextOneLastLonger) {
  ProbedPath path;
  path.answered(50);
  path.missed(6'000);
  path.answered(150);
  EXPECT_EQ(path.until_dead(), kFewestMissed);
}

TEST(Liveness, RandomLossKillsSeldom) {
  for (const double loss : {0.05, 0.2, 0.36, 0.5}) {
    std::mt19937 random(7);
    std::bernoulli_distribution lost(loss);
    ProbedPath path;
    path.answered(3);
    int deaths = 0;
    bool alive = true;
    // A day of ten probes a second.
    for (int i = 0; i < 864'000; ++i) {
      lost(random) ? path.missed() : path.answered();
      deaths += alive && !path.life.alive() ? 1 : 0;
      alive = path.life.alive();
    }
    EXPECT_LE(deaths, 24) << loss;
  }
}

}  // namespace
}  // namespace edge::agent::wan
