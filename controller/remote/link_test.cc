// Two ends of a link with a way between them that the test rules, and the phases that follow, on a clock of the test's.
#include "controller/remote/link.h"

#include <deque>
#include <utility>

#include <gtest/gtest.h>

#include "controller/remote/phase.h"

namespace edge::controller::remote {
namespace {

using namespace std::chrono_literals;

constexpr Heartbeat kHeartbeat{1s, 3s};

/// A link of two sides, by which what is said arrives in the same moment unless the way is cut.
class TwoSides {
 public:
  explicit TwoSides(net::Time now) : now_(now), hub_(kHeartbeat, now), spoke_(kHeartbeat, now) {}

  /// What is due is said, until nothing more is.
  void exchange() {
    for (bool more = true; more;) {
      more = carry(hub_, spoke_, hub_says) || carry(spoke_, hub_, spoke_says);
      more = more && (hub_says || spoke_says);
    }
  }
  void pass(net::Duration time) {
    for (net::Duration gone{}; gone < time; gone += 100ms) {
      now_ += 100ms;
      exchange();
    }
  }
  PhaseView phase(bool was_connected = false) const {
    return phase_of({.was_connected = was_connected, .link = hub_.facts(), .report = hub_.report()}, kHeartbeat, now_);
  }
  net::Time now() const { return now_; }
  const Link& hub() const { return hub_; }
  const Link& spoke() const { return spoke_; }

  bool hub_says = true;    ///< what it says arrives
  bool spoke_says = true;  ///< likewise
  Report report{3, 3, std::string(64, 'a'), 0ms};

 private:
  bool carry(Link& from, Link& to, bool arrives) {
    const std::vector<Word> words = from.due(report, now_);
    for (const Word& word : words) {
      if (arrives) EXPECT_TRUE(to.hear(word, now_));
    }
    return !words.empty();
  }

  net::Time now_;
  Link hub_, spoke_;
};

class LinkTest : public testing::Test {
 protected:
  static constexpr net::Time kStart{1h};
  TwoSides sides_{kStart};
};

TEST_F(LinkTest, IsConnectedOnceAProbeWentBothWays) {
  EXPECT_EQ(sides_.phase().phase, Phase::kConnecting);
  sides_.exchange();
  // Without waiting for an interval.
  EXPECT_EQ(sides_.phase(), (PhaseView{Phase::kConnected, "ProbedBothWays", "probes go both ways"}));
  EXPECT_EQ(sides_.hub().report(), sides_.report);
  sides_.pass(60s);
  EXPECT_EQ(sides_.phase().phase, Phase::kConnected);
}

TEST_F(LinkTest, ASideThatHearsNothingIsNotConnectedThoughItIsHeard) {
  sides_.hub_says = false;
  sides_.pass(1s);
  EXPECT_EQ(sides_.phase().phase, Phase::kConnecting);
  sides_.pass(3s);
  EXPECT_EQ(sides_.phase().phase, Phase::kDegraded);
  EXPECT_EQ(sides_.phase().reason, "ProbeUnanswered");
  EXPECT_FALSE(sides_.hub().is_lost(sides_.now()));
  // The other side gives it up.
  EXPECT_TRUE(sides_.spoke().is_lost(sides_.now()));
}

TEST_F(LinkTest, ADirectionThatIsLostLaterDegradesIt) {
  sides_.pass(10s);
  sides_.hub_says = false;
  sides_.pass(1s);
  EXPECT_EQ(sides_.phase().phase, Phase::kConnected);
  sides_.pass(2100ms);
  EXPECT_EQ(sides_.phase().phase, Phase::kDegraded);
}

TEST_F(LinkTest, ASilentSideIsGivenUpAtItsTimeout) {
  sides_.pass(10s);
  sides_.spoke_says = false;
  const net::Time heard = sides_.hub().facts().heard;
  while (sides_.now() < heard + 2900ms) sides_.pass(100ms);
  EXPECT_NE(sides_.phase(true).phase, Phase::kDisconnected);
  sides_.pass(100ms);
  EXPECT_EQ(sides_.phase(true).phase, Phase::kDisconnected);
  EXPECT_EQ(sides_.phase(true).reason, "HeartbeatTimeout");
  EXPECT_TRUE(sides_.hub().is_lost(sides_.now()));
}

TEST_F(LinkTest, AgentsThatLackAProgramForLongDegradeIt) {
  sides_.exchange();
  sides_.report = {3, 2, std::string(64, 'b'), 2999ms};
  sides_.pass(1s);
  EXPECT_EQ(sides_.phase().phase, Phase::kConnected);
  sides_.report.lag = 3s;
  sides_.pass(1s);
  EXPECT_EQ(sides_.phase(),
            (PhaseView{Phase::kDegraded, "AgentsNotReady", "2 of 3 agents run the program of their cluster"}));
  sides_.report = {3, 3, std::string(64, 'b'), 0ms};
  sides_.pass(1s);
  EXPECT_EQ(sides_.phase().phase, Phase::kConnected);
}

TEST_F(LinkTest, ASideThatSaysTooMuchEndsIt) {
  Link link(kHeartbeat, kStart);
  int taken = 0;
  while (taken < 1000 && link.hear(Probe{1, 0}, kStart)) ++taken;
  EXPECT_EQ(taken, static_cast<int>(Link::kMostWordsAtOnce));
  EXPECT_EQ(link.hear(Leaving{}, kStart).error().code, ErrorCode::kResourceExhausted);
  // What it is answered is bounded too.
  EXPECT_LE(link.due({}, kStart).size(), 66U);
  EXPECT_TRUE(link.hear(Leaving{}, kStart + 20ms));
}

TEST_F(LinkTest, ThirtyWordsASecondAreNotTooMany) {
  constexpr Heartbeat kShortest{100ms, 200ms};
  EXPECT_EQ(bounded({1ms, 1ms}), kShortest);
  Link link(kShortest, kStart);
  for (net::Time at = kStart; at < kStart + 60s; at += 100ms) {
    for (const Word& word : {Word(Probe{1, 0}), Word(Report{}), Word(Leaving{})}) ASSERT_TRUE(link.hear(word, at));
  }
}

TEST_F(LinkTest, AnAnswerToWhatWasNotAskedEndsIt) {
  Link link(kHeartbeat, kStart);
  EXPECT_EQ(link.hear(ProbeReply{1}, kStart).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(link.due({}, kStart).empty());
  EXPECT_TRUE(link.hear(ProbeReply{1}, kStart + 40ms));
  EXPECT_EQ(link.facts().round_trip, 40ms);
  // Once more is no news.
  EXPECT_TRUE(link.hear(ProbeReply{1}, kStart + 90ms));
  EXPECT_EQ(link.facts().round_trip, 40ms);
  EXPECT_FALSE(link.hear(ProbeReply{0}, kStart + 90ms));
}

TEST(Phase, SaysWhyThereIsNoConnection) {
  const net::Time now(1h);
  const auto phase = [&](ClusterFacts facts) { return phase_of(facts, kHeartbeat, now); };
  EXPECT_EQ(phase({}), (PhaseView{Phase::kPending, "NeverConnected", "it has not connected yet"}));
  EXPECT_EQ(phase({.dials = true, .last_error = "refused"}), (PhaseView{Phase::kConnecting, "Dialing", "refused"}));
  EXPECT_EQ(phase({.was_connected = true}).phase, Phase::kDisconnected);
  EXPECT_EQ(phase({.was_connected = true, .dials = true, .last_error = "reset"}),
            (PhaseView{Phase::kDisconnected, "ConnectionLost", "reset"}));
  EXPECT_EQ(phase({.was_connected = true, .refusal = "Revoked", .refusal_message = "m"}),
            (PhaseView{Phase::kFailed, "Revoked", "m"}));
  EXPECT_EQ(phase({.suspended = true, .refusal = "Revoked"}).reason, "Suspended");
}

TEST(Phase, ARefusalOfAnotherDoesNotHideAConnection) {
  TwoSides sides(net::Time(1h));
  sides.exchange();
  ClusterFacts facts{.link = sides.hub().facts(), .refusal = "Revoked"};
  EXPECT_EQ(phase_of(facts, kHeartbeat, sides.now()).phase, Phase::kConnected);
  facts.certificate_ends = true;
  EXPECT_EQ(phase_of(facts, kHeartbeat, sides.now()).reason, "CertificateEnds");
}

}  // namespace
}  // namespace edge::controller::remote
