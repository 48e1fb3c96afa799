#include "edgectl/web/server/event_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::edgectl::web {
namespace {

using Next = net::server::BodySource::Next;

std::string next(net::server::BodySource& source) {
  std::string out;
  EXPECT_EQ(source.next(out), Next::kNothingYet);
  return out;
}

TEST(EventHub, ViewersBeginWithWhatIsCurrent) {
  EventHub hub;
  hub.publish("traffic", "1");
  hub.publish("traffic", "2");
  const auto viewer = hub.watch();
  EXPECT_EQ(next(*viewer), "retry: 1000\n\nevent: traffic\ndata: 2\n\n");
  EXPECT_EQ(next(*viewer), "");
}

TEST(EventHub, SlowViewersMissWhatWasReplaced) {
  EventHub hub;
  const auto viewer = hub.watch();
  next(*viewer);
  int woken = 0;
  viewer->on_ready([&] { ++woken; });
  for (int i = 0; i < 1000; ++i) hub.publish("traffic", std::to_string(i));
  hub.publish("agents", "[]");
  EXPECT_EQ(woken, 1001);
  EXPECT_EQ(next(*viewer), "event: agents\ndata: []\n\nevent: traffic\ndata: 999\n\n");
}

TEST(EventHub, ChangesAddUpForWhoHasNotSeenThem) {
  EventHub hub;
  hub.add_changes({"proxyroutes"});
  const auto viewer = hub.watch();
  next(*viewer);
  hub.add_changes({"proxyroutes"});
  hub.add_changes({"proxygateways"});
  EXPECT_EQ(next(*viewer), "event: changed\ndata: {\"kinds\":[\"proxygateways\",\"proxyroutes\"]}\n\n");
  EXPECT_EQ(next(*viewer), "");
}

TEST(EventHub, BeatsAndEnd) {
  EventHub hub;
  const auto viewer = hub.watch();
  next(*viewer);
  hub.beat();
  EXPECT_EQ(next(*viewer), ":\n\n");
  hub.close();
  std::string out;
  EXPECT_EQ(viewer->next(out), Next::kEnd);
  EXPECT_EQ(hub.watch(), nullptr);
}

TEST(EventHub, RulesDecideWhatAViewerIsSent) {
  EventHub hub;
  bool over = false;
  ViewerRules rules;
  rules.shown = [](std::string_view topic, const std::string& data) { return std::string(topic) + " of " + data; };
  rules.told_of_kind = [](std::string_view kind) { return kind == "proxyroutes"; };
  rules.over = [&] { return over; };
  const auto viewer = hub.watch(std::move(rules));
  const auto other = hub.watch();
  next(*viewer);
  next(*other);
  hub.publish("traffic", "7");
  hub.add_changes({"proxyroutes", "sites"});
  EXPECT_EQ(next(*viewer),
            "event: changed\ndata: {\"kinds\":[\"proxyroutes\"]}\n\n"
            "event: traffic\ndata: traffic of 7\n\n");
  EXPECT_EQ(next(*other),
            "event: changed\ndata: {\"kinds\":[\"proxyroutes\",\"sites\"]}\n\n"
            "event: traffic\ndata: 7\n\n");
  over = true;
  std::string out;
  EXPECT_EQ(viewer->next(out), Next::kEnd);
}

TEST(EventHub, ViewersAreBoundedAndMayOutliveIt) {
  std::vector<std::unique_ptr<net::server::BodySource>> viewers;
  {
    EventHub hub;
    for (std::size_t i = 0; i < EventHub::kMostViewers; ++i) viewers.push_back(hub.watch());
    EXPECT_EQ(hub.watch(), nullptr);
    viewers.pop_back();
    EXPECT_EQ(hub.viewers(), EventHub::kMostViewers - 1);
    viewers.push_back(hub.watch());
    EXPECT_NE(viewers.back(), nullptr);
  }
}

}  // namespace
}  // namespace edge::edgectl::web
