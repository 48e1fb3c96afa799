#include "runtime/session/arrival.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "net/clock.h"
#include "net/loop.h"

namespace edge::runtime {
namespace {

constexpr std::string_view kHead = "GET /a?b=c HTTP/1.1\r\nHost: Shop.example\r\nX-Team: edge\r\n\r\n";
constexpr std::string_view kOther = "PUT /other HTTP/1.1\r\nHost: evil.example\r\nX-Team: none\r\n\r\n";

/// A thread's scratch with a head in it, as it was received.
class HeadOverWaitsTest : public testing::Test {
 protected:
  HeadOverWaitsTest() {
    receive(kHead);
    arrival_.host = "shop.example";
    arrival_.path = "/a";
  }

  void receive(std::string_view text) {
    std::ranges::copy(text, scratch_.client().begin());
    net::http1::ParseHint hint;
    const auto parsed =
        net::http1::parse_request({scratch_.client().data(), text.size()}, scratch_.limits, hint, scratch_.request);
    ASSERT_EQ(parsed.state, net::http1::ParseState::kComplete);
  }

  net::Task<int> phase_that_waits() {
    co_await waiter_.wait(net::kNever);
    co_return 7;
  }
  net::Detached await_phase() {
    net::Task<int> phase = phase_that_waits();
    result_ = co_await heads_.over(phase);
  }
  net::Detached await_ready_phase() {
    net::Task<int> phase(3);
    result_ = co_await heads_.over(phase);
  }

  void expect_the_head() const {
    EXPECT_EQ(scratch_.request.target, "/a?b=c");
    EXPECT_EQ(scratch_.request.fields.size(), 2U);
    EXPECT_EQ(scratch_.request.fields[1].value, "edge");
    EXPECT_EQ(arrival_.host, "shop.example");
    EXPECT_EQ(arrival_.path, "/a");
  }

  net::Loop loop_;
  net::Waiter waiter_{loop_};
  Scratch scratch_{net::http1::HeadLimits{}};
  net::Inlet inlet_;
  Arrival arrival_;
  HeadOverWaits heads_{scratch_, inlet_, arrival_};
  int result_ = 0;
};

TEST_F(HeadOverWaitsTest, FindsTheHeadAgainThatOthersHaveWrittenOver) {
  await_phase();
  EXPECT_EQ(result_, 0);
  receive(kOther);
  waiter_.wake(net::Wake::kReady);
  EXPECT_EQ(result_, 7);
  expect_the_head();
}

TEST_F(HeadOverWaitsTest, DoesSoForEveryPhaseThatWaits) {
  for (int phases = 0; phases < 2; ++phases) {
    result_ = 0;
    await_phase();
    receive(kOther);
    waiter_.wake(net::Wake::kReady);
    EXPECT_EQ(result_, 7);
    expect_the_head();
  }
}

TEST_F(HeadOverWaitsTest, CopiesNothingForOneThatIsReady) {
  await_ready_phase();
  EXPECT_EQ(result_, 3);
  EXPECT_EQ(arrival_.kept, nullptr);
  expect_the_head();
}

}  // namespace
}  // namespace edge::runtime
