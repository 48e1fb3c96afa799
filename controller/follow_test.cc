#include "controller/follow.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "program/dump/dump.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGateway = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: gw}
spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: be}
spec: {serviceRef: {name: be, port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: be}
spec: {ports: [{port: 80}]}
)";

std::string route(const std::string& name, const std::string& path, const std::string& extra = "") {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: gw}]\n" + extra +
         "  rules:\n  - matches: [{path: {type: Exact, value: " + path + "}}]\n    backendRef: {name: be}\n";
}

class Follow : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "edge-follow-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    put("gateway.yaml", kGateway);
  }
  void TearDown() override { fs::remove_all(dir_); }

  void put(const std::string& name, const std::string& text) {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / ".tmp") << text;
    fs::rename(dir_ / ".tmp", dir_ / name);
  }
  void start() {
    compiler::CompileOptions options;
    options.target = program::Target::kTablesOnly;
    auto follower = Follower::create({dir_.string()}, options, Colour::kNo);
    ASSERT_TRUE(follower.ok()) << follower.error().text;
    follower_ = std::move(*follower);
  }
  Update next() {
    auto update = follower_->next();
    EXPECT_TRUE(update.has_value());
    return update.value_or(Update{});
  }
  static std::string tree(const Update& update) {
    if (update.program == nullptr) return "none";
    auto view = program::read(update.program);
    return view ? program::dump_routes(*view) : view.error().text;
  }

  fs::path dir_;
  std::unique_ptr<Follower> follower_;
};

TEST_F(Follow, TellsTheFilesAsTheyAreAndThenEachChange) {
  put("a.yaml", route("a", "/a"));
  start();
  const Update first = next();
  EXPECT_TRUE(first.clean) << first.report;
  EXPECT_THAT(tree(first), HasSubstr("/a"));
  put("b.yaml", route("b", "/b"));
  const Update second = next();
  EXPECT_TRUE(second.clean);
  EXPECT_THAT(tree(second), testing::AllOf(HasSubstr("/a"), HasSubstr("/b")));
  fs::remove(dir_ / "a.yaml");
  EXPECT_THAT(tree(next()), Not(HasSubstr("/a")));
  follower_->stop();
  EXPECT_FALSE(follower_->next().has_value());
}

TEST_F(Follow, AFileWithErrorsKeepsItsLastSoundVersion) {
  put("a.yaml", route("a", "/a"));
  put("b.yaml", route("b", "/b"));
  start();
  next();
  put("a.yaml", route("a", "/changed", "  expression: 'path exact'\n"));
  const Update broken = next();
  EXPECT_FALSE(broken.clean);
  EXPECT_THAT(broken.report, testing::AllOf(HasSubstr("error"), HasSubstr("a.yaml"), HasSubstr("stays in force")));
  EXPECT_THAT(tree(broken), testing::AllOf(HasSubstr("/a"), HasSubstr("/b"), Not(HasSubstr("/changed"))));

  put("b.yaml", route("b", "/b2"));
  const Update other = next();
  EXPECT_FALSE(other.clean);
  EXPECT_EQ(other.report, "") << "the same fault is told once";
  EXPECT_THAT(tree(other), testing::AllOf(HasSubstr("/a"), HasSubstr("/b2")));

  put("a.yaml", "kind: [");
  EXPECT_THAT(tree(next()), testing::AllOf(HasSubstr("/a"), HasSubstr("/b2")));

  put("a.yaml", route("a", "/a2"));
  const Update mended = next();
  EXPECT_TRUE(mended.clean);
  EXPECT_THAT(tree(mended), testing::AllOf(HasSubstr("/a2"), HasSubstr("/b2")));
}

TEST_F(Follow, AFileThatWasNeverSoundIsLeftOutAndNeverWidened) {
  put("a.yaml", route("a", "/a", "  expression: 'path exact'\n"));
  put("b.yaml", route("b", "/b"));
  start();
  const Update update = next();
  EXPECT_FALSE(update.clean);
  EXPECT_THAT(update.report, HasSubstr("left out"));
  EXPECT_THAT(tree(update), testing::AllOf(HasSubstr("/b"), Not(HasSubstr("/a"))));
}

TEST_F(Follow, AFaultIsToldWhereItStandsNowThoughItsDocumentOnlyMoved) {
  const std::string faulty = "---\n" + route("a", "/a", "  expression: 'path exact'\n");
  put("a.yaml", faulty);
  start();
  EXPECT_THAT(next().report, HasSubstr("a.yaml:7:"));
  put("a.yaml", route("b", "/b") + faulty);
  const Update moved = next();
  EXPECT_THAT(moved.report, testing::AllOf(HasSubstr("a.yaml:15:"), Not(HasSubstr("a.yaml:7:"))));
}

TEST_F(Follow, TheSameTextTwiceIsADoubleUntilOneGoes) {
  const std::string text = route("a", "/a");
  put("a.yaml", text + "---\n" + text);
  start();
  EXPECT_THAT(next().report, HasSubstr("given twice"));
  put("a.yaml", text);
  const Update single = next();
  EXPECT_TRUE(single.clean) << single.report;
  EXPECT_THAT(tree(single), HasSubstr("/a"));
}

TEST_F(Follow, WhatIsNotThereIsSaid) {
  const auto follower = Follower::create({(dir_ / "none.yaml").string()}, {}, Colour::kNo);
  ASSERT_FALSE(follower.ok());
  EXPECT_THAT(follower.error().text, HasSubstr("none"));
}

TEST_F(Follow, AFolderWithoutFilesIsAnEmptyProgramAndAnError) {
  fs::remove(dir_ / "gateway.yaml");
  start();
  const Update update = next();
  EXPECT_FALSE(update.clean);
  EXPECT_TRUE(update.report_of_errors);
  EXPECT_THAT(update.report, HasSubstr("no *.yaml"));
  put("gateway.yaml", kGateway);
  EXPECT_THAT(next().mended, testing::ElementsAre("the configuration can be read again"));
}

TEST_F(Follow, EachFaultIsToldOnceAndThatItIsMended) {
  put("a.yaml", "kind: [\n");
  start();
  const Update first = next();
  EXPECT_TRUE(first.report_of_errors);
  EXPECT_THAT(first.report, HasSubstr("a.yaml"));
  EXPECT_TRUE(first.mended.empty());
  put("b.yaml", "kind: {\n");
  const Update second = next();
  EXPECT_THAT(second.report, testing::AllOf(HasSubstr("b.yaml"), Not(HasSubstr("a.yaml"))));
  put("a.yaml", route("a", "/a"));
  const Update mended = next();
  EXPECT_EQ(mended.report, "");
  EXPECT_THAT(mended.mended,
              testing::ElementsAre((dir_ / "a.yaml").string() + " is mended: it is in force as it is now"));
  fs::remove(dir_ / "b.yaml");
  EXPECT_THAT(next().mended, testing::ElementsAre((dir_ / "b.yaml").string() + " is at fault no longer"));
  put("a.yaml", "kind: [\n");
  EXPECT_THAT(next().report, HasSubstr("a.yaml")) << "what comes again is told again";
}

TEST_F(Follow, AFileThatCannotBeReadKeepsNoOtherOut) {
  put("a.yaml", route("a", "/a"));
  put("sub/c.yaml", route("c", "/c"));
  start();
  next();
  // A link that leads to itself, which not even root can read.
  fs::remove(dir_ / "a.yaml");
  fs::create_symlink("a.yaml", dir_ / "a.yaml");
  const Update held = next();
  EXPECT_FALSE(held.clean);
  EXPECT_THAT(held.report, testing::AllOf(HasSubstr("cannot read"), HasSubstr("a.yaml without errors stays in force")));
  EXPECT_THAT(tree(held), testing::AllOf(HasSubstr("/a"), HasSubstr("/c")));
  EXPECT_TRUE(held.at_fault.at((dir_ / "a.yaml").string()).held);
  put("b.yaml", route("b", "/b"));
  const Update other = next();
  EXPECT_EQ(other.report, "");
  EXPECT_THAT(tree(other), testing::AllOf(HasSubstr("/a"), HasSubstr("/b")));
  put("a.yaml", route("a", "/a2"));
  const Update mended = next();
  EXPECT_TRUE(mended.clean);
  EXPECT_THAT(tree(mended), testing::AllOf(HasSubstr("/a2"), HasSubstr("/b"), HasSubstr("/c")));
}

TEST_F(Follow, AFileThatNeverCouldBeReadIsAtFaultInNoDocument) {
  fs::create_symlink("nowhere", dir_ / "a.yaml");
  put("b.yaml", route("b", "/b"));
  start();
  const Update update = next();
  EXPECT_THAT(tree(update), HasSubstr("/b"));
  const FaultyFile& faulty = update.at_fault.at((dir_ / "a.yaml").string());
  EXPECT_FALSE(faulty.held);
  EXPECT_EQ(faulty.errors.size(), 1u);
  EXPECT_FALSE(update.texts.contains((dir_ / "a.yaml").string()));
}

}  // namespace
}  // namespace edge::controller
