// Leaders of one Lease, on clocks that the test moves.
#include "controller/kube/elector.h"

#include <atomic>

#include <nlohmann/json.hpp>

#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using std::chrono::seconds;

constexpr char kLease[] = "/apis/coordination.k8s.io/v1/namespaces/edge-system/leases/edge-controller";

/// One candidate: a loop with a clock of its own, monotonic and wall.
class Candidate {
 public:
  Candidate(const std::string& url, const std::string& name) : bench_(config_of(url), {.tries = 0}, &clock_) {
    elector_ = std::make_unique<kube::Elector>(
        bench_.client(),
        kube::ElectorOptions{.identity = name, .wall = [this] { return wall; }, .random = [] { return 0.0; }},
        kube::ElectorEvents{.elected = [this] { ++elected; },
                            .deposed = [this] { ++deposed; },
                            .leader = [this](const std::string& who) { leader = who; }});
    elector_->start();
  }
  kube::Elector& elector() { return *elector_; }
  Bench& bench() { return bench_; }
  void advance(net::Duration by) {
    clock_.advance(by);
    bench_.loop().poll();
  }
  bool until(const std::function<bool()>& holds) { return bench_.until(holds); }
  /// The next try, from its time to its end.
  void try_again() {
    const std::uint64_t before = elector_->tries();
    advance(seconds(2) + net::TimerWheel::kTick);
    ASSERT_TRUE(until([&] { return elector_->tries() > before; }));
  }

  int elected = 0;
  int deposed = 0;
  std::string leader;
  std::chrono::system_clock::time_point wall{seconds(1'700'000'000)};

 private:
  net::ManualClock clock_;
  Bench bench_;
  std::unique_ptr<kube::Elector> elector_;
};

class ElectorTest : public testing::Test {
 protected:
  nlohmann::json spec() const { return nlohmann::json::parse(shelf_.text(kLease))["spec"]; }
  void handle(Exchange& exchange) {
    ++calls_;
    if (silent_) return exchange.wait_for_end();
    shelf_.handle(exchange);
  }

  ObjectShelf shelf_;
  std::atomic<bool> silent_ = false;
  std::atomic<std::size_t> calls_ = 0;
  FakeApi api_{[this](Exchange& exchange) { handle(exchange); }};
};

TEST_F(ElectorTest, TakesALeaseThatNobodyHas) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  EXPECT_TRUE(one.elector().leads());
  EXPECT_EQ(one.leader, "one");
  EXPECT_EQ(spec()["holderIdentity"], "one");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 15);
  EXPECT_EQ(spec()["leaseTransitions"], 0);
  EXPECT_EQ(spec()["renewTime"], "2023-11-14T22:13:20.000000Z");
}

TEST_F(ElectorTest, RenewsInTime) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  for (int i = 0; i < 20; ++i) {
    one.wall += seconds(2);
    one.try_again();
  }
  EXPECT_EQ(spec()["renewTime"], "2023-11-14T22:14:00.000000Z");
  EXPECT_EQ(one.elected, 1);
  EXPECT_EQ(one.deposed, 0);
  EXPECT_EQ(spec()["acquireTime"], "2023-11-14T22:13:20.000000Z");
}

/// The other's times are of a clock that is hours away: only that nothing changes counts.
TEST_F(ElectorTest, WaitsForAnothersLeaseByItsOwnClock) {
  shelf_.put(kLease,
             R"({"metadata":{"name":"edge-controller","labels":{"keep":"me"}},"spec":{"holderIdentity":"other",)"
             R"("leaseDurationSeconds":15,"leaseTransitions":4,"renewTime":"2038-01-01T00:00:00.000000Z"}})");
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.leader == "other" && one.elector().tries() == 1; }));
  for (int i = 0; i < 7; ++i) {
    one.try_again();
    EXPECT_EQ(one.elected, 0) << i;
  }
  one.advance(seconds(3));
  ASSERT_TRUE(one.until([&] { return one.elected == 1; }));
  EXPECT_EQ(spec()["leaseTransitions"], 5);
  // What others have put into the object stays.
  EXPECT_EQ(nlohmann::json::parse(shelf_.text(kLease))["metadata"]["labels"]["keep"], "me");
}

TEST_F(ElectorTest, StepsDownWhenItCannotRenew) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  silent_ = true;
  const std::size_t before = calls_;
  one.advance(seconds(2) + net::TimerWheel::kTick);
  ASSERT_TRUE(one.until([&] { return calls_ > before; }));
  EXPECT_TRUE(one.elector().leads());
  // The call is under way and not answered.
  one.advance(seconds(8));
  ASSERT_TRUE(one.until([&] { return one.deposed == 1 && one.elector().tries() == 2; }));
  EXPECT_FALSE(one.elector().leads());
  silent_ = false;
  one.try_again();
  EXPECT_EQ(one.elected, 2);
}

/// A process that was stopped for long, and goes on as if nothing had been.
TEST_F(ElectorTest, DoesNotLeadAfterALongSleep) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  nlohmann::json lease = nlohmann::json::parse(shelf_.text(kLease));
  lease["spec"]["holderIdentity"] = "two";
  shelf_.put(kLease, lease.dump());
  one.advance(std::chrono::hours(1));
  EXPECT_FALSE(one.elector().leads());
  ASSERT_TRUE(one.until([&] { return one.deposed == 1 && one.leader == "two"; }));
  EXPECT_EQ(one.elected, 1);
}

/// The wall clock is written into the Lease and never read: a jump of hours, either way, on either side, neither ends a
/// leadership nor gives a second one.
TEST_F(ElectorTest, AWallClockThatJumpsChangesNothing) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  Candidate two(api_.url(), "two");
  ASSERT_TRUE(two.until([&] { return two.elector().tries() == 1; }));
  for (const auto jump : {std::chrono::hours(-48), std::chrono::hours(96), std::chrono::hours(-1)}) {
    one.wall += jump;
    two.wall -= 2 * jump;
    for (int i = 0; i < 10; ++i) {
      // A renewal is seen by its time, which is another each time.
      one.wall += seconds(2);
      one.try_again();
      two.try_again();
      EXPECT_TRUE(one.elector().leads());
      EXPECT_FALSE(two.elector().leads());
    }
  }
  EXPECT_EQ(one.elected, 1);
  EXPECT_EQ(one.deposed, 0);
  EXPECT_EQ(two.elected, 0);
  EXPECT_EQ(spec()["leaseTransitions"], 0);
}

TEST_F(ElectorTest, HasOneLeaderOfTwo) {
  Candidate one(api_.url(), "one");
  ASSERT_TRUE(one.until([&] { return one.elected == 1 && one.elector().tries() == 1; }));
  Candidate two(api_.url(), "two");
  ASSERT_TRUE(two.until([&] { return two.leader == "one" && two.elector().tries() == 1; }));
  EXPECT_EQ(two.elected, 0);
  // The first gives it back; the second has it with its next try.
  net::Waiter waiter(one.bench().loop());
  std::optional<bool> stopped;
  one.bench().start<bool>(
      [&](net::Waiter& w) -> net::Task<bool> {
        co_await one.elector().stop(w);
        co_return true;
      },
      stopped);
  ASSERT_TRUE(one.until([&] { return stopped.has_value(); }));
  EXPECT_EQ(one.deposed, 1);
  EXPECT_EQ(spec()["holderIdentity"], "");
  two.advance(seconds(2) + net::TimerWheel::kTick);
  ASSERT_TRUE(two.until([&] { return two.elected == 1; }));
  EXPECT_EQ(spec()["leaseTransitions"], 1);
}

}  // namespace
}  // namespace edge::test
