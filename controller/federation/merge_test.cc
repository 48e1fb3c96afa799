#include "controller/federation/merge.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "controller/federation/frame.h"
#include "controller/federation/test_clusters.h"
#include "controller/federation/wire.h"

namespace edge::federation {
namespace {

const ObjectKey kRoute{"ProxyRoute", "shop", "cart"};

std::vector<std::string> contents_of(const Replica& replica, const ObjectKey& key) {
  std::vector<std::string> out;
  if (const auto* held = replica.siblings(key)) {
    for (const HeldVersion& one : *held) out.push_back(one.version->deleted ? "deleted" : one.version->content);
  }
  return out;
}

TEST(Ranges, ArePutTogetherAndTakenApart) {
  Ranges ranges;
  add(ranges, {5, 7});
  add(ranges, {1, 2});
  add(ranges, {3, 3});
  EXPECT_EQ(ranges, (Ranges{{1, 3}, {5, 7}}));
  add(ranges, {4, 4});
  EXPECT_EQ(ranges, (Ranges{{1, 7}}));
  EXPECT_EQ(without(ranges, {{2, 2}, {6, 9}}), (Ranges{{1, 1}, {3, 5}}));
  EXPECT_EQ(without({{1, 3}, {5, 7}}, {{1, 9}}), Ranges{});
  EXPECT_TRUE(contains(ranges, 7));
  EXPECT_FALSE(contains(ranges, 8));
}

TEST(HybridClock, NeverGoesBackThoughTheWallClockDoes) {
  HybridClock clock;
  const HybridTime first = clock.tick(kTestTime);
  EXPECT_EQ(milliseconds_of(first), kTestTime);
  EXPECT_EQ(clock.tick(kTestTime - 86'400'000), first + 1);
  clock.observe(HybridTime{kTestTime + 1000} << 16);
  EXPECT_GT(clock.tick(kTestTime), HybridTime{kTestTime + 1000} << 16);
}

struct PolicyCase {
  ConflictPolicy policy;
  std::string winner;
};
class Policies : public testing::TestWithParam<PolicyCase> {};

/// The hub writes second of three.
TEST_P(Policies, ChooseTheSameWinnerInEachOrder) {
  const MergeRules rules{GetParam().policy, "hub"};
  TestCluster east("east", rules);
  TestCluster hub("hub", rules);
  TestCluster west("west", rules);
  std::vector<VersionPtr> versions = {*east.replica.write(kRoute, "east", kTestTime + 1),
                                      *hub.replica.write(kRoute, "hub", kTestTime + 2),
                                      *west.replica.write(kRoute, "west", kTestTime + 3)};
  std::ranges::sort(versions);
  do {
    Siblings siblings;
    for (const VersionPtr& version : versions) {
      EXPECT_EQ(merge(siblings, version, rules).outcome, Merged::Outcome::kTaken);
      EXPECT_EQ(merge(siblings, version, rules).outcome, Merged::Outcome::kHeld);
    }
    ASSERT_EQ(siblings.size(), 3U);
    EXPECT_EQ(siblings.front()->content, GetParam().winner);
  } while (std::ranges::next_permutation(versions).found);
}

INSTANTIATE_TEST_SUITE_P(All, Policies,
                         testing::Values(PolicyCase{ConflictPolicy::kOldestWins, "east"},
                                         PolicyCase{ConflictPolicy::kNewestWins, "west"},
                                         PolicyCase{ConflictPolicy::kHubWins, "hub"}));

TEST(Merge, AWriteOverTheWinnerKeepsTheLosers) {
  TestCluster east("east", {});
  TestCluster west("west", {});
  east.meet(west);
  west.meet(east);
  (void)*east.replica.write(kRoute, "east", kTestTime + 1);
  (void)*west.replica.write(kRoute, "west", kTestTime + 2);
  TestLink link(east, west);
  link.run();
  EXPECT_EQ(contents_of(west.replica, kRoute), (std::vector<std::string>{"east", "west"}));
  // By the loser's own cluster, twice, though its counter is in the clock.
  (void)*west.replica.write(kRoute, "west again", kTestTime + 3);
  (void)*west.replica.write(kRoute, "west at last", kTestTime + 4);
  link.run();
  for (TestCluster* cluster : {&east, &west}) {
    EXPECT_EQ(contents_of(cluster->replica, kRoute), (std::vector<std::string>{"west at last", "west"}));
    ASSERT_EQ(cluster->replica.conflicts(10).size(), 1U);
  }
  // By hand: over both.
  const Conflict conflict = east.replica.conflicts(10).front();
  ASSERT_TRUE(east.replica.resolve(kRoute, conflict.loser->dot, kTestTime + 5).ok());
  link.run();
  for (TestCluster* cluster : {&east, &west}) {
    EXPECT_TRUE(cluster->replica.conflicts(10).empty());
    EXPECT_EQ(cluster->replica.winner(kRoute)->content, conflict.loser->content);
  }
}

TEST(Merge, TheSameChangeTwiceIsNoConflict) {
  TestCluster east("east", {});
  TestCluster west("west", {});
  east.meet(west);
  west.meet(east);
  (void)*east.replica.write(kRoute, "alike", kTestTime + 1);
  (void)*west.replica.write(kRoute, "alike", kTestTime + 2);
  TestLink(east, west).run();
  EXPECT_TRUE(east.replica.conflicts(10).empty());
  EXPECT_EQ(east.replica.counts().conflicts, 0U);
}

TEST(Merge, KeepsABoundedNumberOfVersions) {
  const MergeRules rules;
  Siblings siblings;
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < kMostSiblings + 3; ++i) {
    TestCluster cluster("cluster-" + std::to_string(i), rules);
    const Merged merged = merge(
        siblings, *cluster.replica.write(kRoute, std::to_string(i), kTestTime + static_cast<std::int64_t>(i)), rules);
    dropped += merged.dropped.size() + (merged.outcome == Merged::Outcome::kDropped ? 1 : 0);
  }
  EXPECT_EQ(siblings.size(), kMostSiblings);
  EXPECT_EQ(dropped, 3U);
}

class Forgery : public testing::Test {
 protected:
  Forgery() {
    // The spoke may write everything, so that nothing but signatures stops it.
    for (TestCluster* cluster : {&hub_, &spoke_}) {
      cluster->know(hub_);
      cluster->know(spoke_);
    }
    hub_.replica.set_peer("spoke", {});
    spoke_.replica.set_peer("hub", {});
    genuine_ = *hub_.replica.write(kRoute, "genuine", kTestTime);
  }
  /// As the spoke signs it.
  Refusal offered(Version version) {
    EXPECT_TRUE(sign_version(version, spoke_.keys->signatures()).ok());
    return offered_as_it_is(std::move(version));
  }
  Refusal offered_as_it_is(Version version) {
    return hub_.replica.receive(std::make_shared<const Version>(std::move(version)), "spoke").refusal;
  }
  Version of_the_spoke(Past past) {
    Version version;
    version.key = kRoute;
    version.dot = {spoke_.replica.id(), 1};
    version.past = std::move(past);
    version.past.add(version.dot);
    version.time = version.rank = genuine_->time + 1;
    version.rank_cluster = "spoke";
    version.origin = "spoke";
    version.content = "forged";
    return version;
  }

  TestCluster hub_{"hub", {}};
  TestCluster spoke_{"spoke", {}};
  VersionPtr genuine_;
};

TEST_F(Forgery, AnEntryOfAnotherClusterNeedsItsProof) {
  Past past;
  past.add({hub_.replica.id(), 1});
  EXPECT_EQ(offered(of_the_spoke(past)), Refusal::kSignature);
  // With the proof that the spoke was given it may replace what it has seen, and nothing later.
  Version seen = of_the_spoke(past);
  seen.proofs[hub_.replica.id()] = proof_of(*genuine_);
  EXPECT_EQ(offered(seen), Refusal::kNone);
  past.add(hub_.replica.id(), {1, 9});
  Version later = of_the_spoke(past);
  later.dot.counter = 2;
  later.past.add(later.dot);
  later.proofs[hub_.replica.id()] = proof_of(*genuine_);
  later.proofs[hub_.replica.id()].counter = 9;
  EXPECT_EQ(offered(later), Refusal::kSignature);
}

TEST_F(Forgery, AProofIsOfTheVersionThatWasSigned) {
  Past past;
  past.add({hub_.replica.id(), 1});
  for (const auto& forge : std::vector<std::function<void(Proof&)>>{
           [](Proof& proof) { proof.statement[0] ^= 1; }, [](Proof& proof) { proof.signature[0] ^= 1; },
           [](Proof& proof) { proof.statement.clear(); }, [](Proof& proof) { proof.counter = 2; }}) {
    Version version = of_the_spoke(past);
    version.proofs[hub_.replica.id()] = proof_of(*genuine_);
    forge(version.proofs[hub_.replica.id()]);
    EXPECT_EQ(offered(version), Refusal::kSignature);
  }
}

TEST_F(Forgery, AnotherAuthorIsNotBelieved) {
  Version version = of_the_spoke({});
  version.dot.replica = hub_.replica.id();
  version.dot.counter = 7;
  version.past = {};
  version.past.add(version.dot);
  EXPECT_EQ(offered(version), Refusal::kSignature);
}

TEST_F(Forgery, AnotherContentIsNotBelieved) {
  Version version = *genuine_;
  version.content = "changed on the way";
  EXPECT_EQ(offered_as_it_is(version), Refusal::kSignature);
}

TEST_F(Forgery, ATimeBeyondAllReasonIsRefused) {
  Version version = of_the_spoke({});
  version.time = kLatestTime;
  EXPECT_EQ(offered(version), Refusal::kTime);
}

TEST_F(Forgery, WhoIsNoMemberIsRefused) {
  TestCluster stranger("stranger", {});
  EXPECT_EQ(hub_.replica.receive(*stranger.replica.write(kRoute, "strange", kTestTime), "spoke").refusal,
            Refusal::kUnknownAuthor);
}

TEST(Versions, FieldsOfALaterSchemaStayAndKeepTheirSignature) {
  TestCluster east("east", {});
  VersionPtr version = *east.replica.write(kRoute, R"({"spec":{"later":1}})", kTestTime);
  // Field 99 of a statement, as an author of a later version would sign it.
  auto later = std::make_shared<Version>(*version);
  later->statement += std::string("\x98\x06\x01", 3);
  later->signature = *east.key.sign_message("edge federation version", signed_text(*later));
  v1::Version bytes;
  write(*later, bytes);
  auto decoded = read(bytes);
  ASSERT_TRUE(decoded.ok());
  TestCluster west("west", {});
  west.meet(east);
  EXPECT_EQ(west.replica.receive(*decoded, "east").refusal, Refusal::kNone);
  EXPECT_EQ(west.replica.winner(kRoute)->statement, later->statement);
  EXPECT_EQ(west.replica.winner(kRoute)->content, version->content);
}

}  // namespace
}  // namespace edge::federation
