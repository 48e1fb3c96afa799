#include "controller/acme/name_faults.h"

#include <gtest/gtest.h>

namespace edge::controller::acme {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;

TEST(NameFaults, OneIsOverWhenItWasNotMetForAWhileOrWorks) {
  NameFaults faults;
  EXPECT_EQ(faults.text(kNow), "");
  faults.meet(NameFaults::Kind::kFull, kNow);
  faults.meet(NameFaults::Kind::kUnanswered, kNow + 100);
  EXPECT_NE(faults.text(kNow + 100).find("askURL gives no answer"), std::string::npos);
  faults.end(NameFaults::Kind::kUnanswered);
  EXPECT_NE(faults.text(kNow + NameFaults::kHolds - 1).find("maxNames"), std::string::npos);
  EXPECT_EQ(faults.text(kNow + NameFaults::kHolds), "");
  EXPECT_EQ(faults.text(kNow - 1), "") << "a clock that was set back";
}

TEST(NameFaults, AnotherControllersFaultIsLeftToItWhileItRepeatsIt) {
  const KeptFault first = next_fault({}, "one", "full", kNow);
  EXPECT_EQ(first, (KeptFault{"one", "full", kNow}));
  EXPECT_EQ(next_fault(first, "one", "full", kNow + 599), first);
  EXPECT_EQ(next_fault(first, "one", "full", kNow + 600).at, kNow + 600);
  EXPECT_EQ(next_fault(first, "one", "busy", kNow + 1).text, "busy");
  EXPECT_EQ(next_fault(first, "one", "", kNow + 1), KeptFault{});
  EXPECT_EQ(next_fault(first, "two", "", kNow + 1799), first);
  EXPECT_EQ(next_fault(first, "two", "busy", kNow + 1799), first);
  EXPECT_EQ(next_fault(first, "two", "", kNow + 1800), KeptFault{});
  EXPECT_EQ(next_fault(first, "two", "busy", kNow - 1), (KeptFault{"two", "busy", kNow - 1})) << "of a clock ahead";
}

TEST(NameFaults, WhatIsKeptIsReadAgainAndNothingElse) {
  const KeptFault fault{"one", "full", kNow};
  EXPECT_EQ(read_fault(write_fault(fault)), fault);
  EXPECT_EQ(write_fault({}), "");
  EXPECT_EQ(read_fault("[1]"), KeptFault{});
  EXPECT_EQ(read_fault(R"({"by":"one","at":1})"), KeptFault{});
  EXPECT_EQ(read_fault(R"({"by":"one","at":1,"text":")" + std::string(301, 'x') + "\"}"), KeptFault{});
}

}  // namespace
}  // namespace edge::controller::acme
