#include "controller/distribute/agents/node_groups.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/os/file.h"

namespace edge::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class NodeGroupsTest : public testing::Test {
 protected:
  NodeGroupsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "node-groups.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~NodeGroupsTest() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/node-groups"; }
  NodeGroups open() {
    return {path(), [this](const std::string& node, std::string group) { told_.emplace_back(node, std::move(group)); },
            Logger()};
  }
  std::string stored() const {
    const auto text = read_file(path(), 1 << 20);
    return text ? *text : "none";
  }
  std::vector<std::pair<std::string, std::string>> said() { return std::exchange(told_, {}); }

 private:
  std::string directory_;
  std::vector<std::pair<std::string, std::string>> told_;
};

TEST_F(NodeGroupsTest, EachChangeIsToldOnceAndKept) {
  NodeGroups groups = open();
  groups.restore();
  groups.set("n1", "canary");
  groups.set("n2", "");
  groups.set("n1", "canary");
  EXPECT_THAT(said(), ElementsAre(Pair("n1", "canary")));
  EXPECT_EQ(stored(), "none") << "of many nodes it is written once";
  groups.synced();
  EXPECT_EQ(stored(), "n1 canary\n");
  groups.set("n2", "lab");
  groups.set("n1", "");
  EXPECT_THAT(said(), ElementsAre(Pair("n2", "lab"), Pair("n1", "")));
  EXPECT_EQ(stored(), "n2 lab\n");
}

TEST_F(NodeGroupsTest, WhatWasKeptHoldsUntilAllNodesAreKnown) {
  ASSERT_TRUE(write_file(path(), std::string_view("n1 canary\nn2 lab\n\nnothing\n bad\nn3 no label!\n"),
                         FileAccess::kOwnerOnly));
  NodeGroups groups = open();
  groups.restore();
  EXPECT_THAT(said(), ElementsAre(Pair("n1", "canary"), Pair("n2", "lab")));
  groups.set("n1", "canary");
  EXPECT_THAT(said(), IsEmpty());
  groups.synced();
  EXPECT_THAT(said(), ElementsAre(Pair("n2", "")));
  EXPECT_EQ(stored(), "n1 canary\n");
}

}  // namespace
}  // namespace edge::controller
