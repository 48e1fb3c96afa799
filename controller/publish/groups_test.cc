#include "controller/publish/groups.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_log.h"
#include "program/test_program.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

using program::sample::Bytes;
using program::sample::hash_of;
using program::sample::numbered_program;

class GroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "edge-groups-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    open();
  }
  void TearDown() override {
    groups_.reset();
    fs::remove_all(dir_);
  }

  /// As a controller that starts; the one before ends first.
  void open() {
    groups_.reset();
    given_.clear();
    groups_ = std::make_unique<Groups>(
        dir_.string(),
        [this](Published published) {
          if (published.program) given_[published.group] = hash_of(published.program);
        },
        log_.logger());
    ASSERT_TRUE(groups_->open());
    groups_->restore();
  }
  std::string take(std::uint64_t number) {
    ReconcileResult result;
    result.program = numbered_program(number);
    result.hash = program::read(result.program)->hash();
    result.program_changed = true;
    result.number = number;
    result.cause.add("ProxyRoute shop/r" + std::to_string(number), "kubectl");
    groups_->take(result);
    return program::to_hex(result.hash);
  }
  std::vector<std::string> history(const std::string& group) {
    std::vector<std::string> programs;
    const auto entries = groups_->list(group);
    EXPECT_TRUE(entries) << group;
    if (entries) {
      for (const HistoryEntry& entry : *entries) programs.push_back(entry.program);
    }
    return programs;
  }

  fs::path dir_;
  TestLog log_;
  std::map<std::string, std::string> given_;  ///< what each group was given last
  std::unique_ptr<Groups> groups_;
};

TEST_F(GroupsTest, OneThatComesIsGivenWhatTheOthersHave) {
  const std::string first = take(1);
  EXPECT_EQ(given_.size(), 1U);
  groups_->came("canary");
  EXPECT_EQ(given_["canary"], first);
  const std::string second = take(2);
  EXPECT_EQ(given_["canary"], second);
  EXPECT_EQ(given_["default"], second);
  EXPECT_EQ(groups_->number(second), 2U);
}

TEST_F(GroupsTest, OneThatGatewaysNameIsGivenItsOwnProgram) {
  groups_->came("canary");
  ReconcileResult result;
  result.program = numbered_program(1);
  result.hash = program::read(result.program)->hash();
  const Bytes own = numbered_program(2);
  result.group_programs["canary"] = {own, program::read(own)->hash()};
  result.group_programs["office"] = {own, program::read(own)->hash()};
  result.program_changed = true;
  result.number = 1;
  groups_->take(result);
  EXPECT_EQ(given_["default"], hash_of(result.program));
  EXPECT_EQ(given_["canary"], hash_of(own));
  EXPECT_FALSE(given_.contains("office")) << "no agent of it has come";
  groups_->came("office");
  EXPECT_EQ(given_["office"], hash_of(own));
  EXPECT_EQ(groups_->number(hash_of(own)), 1U);
}

TEST_F(GroupsTest, ARollbackHoldsOneAloneOverARestart) {
  const std::string first = take(1);
  groups_->came("canary");
  open();  // the history is on disk
  EXPECT_THAT(history("default"), ElementsAre(first));
  EXPECT_THAT(history("canary"), ElementsAre(first));
  EXPECT_THAT(given_, IsEmpty());

  ASSERT_TRUE(groups_->rollback("canary", first.substr(0, 12)));
  const std::string second = take(2);
  EXPECT_EQ(given_["canary"], first);
  EXPECT_EQ(given_["default"], second);
  ASSERT_EQ(groups_->pinned().size(), 1U);
  EXPECT_EQ(groups_->pinned()[0].group, "canary");
  EXPECT_EQ(pinned_words(groups_->pinned()), "agents of the group canary to the program " + first);

  open();
  EXPECT_EQ(given_["canary"], first) << "before anybody asks";
  EXPECT_EQ(groups_->pinned().size(), 1U);
  take(2);
  EXPECT_EQ(given_["default"], second);
  EXPECT_EQ(given_["canary"], first);
  ASSERT_TRUE(groups_->release("canary"));
  EXPECT_EQ(given_["canary"], second);
  EXPECT_THAT(groups_->pinned(), IsEmpty());
}

TEST_F(GroupsTest, MayGoBackToAProgramThatOthersRan) {
  const std::string first = take(1);
  open();
  const std::string second = take(2);
  groups_->came("canary");
  ASSERT_TRUE(groups_->rollback("canary", first));
  EXPECT_EQ(given_["canary"], first);
  EXPECT_EQ(given_["default"], second);
  const auto entries = groups_->list("canary");
  ASSERT_TRUE(entries);
  const auto taken = std::ranges::find(*entries, first, &HistoryEntry::program);
  ASSERT_NE(taken, entries->end());
  EXPECT_EQ(taken->cause, "ProxyRoute shop/r1 by kubectl");
  EXPECT_TRUE(taken->pinned);
  EXPECT_EQ(groups_->rollback("canary", std::string(64, 'f')).error().code, ErrorCode::kNotFound);
}

/// Where there were no groups, all agents are in `default`, and what was kept for them is kept for it.
TEST_F(GroupsTest, WhatLayThereBeforeIsOfTheDefault) {
  const std::string first = take(1);
  open();
  EXPECT_TRUE(fs::exists(dir_ / "program.edgeprog"));
  EXPECT_TRUE(fs::exists(dir_ / "history/index.json"));
  EXPECT_FALSE(fs::exists(dir_ / "groups"));
  EXPECT_TRUE(groups_->has_program());
  groups_->give_out_last();
  EXPECT_EQ(given_["default"], first);
}

TEST_F(GroupsTest, OneThatNobodyIsInIsNone) {
  for (const char* name : {"canary", "../default", "", "a/b", "."}) {
    EXPECT_EQ(groups_->list(name).error().code, ErrorCode::kNotFound) << name;
    EXPECT_EQ(groups_->release(name).error().code, ErrorCode::kNotFound) << name;
  }
  EXPECT_FALSE(fs::exists(dir_ / "groups"));
}

TEST_F(GroupsTest, OneWhoseFolderIsBrokenHarmsItselfAlone) {
  fs::create_directories(dir_ / "groups");
  fs::permissions(dir_ / "groups", fs::perms::owner_all);
  std::ofstream(dir_ / "groups/canary") << "no folder";
  open();
  groups_->came("canary");
  EXPECT_THAT(log_.text(), testing::HasSubstr("canary"));
  const std::string first = take(1);
  EXPECT_EQ(given_["default"], first);
  EXPECT_FALSE(given_.contains("canary"));
}

}  // namespace
}  // namespace edge::controller
