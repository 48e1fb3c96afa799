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
    std::ofstream(dir_ / ("." + name + ".tmp")) << text;
    fs::rename(dir_ / ("." + name + ".tmp"), dir_ / name);
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

TEST_F(Follow, AFolderWithoutFilesIsAnEmptyProgramAndARemark) {
  fs::remove(dir_ / "gateway.yaml");
  start();
  const Update update = next();
  EXPECT_TRUE(update.clean);
  EXPECT_THAT(update.report, HasSubstr("no *.yaml"));
}

}  // namespace
}  // namespace edge::controller
