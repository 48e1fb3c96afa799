#include "controller/distribute/agents/node_labels.h"

#include <algorithm>
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

class NodeLabelsTest : public testing::Test {
 protected:
  NodeLabelsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "node-labels.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~NodeLabelsTest() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/node-labels"; }
  NodeLabels open() {
    return {
        path(),
        [this](const std::string& node, const Labels& labels) { told_.push_back(node + ": " + labels_text(labels)); },
        Logger()};
  }
  std::string stored() const {
    const auto text = read_file(path(), 1 << 20);
    return text ? *text : "none";
  }
  std::vector<std::string> said() { return std::exchange(told_, {}); }

 private:
  std::string directory_;
  std::vector<std::string> told_;
};

TEST_F(NodeLabelsTest, LabelsThatSelectorsNameAreToldOnceAndKept) {
  NodeLabels labels = open();
  labels.restore();
  labels.set("n1", {{"edge", "yes"}, {"pool", "a"}, {"zone", "z"}});
  labels.set("n2", {{"zone", "z"}});
  EXPECT_THAT(said(), IsEmpty());
  labels.set_keys({"edge", "pool"});
  EXPECT_THAT(said(), ElementsAre("n1: edge=yes,pool=a"));
  EXPECT_EQ(stored(), "none") << "of many nodes they are written once";
  labels.synced();
  EXPECT_EQ(stored(), "n1 edge=yes pool=a\n");
  labels.set("n1", {{"edge", "yes"}, {"pool", "a"}, {"zone", "another"}});
  EXPECT_THAT(said(), IsEmpty());
  labels.set_keys({"zone"});
  EXPECT_THAT(said(), testing::UnorderedElementsAre("n1: zone=another", "n2: zone=z"));
  labels.set("n1", {});
  EXPECT_THAT(said(), ElementsAre("n1: "));
  EXPECT_EQ(stored(), "n2 zone=z\n");
}

TEST_F(NodeLabelsTest, WhatIsOnDiskCountsUntilNodesAreRead) {
  ASSERT_TRUE(write_file(path(), std::string_view("n1 edge=yes -bad=x\nn2 edge=yes\nnothing\n n3 edge=yes\n"),
                         FileAccess::kOwnerOnly));
  NodeLabels labels = open();
  labels.restore();
  labels.set_keys({"edge"});
  EXPECT_THAT(said(), testing::UnorderedElementsAre("n1: edge=yes", "n2: edge=yes"));
  labels.set("n1", {{"edge", "yes"}});
  EXPECT_THAT(said(), IsEmpty());
  labels.synced();
  EXPECT_THAT(said(), ElementsAre("n2: ")) << "it is gone";
  EXPECT_EQ(stored(), "n1 edge=yes\n");
}

TEST_F(NodeLabelsTest, NothingIsLostBeforeSelectorsAreKnown) {
  ASSERT_TRUE(write_file(path(), std::string_view("n1 edge=yes\n"), FileAccess::kOwnerOnly));
  NodeLabels labels = open();
  labels.restore();
  labels.set("n1", {{"edge", "yes"}});
  labels.synced();
  EXPECT_EQ(stored(), "n1 edge=yes\n");
  EXPECT_THAT(said(), IsEmpty());
  labels.set_keys({});
  EXPECT_EQ(stored(), "");
}

TEST_F(NodeLabelsTest, LabelsOfOneNodeAreBounded) {
  NodeLabels labels = open();
  Labels many;
  NodeLabels::Keys keys;
  for (std::size_t i = 0; i < NodeLabels::kMostLabels + 10; ++i) {
    many.emplace("k" + std::to_string(i), "v");
    keys.insert("k" + std::to_string(i));
  }
  labels.set_keys(keys);
  labels.set("n1", many);
  EXPECT_EQ(std::ranges::count(said().at(0), ','), NodeLabels::kMostLabels - 1);
}

}  // namespace
}  // namespace edge::controller
