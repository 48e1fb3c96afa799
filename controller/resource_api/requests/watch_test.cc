// Watches: what they tell, from where, and how they end.
#include <stdexcept>

#include <gmock/gmock.h>

#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatchTest : public ApiTest {
 protected:
  std::string version() const { return std::to_string(api_->resource_version()); }
  Json labelled(const std::string& name, const std::string& app) {
    Json map = config_map(name);
    map["metadata"]["labels"]["app"] = app;
    return map;
  }
};

TEST_F(WatchTest, FromAVersionTellsWhatCameAfterIt) {
  create(kMaps, config_map("a"));
  const std::string from = version();
  create(kMaps, config_map("b"));
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + from);
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
  patch(kMaps + "/a", {{"data", {{"k", "v"}}}});
  remove(kMaps + "/b");
  EXPECT_THAT(events(*stream), ElementsAre("MODIFIED a", "DELETED b"));
  EXPECT_EQ(last_event_["object"]["metadata"]["resourceVersion"], version()) << "the version of the deletion";
  EXPECT_EQ(last_event_["object"]["kind"], "ConfigMap");
  create("/api/v1/namespaces/kube-system/configmaps", config_map("c"));
  create("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}});
  EXPECT_THAT(events(*stream), IsEmpty()) << "another namespace, another kind";
}

TEST_F(WatchTest, WithoutAVersionBeginsWithWhatIsThere) {
  create(kMaps, config_map("a"));
  for (const char* query : {"?watch=true", "?watch=1&resourceVersion=0"}) {
    const auto stream = watch(kMaps + query);
    EXPECT_THAT(events(*stream), ElementsAre("ADDED a"));
  }
}

TEST_F(WatchTest, ResumesAfterARestart) {
  const std::string from = version();
  create(kMaps, config_map("a", {{"k", "1"}}));
  patch(kMaps + "/a", {{"data", {{"k", "2"}}}});
  remove(kMaps + "/a");
  create(kMaps, config_map("b"));
  start();
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + from);
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a", "MODIFIED a", "DELETED a", "ADDED b"));
}

TEST_F(WatchTest, InitialEventsEndWithAnAnnotatedBookmark) {
  create(kMaps, config_map("a"));
  const auto stream =
      watch(kMaps + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a", "BOOKMARK"));
  EXPECT_EQ(last_event_["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
  EXPECT_EQ(last_event_["object"]["metadata"]["resourceVersion"], version());
  EXPECT_EQ(last_event_["object"]["kind"], "ConfigMap");
  create(kMaps, config_map("b"));
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
}

TEST_F(WatchTest, InitialEventsNeedTheirCompanions) {
  EXPECT_EQ(get(kMaps + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true").status, 422);
  EXPECT_EQ(get(kMaps + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").status, 422);
  EXPECT_EQ(get(kMaps + "?sendInitialEvents=true").status, 422);
}

TEST_F(WatchTest, AnObjectThatLeavesTheSelectionIsDeleted) {
  const auto stream = watch(kMaps + "?watch=true&labelSelector=app=x");
  create(kMaps, labelled("a", "x"));
  create(kMaps, labelled("b", "y"));
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a"));
  patch(kMaps + "/a", {{"metadata", {{"labels", {{"app", "y"}}}}}});
  EXPECT_THAT(events(*stream), ElementsAre("DELETED a"));
  EXPECT_EQ(last_event_["object"]["metadata"]["labels"]["app"], "x") << "as it was last seen";
  EXPECT_EQ(last_event_["object"]["metadata"]["resourceVersion"], version());
  patch(kMaps + "/b", {{"metadata", {{"labels", {{"app", "x"}}}}}});
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
  patch(kMaps + "/a", {{"data", {{"k", "v"}}}});
  EXPECT_THAT(events(*stream), IsEmpty());
}

TEST_F(WatchTest, OneObjectIsWatchedByItsPath) {
  const auto stream = watch(kMaps + "/b?watch=true");
  create(kMaps, config_map("a"));
  create(kMaps, config_map("b"));
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
}

TEST_F(WatchTest, BookmarksComeWhenAskedForAndSomethingElseHappened) {
  const auto with = watch(kMaps + "?watch=true&allowWatchBookmarks=true&resourceVersion=" + version());
  const auto without = watch(kMaps + "?watch=true&resourceVersion=" + version());
  EXPECT_THAT(events(*with), IsEmpty());
  now_ += 61'000;
  work();
  EXPECT_THAT(events(*with), IsEmpty()) << "nothing new to say";
  create("/api/v1/namespaces", {{"metadata", {{"name", "other"}}}});
  now_ += 61'000;
  work();
  EXPECT_THAT(events(*with), ElementsAre("BOOKMARK"));
  EXPECT_EQ(last_event_["object"]["metadata"]["resourceVersion"], version());
  EXPECT_THAT(events(*without), IsEmpty());
}

TEST_F(WatchTest, EndsAtItsTimeout) {
  const auto stream = watch(kMaps + "?watch=true&timeoutSeconds=5&resourceVersion=" + version());
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kNothingYet);
  int woken = 0;
  stream->on_ready([&] { ++woken; });
  now_ += 4'999;
  work();
  EXPECT_EQ(woken, 0);
  now_ += 1;
  work();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(stream->next(text), WatchStream::Next::kEnd);
  EXPECT_EQ(text, "");
}

TEST_F(WatchTest, IsWokenOnceForWhatConcernsItsCollection) {
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + version());
  int woken = 0;
  stream->on_ready([&] { ++woken; });
  EXPECT_THAT(events(*stream), IsEmpty());
  create("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}});
  EXPECT_EQ(woken, 0);
  create(kMaps, config_map("a"));
  create(kMaps, config_map("b"));
  EXPECT_EQ(woken, 1) << "it has not been asked since";
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a", "ADDED b"));
}

TEST_F(WatchTest, AVersionThatIsForgottenIsExpired) {
  options_.limits.history_events = 4;
  start();
  const std::string from = version();
  create(kMaps, config_map("a"));
  for (int i = 0; i < 5; ++i) patch(kMaps + "/a", {{"data", {{"k", std::to_string(i)}}}});
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + from);
  EXPECT_THAT(events(*stream), ElementsAre("ERROR"));
  EXPECT_EQ(last_event_["object"]["code"], 410);
  EXPECT_EQ(last_event_["object"]["reason"], "Expired");
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kEnd);
}

TEST_F(WatchTest, AReaderThatFallsBehindIsExpiredAndCostsNothing) {
  options_.limits.history_events = 4;
  start();
  create(kMaps, config_map("a"));
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + version());
  for (int i = 0; i < 9; ++i) patch(kMaps + "/a", {{"data", {{"k", std::to_string(i)}}}});
  EXPECT_THAT(events(*stream), ElementsAre("ERROR"));
  start();
  EXPECT_THAT(events(*watch(kMaps + "?watch=true&resourceVersion=1")), ElementsAre("ERROR"))
      << "what is forgotten stays forgotten";
}

TEST_F(WatchTest, AVersionOfAnotherDatabaseIsExpired) {
  const Answer answer = get(kMaps + "?watch=true&resourceVersion=999999");
  EXPECT_EQ(answer.status, 410);
}

TEST_F(WatchTest, QuietKindsKeepTheirHistoryWhenOthersAreBusy) {
  options_.limits.history_events = 4;
  start();
  const std::string from = version();
  create("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}});
  create(kMaps, config_map("a"));
  for (int i = 0; i < 9; ++i) patch(kMaps + "/a", {{"data", {{"k", std::to_string(i)}}}});
  EXPECT_THAT(events(*watch("/api/v1/secrets?watch=true&resourceVersion=" + from)), ElementsAre("ADDED s"));
}

TEST_F(WatchTest, ALongBeginningComesInPieces) {
  const std::string filler(20'000, 'x');
  for (int i = 0; i < 10; ++i) create(kMaps, config_map("a" + std::to_string(i), {{"k", filler}}));
  const auto stream = watch(kMaps + "?watch=true");
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kMore);
  EXPECT_LT(text.size(), 100'000U);
  EXPECT_EQ(events(*stream).size(), 6U);
}

TEST_F(WatchTest, EventsCanBeTablesOrMetadata) {
  ApiRequest asked = request("GET", kMaps + "?watch=true");
  asked.accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  const auto tables = std::move(api_->handle(asked).watch);
  asked.accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
  const auto metadata = std::move(api_->handle(asked).watch);
  create(kMaps, config_map("a", {{"k", "v"}}));
  events(*tables);
  EXPECT_EQ(last_event_["object"]["kind"], "Table");
  EXPECT_EQ(last_event_["object"]["rows"][0]["cells"][0], "a");
  EXPECT_FALSE(last_event_["object"]["columnDefinitions"].empty());
  patch(kMaps + "/a", {{"data", {{"k", "w"}}}});
  events(*tables);
  EXPECT_TRUE(last_event_["object"].value("columnDefinitions", Json()).empty()) << "columns are told once";
  events(*metadata);
  EXPECT_EQ(last_event_["object"]["kind"], "PartialObjectMetadata");
  EXPECT_FALSE(last_event_["object"].contains("data"));
}

TEST_F(WatchTest, TooManyAreRefused) {
  options_.limits.watches = 2;
  start();
  const auto first = watch(kMaps + "?watch=true");
  auto second = watch(kMaps + "?watch=true");
  EXPECT_EQ(get(kMaps + "?watch=true").status, 429);
  second.reset();
  EXPECT_EQ(get(kMaps + "?watch=true").status, 200);
}

TEST_F(WatchTest, WhatCannotBeToldEndsTheStream) {
  bool fails = false;
  options_.now = [&] { return fails ? throw std::runtime_error("no clock") : now_; };
  start();
  const auto stream = watch(kMaps + "?watch=true");
  create(kMaps, config_map("a"));
  fails = true;
  EXPECT_THAT(events(*stream), ElementsAre("ERROR")) << "and nothing of what was begun";
  EXPECT_EQ(last_event_["object"]["code"], 500);
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kEnd);
  EXPECT_EQ(log_.lines().back(), "error resource api: a watch failed of=configmaps reason=no clock");
  api_.reset();
}

TEST_F(WatchTest, OutlivesTheApiAndEnds) {
  const auto stream = watch(kMaps + "?watch=true");
  EXPECT_THAT(events(*stream), IsEmpty());
  int woken = 0;
  stream->on_ready([&] { ++woken; });
  api_.reset();
  EXPECT_EQ(woken, 1);
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kEnd);
}

}  // namespace
}  // namespace edge::resource_api
