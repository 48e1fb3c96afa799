#include "controller/reconcile/reconcile_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/dump/dump.h"
#include "program/read.h"

namespace edge::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ObjectEdit edit(const std::string& kind, const std::string& name, const std::string& spec,
                const std::string& version = "edgeproxy.io/v1alpha1") {
  const std::string metadata = R"("metadata":{"name":")" + name +
                               R"(","namespace":"shop","uid":"u","resourceVersion":"7","generation":1,)" +
                               R"("creationTimestamp":"2026-01-01T00:00:00Z"})";
  const std::string text =
      R"({"apiVersion":")" + version + R"(","kind":")" + kind + "\"," + metadata + ",\"spec\":" + spec + "}";
  auto read = read_cluster_object(text, "edgeproxy.io/proxy");
  EXPECT_TRUE(read.ok() && *read) << text;
  const ResourceId key = (*read)->key;
  return {key, *std::move(read)};
}

ObjectEdit backend(const std::string& name) {
  return edit("ProxyBackend", name, R"({"serviceRef":{"name":"app","port":80}})");
}

ObjectEdit route(const std::string& to) {
  return edit("ProxyRoute", "all",
              R"({"parentRefs":[{"name":"gw"}],"rules":[{"backendRef":{"name":")" + to + R"("}}]})");
}

ObjectEdit removal(const std::string& name) { return {{"ProxyBackend", "shop", name}, std::nullopt}; }

ReconcileOptions options(std::chrono::nanoseconds farewell) {
  ReconcileOptions options;
  options.compile.target = program::Target::kTablesOnly;
  options.compile.regex_worker = "/none";  // nothing can be compiled that has an expression to search for
  options.statuses.controller_class = "edgeproxy.io/proxy";
  options.farewell = farewell;
  return options;
}

/// A reconciler and the programs that it made.
class Loop {
 public:
  explicit Loop(std::chrono::nanoseconds farewell)
      : reconcile_loop_(options(farewell), {.reconciled = [this](ReconcileResult made) { keep(made); },
                                            .taken = {},
                                            .statuses_changed = [](const std::vector<DesiredStatus>&) {},
                                            .sound_versions = [](const SoundVersions&) {}}) {
    reconcile_loop_.edit(
        {edit("ProxyGateway", "gw", R"({"listeners":[{"name":"http","port":8080,"protocol":"HTTP"}]})"),
         edit("Service", "app", R"({"ports":[{"port":80}]})", "v1"), backend("old"), backend("new"), route("old")});
    reconcile_loop_.begin();
    EXPECT_THAT(program(1), HasSubstr("to shop/old weight"));
  }
  ~Loop() { reconcile_loop_.stop(); }

  void edit_one(ObjectEdit one) {
    std::vector<ObjectEdit> edits;
    edits.push_back(std::move(one));
    reconcile_loop_.edit(std::move(edits));
  }
  void pause() { reconcile_loop_.pause(); }
  void resume() { reconcile_loop_.resume(); }
  /// The routes of the program of this number; waits for it.
  std::string program(std::size_t number) {
    std::unique_lock lock(mutex_);
    const bool came = made_.wait_for(lock, std::chrono::seconds(60), [&] { return programs_.size() >= number; });
    return came ? programs_[number - 1] : "none";
  }
  std::size_t programs() {
    const std::lock_guard lock(mutex_);
    return programs_.size();
  }

 private:
  void keep(const ReconcileResult& made) {
    if (!made.program_changed) return;
    auto view = program::read(made.program);
    const std::lock_guard lock(mutex_);
    programs_.push_back(view ? program::dump_routes(*view) : view.error().text);
    made_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable made_;
  std::vector<std::string> programs_;
  ReconcileLoop reconcile_loop_;
};

// The time of a farewell is long enough for the slowest machine, where a test must not see its end.
constexpr auto kLong = std::chrono::hours(1);

TEST(ReconcileLoop, WhatLetsGoOfABackendIsSeenBeforeTheBackendsEnd) {
  Loop world(kLong);
  world.edit_one(removal("old"));
  world.edit_one(route("new"));
  EXPECT_THAT(world.program(2), AllOf(HasSubstr("to shop/new weight"), Not(HasSubstr("shop/old"))));
}

TEST(ReconcileLoop, WhatIsGoneIsGoneAfterAWhile) {
  Loop world(std::chrono::milliseconds(1));
  world.edit_one(removal("old"));
  EXPECT_THAT(world.program(2), Not(HasSubstr("to shop/old weight")));
}

TEST(ReconcileLoop, WhatComesWhileItIsHeldIsOneProgram) {
  Loop world(kLong);
  world.pause();
  for (int i = 0; i < 20; ++i) world.edit_one(backend("b" + std::to_string(i)));
  world.edit_one(removal("old"));
  world.edit_one(route("b19"));
  EXPECT_EQ(world.programs(), 1u);
  world.resume();
  EXPECT_THAT(world.program(2), AllOf(HasSubstr("to shop/b19 weight"), Not(HasSubstr("shop/old"))));
  world.edit_one(route("b0"));
  EXPECT_THAT(world.program(3), HasSubstr("to shop/b0 weight"));
}

TEST(ReconcileLoop, WhatComesBackWasNeverAway) {
  Loop world(kLong);
  world.edit_one(removal("old"));
  world.edit_one(backend("old"));
  world.edit_one(edit("ProxyRoute", "more",
                      R"({"parentRefs":[{"name":"gw"}],"rules":[{"matches":[{"path":)"
                      R"({"type":"Exact","value":"/more"}}],"backendRef":{"name":"old"}}]})"));
  EXPECT_THAT(world.program(2), AllOf(HasSubstr("/more"), HasSubstr("to shop/old weight")));
}

/// While no program can be made, what came stays to be told of; of an object, once.
TEST(ReconcileLoop, OfWhatWaitsForAProgramTheLastVersionIsTold) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t results = 0;
  std::vector<std::string> reported;
  const auto searching = [](const std::string& value) {
    return edit("ProxyRoute", "all",
                R"({"parentRefs":[{"name":"gw"}],"rules":[{"matches":[{"path":{"type":"RegularExpression","value":")" +
                    value + R"("}}],"backendRef":{"name":"new"}}]})");
  };
  ReconcileLoop reconcile_loop(options(kLong), {.reconciled =
                                                    [&](const ReconcileResult&) {
                                                      const std::lock_guard lock(mutex);
                                                      ++results;
                                                      changed.notify_all();
                                                    },
                                                .taken =
                                                    [&](const std::vector<TakenObject>& objects) {
                                                      const std::lock_guard lock(mutex);
                                                      for (const TakenObject& object : objects)
                                                        reported.push_back(object.key.text());
                                                      changed.notify_all();
                                                    },
                                                .statuses_changed = [](const std::vector<DesiredStatus>&) {},
                                                .sound_versions = [](const SoundVersions&) {}});
  const auto wait = [&](const auto& holds) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), holds);
  };
  reconcile_loop.edit({edit("ProxyGateway", "gw", R"({"listeners":[{"name":"http","port":8080,"protocol":"HTTP"}]})"),
                       edit("Service", "app", R"({"ports":[{"port":80}]})", "v1"), backend("new"),
                       searching("/[a-z]+")});
  reconcile_loop.begin();
  ASSERT_TRUE(wait([&] { return results == 1; }));
  reconcile_loop.edit({searching("/[0-9]+")});
  ASSERT_TRUE(wait([&] { return results == 2; }));
  reconcile_loop.edit({route("new")});
  ASSERT_TRUE(wait([&] { return !reported.empty(); }));
  reconcile_loop.stop();
  EXPECT_THAT(reported,
              testing::UnorderedElementsAre("ProxyGateway shop/gw", "ProxyBackend shop/new", "ProxyRoute shop/all"));
}

/// What waits for the first program is bounded too, and what a policy names of it is asked for.
TEST(ReconcileLoop, ConfigMapsThatDoNotFitAreAskedForAgain) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string tree;
  std::vector<std::string> wanted;
  ReconcileLoop reconcile_loop(options(kLong), {.reconciled =
                                                    [&](const ReconcileResult& made) {
                                                      auto view = program::read(made.program);
                                                      const std::lock_guard lock(mutex);
                                                      tree = view ? program::dump_routes(*view) : view.error().text;
                                                      changed.notify_all();
                                                    },
                                                .taken = {},
                                                .statuses_changed = [](const std::vector<DesiredStatus>&) {},
                                                .sound_versions = [](const SoundVersions&) {},
                                                .wanted =
                                                    [&](const std::vector<ResourceId>& objects) {
                                                      const std::lock_guard lock(mutex);
                                                      for (const ResourceId& key : objects)
                                                        wanted.push_back(key.text());
                                                      changed.notify_all();
                                                    }});
  const auto wait = [&](const auto& holds) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), holds);
  };
  const auto map = [](const std::string& name, const std::string& data) {
    auto read = read_cluster_object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                                        R"(","namespace":"shop"},"data":)" + data + "}",
                                    "edgeproxy.io/proxy");
    EXPECT_TRUE(read.ok() && *read);
    const ResourceId key = (*read)->key;
    return ObjectEdit{key, *std::move(read)};
  };
  std::string large;
  for (int i = 0; i < 16; ++i) {
    large += (large.empty() ? "{\"k" : ",\"k") + std::to_string(i) + "\":\"" + std::string(65'000, 'x') + '"';
  }
  for (std::size_t i = 0; i <= kMostKeptValues / 1'000'000; ++i) {
    reconcile_loop.edit({map("filler" + std::to_string(i), large + "}")});
  }
  reconcile_loop.edit({edit("ProxyGateway", "gw", R"({"listeners":[{"name":"http","port":8080,"protocol":"HTTP"}]})"),
                       edit("ProxyPolicy", "fixed",
                            R"({"type":"FixedResponse","targetRef":{"kind":"ProxyGateway","name":"gw"},)"
                            R"("fixedResponse":{"statusCode":200,"configMapRef":{"name":"filler66","key":"k3"}}})")});
  reconcile_loop.begin();
  EXPECT_TRUE(wait([&] { return !wanted.empty(); }));
  reconcile_loop.edit({map("filler66", R"({"k3":"read again"})")});
  EXPECT_TRUE(wait([&] { return tree.find("body read again") != std::string::npos; }));
  reconcile_loop.stop();
  EXPECT_THAT(wanted, testing::ElementsAre("ConfigMap shop/filler66"));
}

}  // namespace
}  // namespace edge::controller
