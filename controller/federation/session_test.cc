#include "controller/federation/session.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "controller/federation/state.h"
#include "controller/federation/test_clusters.h"
#include "controller/federation/wire.h"

namespace edge::federation {
namespace {

ObjectKey route(const std::string& name, const std::string& name_space = "shop") {
  return {"ProxyRoute", name_space, name};
}

/// A hub and a spoke.
class Sessions : public testing::Test {
 protected:
  Sessions() {
    for (TestCluster* cluster : {&hub_, &spoke_}) {
      cluster->know(hub_);
      cluster->know(spoke_);
    }
    hub_.replica.set_peer("spoke", {.name = "spoke"});
    spoke_.replica.set_peer("hub", {.name = "hub", .hub = true});
  }
  static std::string content_at(const TestCluster& cluster, const ObjectKey& key) {
    const VersionPtr version = cluster.replica.winner(key);
    return version == nullptr ? "" : version->content;
  }
  /// As after a start: from what was persisted.
  void restart(TestCluster& cluster, const std::string& state) {
    auto replica = decode_state(state, cluster.uid, {}, cluster.keys->signatures());
    ASSERT_TRUE(replica.ok()) << replica.error().text;
    cluster.replica = std::move(*replica);
    cluster.replica.begin_life(kTestTime, ++lives_);
    hub_.replica.set_peer("spoke", {.name = "spoke"});
    spoke_.replica.set_peer("hub", {.name = "hub", .hub = true});
  }

  TestCluster hub_{"hub", {}};
  TestCluster spoke_{"spoke", {}};
  std::uint64_t lives_ = 0;
};

TEST_F(Sessions, ExchangeWhatEachHas) {
  (void)*hub_.replica.write(route("a"), "of the hub", kTestTime);
  (void)*spoke_.replica.write(route("b"), "of the spoke", kTestTime);
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(content_at(hub_, route("b")), "of the spoke");
  EXPECT_EQ(content_at(spoke_, route("a")), "of the hub");
  EXPECT_EQ(spoke_.replica.winner(route("a"))->origin, "hub");
  EXPECT_TRUE(link.a().facts().synchronized);
  EXPECT_TRUE(link.b().facts().synchronized);
}

TEST_F(Sessions, ResumeWhereTheyWere) {
  for (int i = 0; i < 100; ++i) (void)*hub_.replica.write(route(std::to_string(i)), std::string(1000, 'x'), kTestTime);
  const std::size_t all = TestLink(hub_, spoke_).run();
  EXPECT_GT(all, 100'000U);
  restart(hub_, encode_state(hub_.replica));
  restart(spoke_, encode_state(spoke_.replica));
  (void)*hub_.replica.write(route("new"), "new", kTestTime);
  TestLink link(hub_, spoke_);
  EXPECT_LT(link.run(), all / 50);
  EXPECT_EQ(content_at(spoke_, route("new")), "new");
  EXPECT_EQ(link.a().facts().sent_versions, 1U);
}

TEST_F(Sessions, MoreThanOneFrameAndOneWindow) {
  for (int i = 0; i < 40; ++i) {
    (void)*hub_.replica.write(route(std::to_string(i)), std::string(100'000, 'x'), kTestTime);
  }
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(spoke_.replica.counts().objects, 40U);
}

TEST_F(Sessions, ADeletionIsCollectedWhenAllHaveSeenIt) {
  (void)*hub_.replica.write(route("a"), "1", kTestTime);
  TestLink link(hub_, spoke_);
  link.run();
  (void)*spoke_.replica.remove(route("a"), kTestTime);
  EXPECT_EQ(spoke_.replica.collect(), 0U);
  link.run();
  EXPECT_EQ(hub_.replica.winner(route("a")), nullptr);
  EXPECT_EQ(spoke_.replica.collect(), 0U) << "the hub's other peers may not have seen it";
  link.compare();
  link.run();
  EXPECT_EQ(spoke_.replica.collect(), 1U);
  EXPECT_EQ(hub_.replica.collect(), 1U);
}

TEST_F(Sessions, ABackupDoesNotBringBackWhatWasDeleted) {
  (void)*hub_.replica.write(route("kept"), "1", kTestTime);
  (void)*hub_.replica.write(route("deleted"), "1", kTestTime);
  TestLink(hub_, spoke_).run();
  const std::string backup = encode_state(spoke_.replica);
  (void)*hub_.replica.remove(route("deleted"), kTestTime);
  {
    TestLink link(hub_, spoke_);
    link.run();
    link.compare();
    link.run();
    ASSERT_EQ(hub_.replica.collect(), 1U);
  }
  restart(spoke_, backup);
  (void)*spoke_.replica.write(route("fresh"), "written since", kTestTime);
  ASSERT_EQ(content_at(spoke_, route("deleted")), "1");
  TestLink link(hub_, spoke_);
  link.run();
  for (TestCluster* cluster : {&hub_, &spoke_}) {
    EXPECT_EQ(content_at(*cluster, route("deleted")), "") << cluster->uid;
    EXPECT_EQ(content_at(*cluster, route("kept")), "1") << cluster->uid;
    EXPECT_EQ(content_at(*cluster, route("fresh")), "written since") << cluster->uid;
  }
  EXPECT_EQ(link.b().facts().retired, 1U);
}

TEST_F(Sessions, WhatABackupDoesNotHaveComesFromTheOthers) {
  const std::string backup = encode_state(hub_.replica);
  (void)*hub_.replica.write(route("a"), "1", kTestTime);
  (void)*spoke_.replica.write(route("b"), "2", kTestTime);
  TestLink(hub_, spoke_).run();
  restart(hub_, backup);
  TestLink link(hub_, spoke_);
  link.run();
  for (TestCluster* cluster : {&hub_, &spoke_}) {
    EXPECT_EQ(content_at(*cluster, route("a")), "1") << cluster->uid;
    EXPECT_EQ(content_at(*cluster, route("b")), "2") << cluster->uid;
  }
}

TEST_F(Sessions, ASuspendedPeerComparesBeforeItSends) {
  (void)*hub_.replica.write(route("a"), "1", kTestTime);
  TestLink(hub_, spoke_).run();
  hub_.replica.set_peer("spoke", {.name = "spoke", .suspended = true});
  (void)*hub_.replica.remove(route("a"), kTestTime);
  EXPECT_EQ(hub_.replica.collect(), 1U) << "nobody waits for who is suspended";
  (void)*spoke_.replica.write(route("b"), "meanwhile", kTestTime);
  hub_.replica.set_peer("spoke", {.name = "spoke"});
  TestLink(hub_, spoke_).run();
  EXPECT_EQ(content_at(spoke_, route("a")), "");
  EXPECT_EQ(content_at(hub_, route("a")), "");
  EXPECT_EQ(content_at(hub_, route("b")), "meanwhile");
}

TEST_F(Sessions, ASpokeWritesItsOwnAndWhatItWasGranted) {
  hub_.replica.set_peer("spoke", {.name = "spoke",
                                  .reads = {},
                                  .shares = {.kinds = {}, .namespaces = {"shop"}},
                                  .writes = {.kinds = {}, .namespaces = {"granted"}}});
  (void)*hub_.replica.write(route("of-the-hub"), "1", kTestTime);
  (void)*hub_.replica.write(route("of-the-hub", "granted"), "1", kTestTime);
  {
    TestLink link(hub_, spoke_);
    link.run();
  }
  (void)*spoke_.replica.write(route("of-the-hub"), "2", kTestTime + 1);
  (void)*spoke_.replica.write(route("of-the-hub", "granted"), "2", kTestTime + 1);
  (void)*spoke_.replica.write(route("its-own"), "2", kTestTime + 1);
  (void)*spoke_.replica.write(route("elsewhere", "billing"), "2", kTestTime + 1);
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(content_at(hub_, route("of-the-hub")), "1");
  EXPECT_EQ(content_at(hub_, route("of-the-hub", "granted")), "2");
  EXPECT_EQ(content_at(hub_, route("its-own")), "2");
  EXPECT_EQ(content_at(hub_, route("elsewhere", "billing")), "");
  EXPECT_EQ(link.a().facts().refused_versions, 2U);
  EXPECT_EQ(link.b().facts().refused_by_peer, 2U);
}

TEST_F(Sessions, AnObjectIsNotItsOwnBySayingSo) {
  hub_.replica.set_peer("spoke", {.name = "spoke", .reads = {}, .shares = {}, .writes = {.nothing = true}});
  (void)*hub_.replica.write(route("a"), "of the hub", kTestTime);
  // Not connected yet: the spoke makes an object of the same name, with itself as origin.
  (void)*spoke_.replica.write(route("a"), "of the spoke", kTestTime - 1000);
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(content_at(hub_, route("a")), "of the hub");
  EXPECT_TRUE(hub_.replica.conflicts(10).empty());
}

TEST_F(Sessions, KindsThatAreNotSharedDoNotTravel) {
  const ObjectKey secret{"Secret", "shop", "token"};
  (void)*hub_.replica.write(secret, "hidden", kTestTime);
  (void)*hub_.replica.write({"ProxyPolicy", "shop", "p"}, "1", kTestTime);
  hub_.replica.set_peer("spoke", {.name = "spoke", .reads = {.kinds = {}, .namespaces = {}}});
  {
    TestLink link(hub_, spoke_);
    link.run();
    link.compare();
    link.run();
  }
  EXPECT_EQ(content_at(spoke_, secret), "") << "only when it is named";
  EXPECT_EQ(content_at(spoke_, {"ProxyPolicy", "shop", "p"}), "1");
  // More is shown later: everything is sent again.
  hub_.replica.set_peer("spoke", {.name = "spoke", .reads = {.kinds = {"Secret"}, .namespaces = {}}});
  spoke_.replica.set_peer("hub", {.name = "hub", .hub = true, .writes = {.kinds = {"Secret", "ProxyPolicy"}}});
  TestLink(hub_, spoke_).run();
  EXPECT_EQ(content_at(spoke_, secret), "hidden");
}

TEST_F(Sessions, AQuotaBoundsWhatAClusterHasHere) {
  hub_.replica.set_peer("spoke", {.name = "spoke", .quota = {.objects = 2}});
  for (int i = 0; i < 4; ++i) (void)*spoke_.replica.write(route(std::to_string(i)), "1", kTestTime);
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(hub_.replica.counts().objects, 2U);
  EXPECT_EQ(link.b().facts().refused_by_peer, 2U);
  // A change of what it has needs no more room.
  (void)*spoke_.replica.write(route("0"), "2", kTestTime);
  link.run();
  EXPECT_EQ(content_at(hub_, route("0")), "2");
}

TEST_F(Sessions, DeletionsOfWhatIsNotThereCountToo) {
  hub_.replica.set_peer("spoke", {.name = "spoke", .quota = {.objects = 3}});
  for (int i = 0; i < 6; ++i) {
    (void)*spoke_.replica.write(route(std::to_string(i)), "1", kTestTime);
    (void)*spoke_.replica.remove(route(std::to_string(i)), kTestTime);
  }
  TestLink link(hub_, spoke_);
  link.run();
  EXPECT_EQ(hub_.replica.counts().tombstones, 3U);
  EXPECT_EQ(link.b().facts().refused_by_peer, 3U);
}

TEST_F(Sessions, AComparisonFindsWhatIsMissing) {
  for (int i = 0; i < 300; ++i) (void)*hub_.replica.write(route(std::to_string(i)), "1", kTestTime);
  TestLink(hub_, spoke_).run();
  TestLink link(hub_, spoke_);
  link.run();
  link.compare();
  const std::size_t quiet = link.run();
  EXPECT_LT(quiet, 500U) << "two roots";
  // The hub believes that the spoke has everything, and its disk has lost one object.
  v1::State state;
  ASSERT_TRUE(state.ParseFromString(encode_state(spoke_.replica)));
  state.mutable_versions()->DeleteSubrange(17, 1);
  restart(spoke_, state.SerializeAsString());
  ASSERT_EQ(spoke_.replica.counts().objects, 299U);
  TestLink again(hub_, spoke_);
  again.run();
  EXPECT_EQ(spoke_.replica.counts().objects, 299U);
  again.compare();
  again.run();
  EXPECT_EQ(spoke_.replica.counts().objects, 300U);
  EXPECT_LE(again.a().facts().sent_versions, 2U) << "by the list of the one side and of the other";
  EXPECT_GT(again.a().facts().differences + again.b().facts().differences, 0U);
}

TEST_F(Sessions, AnotherClusterThanTheCertificateSaysIsRefused) {
  TestCluster other("other", {});
  other.meet(hub_);
  Session session(hub_.replica, "spoke", {}, kTestTime);
  Session stranger(other.replica, "hub", {}, kTestTime);
  for (Frame& frame : stranger.take(kTestTime)) {
    EXPECT_EQ(session.receive(std::move(frame), kTestTime).error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(Sessions, FramesMayComeTwiceAndEarly) {
  (void)*hub_.replica.write(route("a"), "1", kTestTime);
  Session hub(hub_.replica, "spoke", {}, kTestTime);
  Session spoke(spoke_.replica, "hub", {}, kTestTime);
  for (int round = 0; round < 10; ++round) {
    for (auto [from, to] : {std::pair{&hub, &spoke}, std::pair{&spoke, &hub}}) {
      std::vector<Frame> frames = from->take(kTestTime);
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        EXPECT_TRUE(to->receive(*frame, kTestTime).ok());
        EXPECT_TRUE(to->receive(*frame, kTestTime).ok());
      }
    }
  }
  EXPECT_EQ(content_at(spoke_, route("a")), "1");
  EXPECT_TRUE(hub.facts().synchronized);
}

TEST(FederationState, IsRefusedWhenItIsAnotherClusters) {
  TestCluster east("east", {});
  const std::string state = encode_state(east.replica);
  EXPECT_EQ(decode_state(state, "west", {}, east.keys->signatures()).error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(decode_state("\xff", "east", {}, east.keys->signatures()).error().code, ErrorCode::kDataLoss);
}

TEST(FederationFrames, ThatExceedABoundAreRefused) {
  EXPECT_FALSE(decode_frame("").ok());
  EXPECT_FALSE(decode_frame(std::string(2 * kMostFrame + 1, 'x')).ok());
  EXPECT_FALSE(decode_frame("\x12\x03xyz").ok());
  Listing listing{.kind = "ProxyRoute", .leaves = std::vector<std::uint32_t>(300, 1), .objects = {}, .answer = false};
  EXPECT_FALSE(decode_frame(encode({.number = 1, .body = listing})).ok());
}

/// What a suspended cluster changed while others deleted the object and forgot the deletion is a conflict with it.
TEST(Suspended, ADeletionThatWasForgottenIsListed) {
  for (const ConflictPolicy policy :
       {ConflictPolicy::kOldestWins, ConflictPolicy::kNewestWins, ConflictPolicy::kHubWins}) {
    const MergeRules rules{.policy = policy, .hub = "east"};
    TestCluster east("east", rules);
    TestCluster west("west", rules);
    east.meet(west);
    west.meet(east, {.hub = true});
    const ObjectKey changed{"ProxyRoute", "shop", "changed"};
    const ObjectKey untouched{"ProxyRoute", "shop", "untouched"};
    ASSERT_TRUE(east.replica.write(changed, "{\"a\":1}", kTestTime));
    ASSERT_TRUE(east.replica.write(untouched, "{}", kTestTime));
    TestLink(east, west).run();
    east.replica.set_peer("west", {.suspended = true});
    ASSERT_TRUE(east.replica.remove(changed, kTestTime + 5));
    ASSERT_TRUE(east.replica.remove(untouched, kTestTime + 5));
    EXPECT_EQ(east.replica.collect(), 2U);
    ASSERT_TRUE(west.replica.write(changed, "{\"a\":2}", kTestTime + 3));
    // Of its own alone, there is nothing that anybody deleted.
    const ObjectKey own{"ProxyRoute", "shop", "own"};
    ASSERT_TRUE(west.replica.write(own, "{\"a\":1}", kTestTime + 3));
    ASSERT_TRUE(west.replica.write(own, "{\"a\":2}", kTestTime + 4));
    east.replica.set_peer("west", {});
    TestLink(east, west).run();
    for (TestCluster* cluster : {&east, &west}) {
      ASSERT_NE(cluster->replica.winner(changed), nullptr);
      EXPECT_EQ(cluster->replica.winner(changed)->content, "{\"a\":2}");
      EXPECT_EQ(cluster->replica.winner(untouched), nullptr);
      const auto conflicts = cluster->replica.conflicts(10);
      ASSERT_EQ(conflicts.size(), 1U) << cluster->uid;
      EXPECT_EQ(conflicts.front().winner->key, changed);
      EXPECT_TRUE(conflicts.front().loser->deleted);
    }
    // Whoever decides for the deletion, it is one.
    ASSERT_TRUE(east.replica.resolve(changed, east.replica.conflicts(1).front().loser->dot, kTestTime + 9));
    TestLink(east, west).run();
    EXPECT_EQ(west.replica.winner(changed), nullptr);
    EXPECT_EQ(west.replica.counts().conflicts, 0U);
  }
}

}  // namespace
}  // namespace edge::federation
