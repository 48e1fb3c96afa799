#include "controller/acme/questions.h"

#include <vector>

#include <gtest/gtest.h>

namespace edge::controller::acme {
namespace {

constexpr std::int64_t kFirstMinute = 1'800'000'000;

WantedName name_of(const std::string& listener, std::size_t number) {
  return {.name_space = "shop", .secret = listener, .host = "n" + std::to_string(number) + ".example.com"};
}

/// Asks for all that wait, one after the other. \returns how many of that listener were allowed.
std::size_t ask_all(Questions& questions, std::int64_t now, const std::string& listener) {
  std::size_t allowed = 0;
  while (const auto next = questions.take(now)) {
    if (!next->allowed) continue;
    if (next->name.secret == listener) ++allowed;
    questions.ended(next->name);
  }
  return allowed;
}

TEST(Questions, OfOneListenerLeaveTheMinuteOfOthers) {
  Questions questions;
  for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(questions.add(name_of("loud", i)));
  EXPECT_EQ(ask_all(questions, kFirstMinute, "loud"), Questions::kMostInMinuteOfListener);
  EXPECT_TRUE(questions.add(name_of("quiet", 1)));
  EXPECT_EQ(ask_all(questions, kFirstMinute, "quiet"), 1U);
  EXPECT_TRUE(questions.add(name_of("loud", 100)));
  EXPECT_EQ(ask_all(questions, kFirstMinute + 59, "loud"), 0U);
  EXPECT_TRUE(questions.add(name_of("loud", 100)));
  EXPECT_EQ(ask_all(questions, kFirstMinute + 60, "loud"), 1U);
  // The clock is set back.
  for (std::size_t i = 0; i < 100; ++i) questions.add(name_of("loud", i));
  EXPECT_EQ(ask_all(questions, kFirstMinute - 3600, "loud"), Questions::kMostInMinuteOfListener);
}

TEST(Questions, OfAllListenersAreBounded) {
  Questions questions;
  std::size_t allowed = 0;
  for (int listener = 0; listener < 20; ++listener) {
    const std::string name = "l" + std::to_string(listener);
    for (std::size_t i = 0; i < 50; ++i) questions.add(name_of(name, i));
    allowed += ask_all(questions, kFirstMinute, name);
  }
  // 9 listeners with 50 each, 30 of the next one, and what is the own of each of the others.
  EXPECT_EQ(allowed, Questions::kMostInMinute + 10 * Questions::kOwnInMinuteOfListener);
}

TEST(Questions, ThatGetNoAnswerKeepNoOtherListenerWaiting) {
  Questions questions;
  for (std::size_t i = 0; i < 10; ++i) questions.add(name_of("stalls", i));
  questions.add(name_of("answers", 1));
  EXPECT_EQ(questions.take(kFirstMinute)->name.secret, "stalls");
  EXPECT_EQ(questions.take(kFirstMinute)->name.secret, "answers") << "though others have waited longer";
  EXPECT_EQ(questions.take(kFirstMinute)->name.secret, "stalls");
  EXPECT_FALSE(questions.take(kFirstMinute).has_value());
  questions.ended(name_of("stalls", 0));
  const auto next = questions.take(kFirstMinute);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->name.host, "n2.example.com");
}

TEST(Questions, OfSeveralLoudListenersLeaveAQuietOneTheNextPlace) {
  Questions questions;
  for (const char* const loud : {"loud", "louder"}) {
    for (std::size_t i = 0; i < Questions::kMostWaitingOfListener; ++i) questions.add(name_of(loud, i));
  }
  std::vector<WantedName> asked;
  for (std::size_t i = 0; i < Questions::kMost; ++i) asked.push_back(questions.take(kFirstMinute)->name);
  EXPECT_TRUE(questions.add(name_of("quiet", 0)));
  questions.ended(asked.front());
  EXPECT_EQ(questions.take(kFirstMinute)->name.secret, "quiet");
}

TEST(Questions, ThatWaitAreBoundedOfEachListenerAndOfAll) {
  Questions questions;
  for (std::size_t i = 0; i < 2 * Questions::kMostWaitingOfListener; ++i) {
    EXPECT_EQ(questions.add(name_of("loud", i)), i < Questions::kMostWaitingOfListener) << i;
  }
  EXPECT_TRUE(questions.add(name_of("loud", 0))) << "it waits already";
  EXPECT_TRUE(questions.add(name_of("quiet", 0)));
  std::size_t waiting = Questions::kMostWaitingOfListener + 1;
  for (int listener = 0; listener < 20; ++listener) {
    for (std::size_t i = 0; i < 100; ++i) waiting += questions.add(name_of("l" + std::to_string(listener), i)) ? 1 : 0;
  }
  // 8 listeners with 100 each, one with what is left of the room, and what is the own of each of the others.
  EXPECT_EQ(waiting, Questions::kMostWaiting + 11 * Questions::kOwnWaitingOfListener);
}

}  // namespace
}  // namespace edge::controller::acme
