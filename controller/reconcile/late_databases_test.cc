// Programs that are made before the databases of their patterns, and those that follow them.
#include <condition_variable>
#include <fstream>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/reconcile/program_builder.h"
#include "controller/reconcile/reconcile_loop.h"
#include "program/dump/dump.h"

namespace edge::controller {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kClass = "edgeproxy.io/proxy";
/// More than are made at once.
constexpr int kPatterns = 12;

Json object(const std::string& kind, const std::string& name, const Json& spec, std::int64_t generation) {
  return {{"apiVersion", "edgeproxy.io/v1alpha1"},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"uid", "uid-of-" + name},
            {"resourceVersion", "7"},
            {"generation", generation}}},
          {"spec", spec}};
}

ObjectEdit edit(const Json& object) {
  auto read = read_cluster_object(object.dump(), kClass);
  EXPECT_TRUE(read.ok() && *read) << object.dump();
  const ResourceId key = (*read)->key;
  return {key, *std::move(read)};
}

ObjectEdit gateway() {
  return edit(
      object("ProxyGateway", "gw", {{"listeners", {{{"name", "http"}, {"port", 8080}, {"protocol", "HTTP"}}}}}, 1));
}

ObjectEdit route(int number, const std::string& type, const std::string& path, std::int64_t generation) {
  const Json redirect = {{{"type", "RequestRedirect"}, {"requestRedirect", {{"hostname", "there.test"}}}}};
  return edit(
      object("ProxyRoute", "r" + std::to_string(number),
             {{"parentRefs", {{{"name", "gw"}}}},
              {"rules", {{{"matches", {{{"path", {{"type", type}, {"value", path}}}}}}, {"filters", redirect}}}}},
             generation));
}

std::vector<ObjectEdit> routes(const std::string& type, const std::string& start, const std::string& end,
                               std::int64_t generation) {
  std::vector<ObjectEdit> edits;
  for (int i = 0; i < kPatterns; ++i) edits.push_back(route(i, type, start + std::to_string(i) + end, generation));
  return edits;
}

std::string tree(const ReconcileResult& result) {
  if (result.program == nullptr) return "none: " + result.fault;
  const auto view = program::read(result.program);
  return view ? program::dump_routes(*view) : view.error().text;
}

/// Told once the databases are made.
class Ended {
 public:
  std::function<void(const compiler::DatabaseProgress&)> listener() {
    return [this](const compiler::DatabaseProgress& progress) {
      const std::lock_guard lock(mutex_);
      ended_ |= progress.ended;
      changed_.notify_all();
    };
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    ended_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

compiler::CompileOptions options(Ended& ended, const std::string& worker = {}) {
  compiler::CompileOptions options;
  options.target = program::Target::kTablesOnly;
  options.regex_worker = worker;
  options.databases = compiler::DatabaseTime::kAfter;
  options.databases_progressed = ended.listener();
  return options;
}

std::string status_of(ProgramBuilder& builder, const std::string& key) {
  std::string found;
  for (const DesiredStatus& desired : builder.build_statuses(1000))
    if (desired.key.text() == key) found = desired.status;
  return found;
}

TEST(LateDatabases, TheProgramThatFollowsIsThatOfACompileFromNothing) {
  Ended ended;
  ProgramBuilder builder(options(ended), {kClass, {}});
  std::vector<ObjectEdit> all = routes("RegularExpression", "^/", "/[0-9]+$", 1);
  all.push_back(gateway());
  const auto first = builder.apply(all);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->lacks_databases);
  EXPECT_EQ(first->number, 1u);
  ended.wait();
  const auto second = builder.add_databases();
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(second->lacks_databases);
  EXPECT_TRUE(second->program_changed);
  EXPECT_EQ(second->number, 2u);
  EXPECT_EQ(second->cause.count, 0u);
  EXPECT_FALSE(builder.add_databases().has_value());

  compiler::CompileOptions at_once = options(ended);
  at_once.databases = compiler::DatabaseTime::kBefore;
  ProgramBuilder from_nothing(at_once, {kClass, {}});
  const auto whole = from_nothing.apply(all);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(*whole->program, *second->program);
  EXPECT_EQ(tree(*whole), tree(*first));
}

TEST(LateDatabases, WhatIsRefusedWithItsDatabaseStaysAsItWasBefore) {
  Ended ended;
  ProgramBuilder builder(options(ended, EDGE_REFUSING_WORKER), {kClass, {}});
  std::vector<ObjectEdit> all = routes("Exact", "/", "", 1);
  all.push_back(gateway());
  ASSERT_TRUE(builder.apply(all).has_value());
  const auto edited = builder.apply(routes("RegularExpression", "^/", "/[0-9]+$", 2));
  ASSERT_TRUE(edited.has_value());
  EXPECT_TRUE(edited->lacks_databases);
  EXPECT_THAT(tree(*edited), HasSubstr("[0-9]"));
  ended.wait();
  const auto refused = builder.add_databases();
  ASSERT_TRUE(refused.has_value());
  EXPECT_FALSE(refused->lacks_databases);
  EXPECT_THAT(tree(*refused), Not(HasSubstr("[0-9]")));
  EXPECT_THAT(tree(*refused), HasSubstr("/3"));
  EXPECT_EQ(builder.sound_versions().size(), static_cast<std::size_t>(kPatterns));
  EXPECT_THAT(status_of(builder, "ProxyRoute shop/r3"), HasSubstr("generation 1 of it stays in force"));
}

TEST(LateDatabases, WithoutAWorkerTheProgramServesOnAndNoOtherIsMade) {
  Ended ended;
  ProgramBuilder builder(options(ended, "/nowhere/edge-regexc"), {kClass, {}});
  std::vector<ObjectEdit> all = routes("RegularExpression", "^/", "/[0-9]+$", 1);
  all.push_back(gateway());
  const auto first = builder.apply(all);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->lacks_databases);
  ended.wait();
  const auto failed = builder.add_databases();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->program, nullptr);
  EXPECT_THAT(failed->fault, HasSubstr("/nowhere/edge-regexc"));
  const auto edited = builder.apply({route(3, "RegularExpression", "^/other/[0-9]+$", 2)});
  ASSERT_TRUE(edited.has_value());
  EXPECT_EQ(edited->program, nullptr);
}

TEST(LateDatabases, AnEditMeanwhileIsServedAtOnce) {
  Ended ended;
  ProgramBuilder builder(options(ended), {kClass, {}});
  std::vector<ObjectEdit> all = routes("RegularExpression", "^/", "/[0-9]+$", 1);
  all.push_back(gateway());
  ASSERT_TRUE(builder.apply(all).has_value());
  const auto edited = builder.apply({route(3, "Exact", "/plain", 2)});
  ASSERT_TRUE(edited.has_value());
  EXPECT_THAT(tree(*edited), HasSubstr("/plain"));
  ended.wait();
  const auto whole = builder.add_databases();
  ASSERT_TRUE(!edited->lacks_databases || whole.has_value());
}

TEST(LateDatabases, TheLoopMakesTheProgramThatFollowsByItself) {
  Ended ended;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> lacking;
  ReconcileOptions loop_options;
  loop_options.compile = options(ended);
  loop_options.statuses = {kClass, {}};
  ReconcileLoop loop(std::move(loop_options), ReconcileEvents{.reconciled =
                                                                  [&](const ReconcileResult& result) {
                                                                    const std::lock_guard lock(mutex);
                                                                    lacking.push_back(result.lacks_databases);
                                                                    changed.notify_all();
                                                                  },
                                                              .taken = {},
                                                              .statuses_changed = [](std::vector<DesiredStatus>) {},
                                                              .sound_versions = [](const SoundVersions&) {}});
  std::vector<ObjectEdit> all = routes("RegularExpression", "^/", "/[0-9]+$", 1);
  all.push_back(gateway());
  loop.edit(std::move(all));
  loop.begin();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !lacking.empty() && !lacking.back(); });
  EXPECT_EQ(lacking, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace edge::controller
