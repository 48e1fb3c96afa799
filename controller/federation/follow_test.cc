#include "controller/federation/follow.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "controller/federation/content.h"
#include "controller/federation/test_clusters.h"

namespace edge::federation {
namespace {

const ObjectKey kFollowed{"ProxyRoute", "shop", "cart"};

/// A cluster, and what its API has.
class Following {
 public:
  explicit Following(const std::string& uid) : cluster(uid, {}) {}

  /// Until both are alike. \returns how often there was a conflict.
  int run(ApiState api = ApiState::kGoesOn) {
    int conflicts = 0;
    for (int i = 0; i < 4; ++i) {
      const auto step = follow(cluster.replica, applied, kFollowed, object, api, ++now);
      EXPECT_TRUE(step.ok());
      conflicts += step->conflict;
      if (step->kind == FollowStep::Kind::kNothing) return conflicts;
      object = step->kind == FollowStep::Kind::kApply ? std::optional(step->version->content) : std::nullopt;
    }
    ADD_FAILURE() << "never at rest";
    return conflicts;
  }

  TestCluster cluster;
  Applied applied;
  std::optional<std::string> object;
  std::int64_t now = kTestTime;
};

class Follow : public testing::Test {
 protected:
  Follow() {
    east_.cluster.meet(west_.cluster);
    west_.cluster.meet(east_.cluster);
    west_.now += 100;
  }
  void exchange() { TestLink(east_.cluster, west_.cluster).run(); }

  Following east_{"east"};
  Following west_{"west"};
};

TEST_F(Follow, AChangeGoesOverAndBack) {
  east_.object = "1";
  EXPECT_EQ(east_.run(), 0);
  exchange();
  EXPECT_EQ(west_.run(), 0);
  EXPECT_EQ(west_.object, "1");
  west_.object = "2";
  EXPECT_EQ(west_.run(), 0);
  exchange();
  EXPECT_EQ(east_.run(), 0);
  EXPECT_EQ(east_.object, "2");
  east_.object.reset();
  EXPECT_EQ(east_.run(), 0);
  exchange();
  EXPECT_EQ(west_.run(), 0);
  EXPECT_EQ(west_.object, std::nullopt);
  EXPECT_EQ(east_.cluster.replica.counts().conflicts, 0U);
}

TEST_F(Follow, WhatExistsIsNotOverwrittenWithoutAConflict) {
  east_.object = "of the east";
  east_.run();
  exchange();
  // The same name, before the controller of the west looked.
  west_.object = "of the west";
  EXPECT_EQ(west_.run(), 1);
  EXPECT_EQ(west_.object, "of the east");
  const auto conflicts = west_.cluster.replica.conflicts(10);
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts.front().loser->content, "of the west");
}

TEST_F(Follow, AChangeToWhatOthersHaveChangedIsConcurrent) {
  east_.object = "1";
  east_.run();
  exchange();
  west_.run();
  east_.object = "2";
  east_.run();
  exchange();
  // Not applied yet in the west, where a user changes or deletes what there was.
  for (const std::optional<std::string>& change : {std::optional<std::string>("3"), std::optional<std::string>()}) {
    Following west("west");
    west.now = west_.now;
    west.cluster.replica = west_.cluster.replica;
    west.applied = west_.applied;
    west.object = change;
    EXPECT_EQ(west.run(), 1);
    EXPECT_EQ(west.object, "2");
    EXPECT_EQ(west.cluster.replica.conflicts(10).size(), 1U);
  }
}

TEST_F(Follow, ALostStateDeletesNothing) {
  east_.object = "1";
  east_.run();
  Following again("east");
  again.object = east_.object;
  again.applied = east_.applied;
  EXPECT_EQ(again.run(), 0);
  EXPECT_EQ(again.object, "1");
  EXPECT_EQ(again.cluster.replica.winner(kFollowed)->content, "1");
}

TEST_F(Follow, ARestoredApiIsBroughtUpToDate) {
  east_.object = "1";
  east_.run();
  east_.object = "2";
  east_.run();
  east_.object = "1";
  EXPECT_EQ(east_.run(ApiState::kRestored), 0);
  EXPECT_EQ(east_.object, "2");
  east_.object.reset();
  EXPECT_EQ(east_.run(ApiState::kRestored), 0);
  EXPECT_EQ(east_.object, "2");
}

TEST(Content, IsWhatAllClustersShare) {
  const auto content = content_of(R"({"kind":"ProxyRoute","apiVersion":"v1","status":{"ready":true},"later":[1],
      "metadata":{"name":"cart","namespace":"shop","uid":"1","resourceVersion":"7","managedFields":[],
      "labels":{"a":"b",")" EDGE_API_GROUP R"(/origin-cluster":"east"},
      "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"x":1,"unknown":2}})",
                                  WithStatus::kNo);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content,
            R"({"apiVersion":"v1","kind":"ProxyRoute","later":[1],)"
            R"("metadata":{"labels":{"a":"b"},"name":"cart","namespace":"shop"},"spec":{"unknown":2,"x":1}})");
  const auto object = object_of(*content, "east");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(*content_of(*object, WithStatus::kNo), *content);
  EXPECT_NE(object->find("origin-cluster"), std::string::npos);
  EXPECT_FALSE(content_of("[]", WithStatus::kNo).ok());
  EXPECT_FALSE(content_of("{", WithStatus::kNo).ok());
  EXPECT_FALSE(object_of("{}", "").ok());
}

TEST(Content, TheStatusTravelsWhereItIsNamed) {
  const auto content = content_of(R"({"metadata":{"name":"a"},"status":{"ready":true}})", WithStatus::kYes);
  EXPECT_EQ(*content, R"({"metadata":{"name":"a"},"status":{"ready":true}})");
}

}  // namespace
}  // namespace edge::federation
