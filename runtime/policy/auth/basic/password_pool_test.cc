#include "runtime/policy/auth/basic/password_pool.h"

#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/policy/auth/verified_cache.h"

namespace edge::runtime::auth {
namespace {

using Answer = PasswordPool::Answer;

/// alice:secret; a check takes some milliseconds, so that what is asked at once waits.
constexpr const char* kFile = "alice:$2y$08$tEfybTIjGUzjHdm1ViNAceCpy6qj3kR8OLOirzs.jshJn9FtPv2l2\n";

/// However busy the machine is.
constexpr net::Duration kPatient = std::chrono::minutes(5);

Digest digest_of(int number) {
  Digest digest{};
  digest[0] = static_cast<std::uint8_t>(number);
  digest[1] = static_cast<std::uint8_t>(number >> 8);
  return digest;
}

class PasswordPoolTest : public testing::Test {
 protected:
  PasswordPool::Question question(int number, std::uint64_t source = 1) const {
    return {digest_of(number), source, users, users->find("alice"), "guess " + std::to_string(number)};
  }

  net::Detached ask(PasswordPool& pool, PasswordPool::Question asked, net::Channel* asker = nullptr) {
    net::Waiter waiter(loop);
    const Answer answer = co_await pool.check(loop, waiter, std::move(asked), asker);
    answers.push_back(answer);
    if (--left == 0) loop.stop();
  }
  /// Asks all of them in one batch, and comes back when each has its answer.
  void ask_all(PasswordPool& pool, const std::vector<PasswordPool::Question>& questions) {
    left = questions.size();
    loop.post([&] {
      for (const PasswordPool::Question& each : questions) ask(pool, each);
    });
    loop.run();
  }
  std::size_t count(Answer answer) const {
    std::size_t sum = 0;
    for (const Answer each : answers) sum += each == answer ? 1 : 0;
    return sum;
  }

  const std::shared_ptr<const Htpasswd> users = std::make_shared<const Htpasswd>(Htpasswd::read(kFile));
  net::Loop loop;
  std::vector<Answer> answers;
  std::size_t left = 0;
};

TEST_F(PasswordPoolTest, EqualQuestionsAreOneCheck) {
  PasswordPool pool({.threads = 1, .patience = kPatient});
  ask_all(pool, std::vector(100, question(1)));
  EXPECT_EQ(count(Answer::kWrong), 100u);
  EXPECT_EQ(pool.checks(), 1u);
  EXPECT_EQ(pool.refusals(), 0u);
}

TEST_F(PasswordPoolTest, WhatFindsNoRoomIsRefusedAtOnce) {
  PasswordPool pool({.threads = 1, .max_waiting = 4, .max_of_source = 4, .patience = kPatient});
  std::vector<PasswordPool::Question> flood;
  for (int i = 0; i < 100; ++i) flood.push_back(question(i));
  ask_all(pool, flood);
  EXPECT_EQ(count(Answer::kWrong), pool.checks());
  EXPECT_EQ(count(Answer::kBusy), pool.refusals());
  EXPECT_EQ(pool.checks() + pool.refusals(), 100u);
  EXPECT_GE(pool.refusals(), 50u);
  EXPECT_GE(pool.checks(), 4u);
}

TEST_F(PasswordPoolTest, WhoFloodsLeavesRoomForOthers) {
  PasswordPool pool({.threads = 1, .max_waiting = 64, .max_of_source = 4, .patience = kPatient});
  std::vector<PasswordPool::Question> questions;
  for (int i = 0; i < 100; ++i) questions.push_back(question(i, 1));
  questions.push_back(question(1000, 2));
  ask_all(pool, questions);
  // The other client was refused nothing: all refusals are of the first one, which has a hundred questions.
  EXPECT_EQ(pool.checks() + pool.refusals(), 101u);
  EXPECT_GE(pool.refusals(), 50u);
  EXPECT_GE(pool.checks(), 5u);
}

TEST_F(PasswordPoolTest, WhoLeavesMakesRoom) {
  constexpr int kEach = 20;
  PasswordPool pool({.threads = 1, .max_waiting = kEach, .max_of_source = kEach, .patience = kPatient});
  std::vector<std::unique_ptr<net::Channel>> askers;
  std::vector<net::Fd> peers;
  for (int i = 0; i < kEach; ++i) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    askers.push_back(std::make_unique<net::Channel>());
    askers.back()->open(loop, net::Fd(pair[0]));
    peers.emplace_back(pair[1]);
  }
  left = 2 * kEach;
  loop.post([&] {
    for (int i = 0; i < kEach; ++i) ask(pool, question(i), askers[static_cast<std::size_t>(i)].get());
    peers.clear();
  });
  // The second half comes once all of the first has gone.
  const auto follow = [&](const auto& again) -> void {
    if (answers.size() < kEach) return loop.post([&] { again(again); });
    for (int i = kEach; i < 2 * kEach; ++i) ask(pool, question(i));
  };
  loop.post([&] { follow(follow); });
  loop.run();
  EXPECT_EQ(pool.refusals(), 0u);
  EXPECT_GE(count(Answer::kWrong), static_cast<std::size_t>(kEach));
}

TEST_F(PasswordPoolTest, AUserThatIsNotThereIsCheckedToo) {
  PasswordPool pool({.threads = 1, .patience = kPatient});
  PasswordPool::Question unknown = question(1);
  unknown.hash = nullptr;
  unknown.password = "secret";
  ask_all(pool, {unknown});
  EXPECT_EQ(count(Answer::kWrong), 1u);
  EXPECT_EQ(pool.checks(), 1u);
}

TEST_F(PasswordPoolTest, WhatNobodyWaitsForAnyMoreIsNotChecked) {
  PasswordPool pool({.threads = 1, .patience = std::chrono::nanoseconds(0)});
  std::vector<PasswordPool::Question> questions;
  for (int i = 0; i < 10; ++i) questions.push_back(question(i));
  ask_all(pool, questions);
  EXPECT_EQ(count(Answer::kBusy), 10u);
  EXPECT_LE(pool.checks(), 1u);
}

TEST(VerifiedCache, TheLongestUnusedMakesRoom) {
  VerifiedCache<int> cache(16);
  // Of one shard, which has one place.
  Digest one = digest_of(1);
  Digest two = digest_of(2);
  cache.put(one, 1);
  EXPECT_EQ(cache.find(one), 1);
  cache.put(one, 11);
  EXPECT_EQ(cache.find(one), 11);
  cache.put(two, 2);
  EXPECT_EQ(cache.find(one), std::nullopt);
  EXPECT_EQ(cache.find(two), 2);
  EXPECT_EQ(cache.size(), 1u);
  cache.remove(two);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(DigestKey, EveryPartCountsAndKeysDiffer) {
  const DigestKey key;
  EXPECT_EQ(key.of({"a", "b"}), key.of({"a", "b"}));
  EXPECT_NE(key.of({"a", "b"}), key.of({"ab", ""}));
  EXPECT_NE(key.of({"a", "b"}), key.of({"a", "b", ""}));
  EXPECT_NE(key.of({"a"}), DigestKey().of({"a"}));
}

}  // namespace
}  // namespace edge::runtime::auth
