// What agents report of the SD-WAN in statuses: who holds a site, which links are healthy, what moved and why.
#include "controller/status/wan_status.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/status/status_events.h"
#include "controller/status/wan_view.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

WanQuality well(std::uint32_t latency = 12'340) {
  return {.measured = true, .alive = true, .probes = 1000, .loss = 250, .latency = latency, .last_probe_ms = 1'000};
}

AgentWan hamburg(bool active) {
  WanReport report{.active = active};
  report.links = {{.link = "n/fibre", .address = parse_ip("10.0.0.2"), .quality = well()},
                  {.link = "n/mobile", .quality = {.measured = true, .alive = true, .fault = "loss"}}};
  report.tunnels = {{.link = "n/fibre",
                     .peer_site = "n/bremen",
                     .peer_link = "n/dsl",
                     .up = true,
                     .endpoint = parse_ip("203.0.113.9"),
                     .quality = well()},
                    {.link = "n/fibre", .peer_site = "n/kiel", .peer_link = "n/kabel"}};
  report.policies = {{.policy = "n/voice",
                      .peer_site = "n/bremen",
                      .paths = {{"n/fibre", "n/dsl"}},
                      .since_ms = 2'000,
                      .cause = "fault",
                      .fault = "loss"}};
  return {"edge-1", "node-1", "n/hamburg", std::move(report)};
}

Json status_of(const std::vector<AgentWan>& all, const std::string& kind, const std::string& name) {
  AgentsView view;
  view.wan = wan_view_of(all);
  Json status = {{"conditions", Json::array()}};
  overlay_wan(view, kind, name, status);
  return status;
}

std::string reason_in(const Json& status) { return text_in(status["conditions"][0], "reason"); }

TEST(WanStatus, ASiteSaysWhoHoldsItAndWhomItReaches) {
  const Json status = status_of({hamburg(true)}, "Site", "n/hamburg");
  EXPECT_EQ(status["node"], "node-1");
  EXPECT_EQ(status["peers"], Json({"n/bremen"}));
  EXPECT_EQ(status["links"]["summary"], "1/2");
  EXPECT_EQ(reason_in(status), "PeersLost") << status;
  EXPECT_EQ(reason_in(status_of({hamburg(false)}, "Site", "n/hamburg")), "NoHolder");
  EXPECT_EQ(reason_in(status_of({}, "Site", "n/hamburg")), "NoAgent");
}

TEST(WanStatus, ALinkHasItsFiguresAndWhatIsWrong) {
  const Json fibre = status_of({hamburg(true)}, "WANLink", "n/fibre");
  EXPECT_EQ(fibre["latency"], "12.3ms");
  EXPECT_EQ(fibre["loss"], "0.25%");
  EXPECT_EQ(fibre["lastProbe"], "1970-01-01T00:00:01Z");
  EXPECT_EQ(reason_in(fibre), "WithinLimits");
  const Json mobile = status_of({hamburg(true)}, "WANLink", "n/mobile");
  EXPECT_EQ(reason_in(mobile), "LossBeyondLimit");
  EXPECT_FALSE(mobile.contains("latency")) << "there are no probes in its window";
  EXPECT_EQ(reason_in(status_of({}, "WANLink", "n/fibre")), "NoNode");
}

TEST(WanStatus, APolicySaysWhatItTakesSinceWhenAndWhy) {
  AgentWan agent = hamburg(true);
  const Json status = status_of({agent}, "WANPolicy", "n/voice");
  EXPECT_EQ(status["activeLinks"], Json({"n/fibre"}));
  EXPECT_EQ(status["paths"][0]["reason"], "fault: loss");
  EXPECT_EQ(status["paths"][0]["since"], "1970-01-01T00:00:02Z");
  EXPECT_EQ(reason_in(status), "LinksFit");
  agent.report.policies[0].best_effort = true;
  EXPECT_EQ(reason_in(status_of({agent}, "WANPolicy", "n/voice")), "NoLinkFit");
  agent.report.policies[0].dropped = true;
  EXPECT_EQ(reason_in(status_of({agent}, "WANPolicy", "n/voice")), "Dropped");
}

TEST(WanStatus, AMoveIsToldOnce) {
  AgentWan agent = hamburg(true);
  const Json before = status_of({agent}, "WANPolicy", "n/voice");
  EXPECT_TRUE(wan_moves(Json::object(), before).empty()) << "the first choice is no move";
  EXPECT_TRUE(wan_moves(before, before).empty());
  agent.report.policies[0].paths = {{"n/mobile", "n/dsl"}};
  const Json after = status_of({agent}, "WANPolicy", "n/voice");
  const auto moves = wan_moves(before, after);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].message, "traffic of n/hamburg to n/bremen takes n/mobile: fault: loss");
}

/// The link `n/fibre` of a site with tunnels to two others, and what its status becomes by each report.
class TunnelEvents : public testing::Test {
 protected:
  TunnelEvents() {
    agent_.report.tunnels = {tunnel("n/bremen", "n/dsl"), tunnel("n/kiel", "n/kabel")};
    EXPECT_TRUE(report().empty()) << "they are up from the start";
  }

  static WanTunnelState tunnel(const std::string& site, const std::string& link) {
    return {
        .link = "n/fibre", .peer_site = site, .peer_link = link, .up = true, .handshake_ms = 5'000, .quality = well()};
  }
  void go_down(std::size_t at) {
    agent_.report.tunnels[at].quality.alive = false;
    agent_.report.tunnels[at].quality.since_ms = 9'000;
  }

  /// Returns the events that the report makes, as `REASON: MESSAGE`.
  std::vector<std::string> report() { return report_of({agent_}); }
  std::vector<std::string> report_of(const std::vector<AgentWan>& all) {
    AgentsView view;
    view.wan = wan_view_of(all);
    DesiredStatus desired;
    desired.key = {"WANLink", "n", "fibre"};
    desired.status = R"({"conditions":[]})";
    const auto change =
        change_of_status(desired, status_.dump(), view, "edgeproxy.io/controller", "2026-01-01T00:00:00Z");
    std::vector<std::string> told;
    if (!change) return told;
    status_.merge_patch(Json::parse(change->fields));
    for (const Event& event : events_of(desired.key, change->flips)) {
      told.push_back((event.level == kube::EventLevel::kWarning ? "! " : "") + event.reason + ": " + event.message);
    }
    return told;
  }
  using Told = std::vector<std::string>;

  AgentWan agent_ = hamburg(true);
  Json status_ = Json::object();
};

TEST_F(TunnelEvents, ATunnelGoesDownIsStaleAndComesUp) {
  EXPECT_EQ(status_["tunnels"], Json({{"up", 2}, {"total", 2}, {"down", Json::array()}}));
  go_down(1);
  EXPECT_EQ(report(), Told{"! TunnelDown: tunnel to n/kiel by n/kabel: no probe is answered"});
  EXPECT_EQ(status_["tunnels"]["up"], 1);
  EXPECT_EQ(status_["tunnels"]["down"][0]["reason"], "NoAnswers");
  EXPECT_EQ(status_["tunnels"]["down"][0]["since"], "1970-01-01T00:00:09Z");
  agent_.report.tunnels[1].quality.since_ms = 10'100;
  EXPECT_EQ(report(), Told()) << "it is the same outage, by a clock that was set";
  EXPECT_EQ(status_["tunnels"]["down"][0]["since"], "1970-01-01T00:00:09Z");
  agent_.report.tunnels[1].up = false;
  EXPECT_EQ(report(), Told{"! TunnelStale: tunnel to n/kiel by n/kabel: the key of its session was not renewed, no "
                           "handshake is answered"});
  agent_.report.tunnels[1] = tunnel("n/kiel", "n/kabel");
  EXPECT_EQ(report(), Told{"TunnelUp: tunnel to n/kiel by n/kabel carries traffic again"});
  EXPECT_EQ(report(), Told());
}

TEST_F(TunnelEvents, TunnelsThatGoTogetherAreOneEvent) {
  agent_.report.tunnels.clear();
  for (int i = 10; i < 99; ++i) agent_.report.tunnels.push_back(tunnel("n/s" + std::to_string(i), "n/l"));
  EXPECT_EQ(report(), Told());
  for (std::size_t i = 0; i < agent_.report.tunnels.size(); ++i) go_down(i);
  // A status has so many of them; the others are counted.
  EXPECT_EQ(report(), Told{"! TunnelDown: 64 tunnels: to n/s10 by n/l, to n/s11 by n/l, to n/s12 by n/l, to n/s13 by "
                           "n/l, to n/s14 by n/l and 59 more: no probe is answered"});
  EXPECT_EQ(status_["tunnels"]["total"], 89);
  EXPECT_EQ(status_["tunnels"]["down"].size(), 64U);
  for (WanTunnelState& one : agent_.report.tunnels) one.quality.alive = true;
  EXPECT_EQ(report().size(), 1U);
}

TEST_F(TunnelEvents, ATunnelThatTheListHadNoRoomForDoesNotGoDownAgain) {
  agent_.report.tunnels.clear();
  for (int i = 10; i < 76; ++i) agent_.report.tunnels.push_back(tunnel("n/s" + std::to_string(i), "n/l"));
  EXPECT_EQ(report(), Told());
  for (std::size_t i = 0; i < agent_.report.tunnels.size(); ++i) go_down(i);
  EXPECT_EQ(report().size(), 1U);
  // 66 are down. The 65th comes into the list when one recovers, then the 66th.
  for (std::size_t i = 0; i < 2; ++i) {
    agent_.report.tunnels[i].quality.alive = true;
    EXPECT_EQ(report(), Told{"TunnelUp: tunnel to n/s1" + std::to_string(i) + " by n/l carries traffic again"});
    EXPECT_EQ(status_["tunnels"]["down"].size(), 64U);
  }
  // All that are down are in the list again: one that goes is told.
  go_down(0);
  EXPECT_EQ(report(), Told{"! TunnelDown: tunnel to n/s10 by n/l: no probe is answered"});
}

TEST_F(TunnelEvents, EveryReasonIsSaidAndThereAreFew) {
  go_down(0);
  agent_.report.tunnels[0].fault = "wireguard-go ended";
  go_down(1);
  agent_.report.tunnels[1].handshake_ms = 0;
  agent_.report.tunnels[1].up = false;
  EXPECT_EQ(report(), (Told{"! TunnelDown: tunnel to n/bremen by n/dsl: wireguard-go ended",
                            "! TunnelDown: tunnel to n/kiel by n/kabel: no handshake was answered"}));
  for (int i = 0; i < 30; ++i) {
    agent_.report.tunnels.push_back(tunnel("n/s" + std::to_string(i), "n/l"));
    go_down(agent_.report.tunnels.size() - 1);
    agent_.report.tunnels.back().fault = "reason " + std::to_string(i);
  }
  EXPECT_EQ(report().size(), 8U);
}

/// A controller that has just started, or a site without a holder, knows nothing of tunnels: that is no outage.
TEST_F(TunnelEvents, WhatIsNotKnownIsNeitherDownNorUp) {
  go_down(1);
  EXPECT_EQ(report().size(), 1U);
  for (const std::string& one : report_of({})) EXPECT_EQ(one.find("Tunnel"), std::string::npos) << one;
  for (const std::string& one : report()) EXPECT_EQ(one.find("Tunnel"), std::string::npos) << one;
  agent_.report.tunnels[1].quality = {};
  EXPECT_EQ(report(), Told()) << "nothing is measured yet";
  agent_.report.tunnels.pop_back();
  EXPECT_EQ(report(), Told()) << "no assignment has it any longer";
  EXPECT_EQ(status_["tunnels"]["total"], 1);
}

TEST(WanStatus, FiguresAloneAreNoHurry) {
  EXPECT_TRUE(only_figures({{"latency", "1ms"}, {"lastProbe", "x"}}));
  EXPECT_FALSE(only_figures({{"latency", "1ms"}, {"conditions", Json::array()}}));
}

TEST(WanStatus, OnlyWhatDiffersIsWritten) {
  AgentsView a;
  AgentsView b;
  a.wan = wan_view_of({hamburg(true)});
  AgentWan agent = hamburg(true);
  agent.report.policies[0].moves = 1;
  b.wan = wan_view_of({agent});
  EXPECT_EQ(wan_that_differ(a, a), std::vector<std::string>());
  EXPECT_EQ(wan_that_differ(a, b), std::vector<std::string>{"WANPolicy n/voice"});
  EXPECT_EQ(wan_that_differ(a, {}).size(), 4U);
}

TEST(WanView, AddressesOfLinksAreThoseThatOthersSeeThenTheirOwn) {
  AgentWan bremen{"edge-2", "node-2", "n/bremen", {.active = true}};
  bremen.report.tunnels = {{.link = "n/dsl",
                            .peer_site = "n/hamburg",
                            .peer_link = "n/fibre",
                            .up = true,
                            .endpoint = parse_ip("198.51.100.7")}};
  const auto found = found_addresses({hamburg(true), bremen});
  EXPECT_EQ(found.at("n/fibre"), (std::vector<IpAddress>{*parse_ip("198.51.100.7"), *parse_ip("10.0.0.2")}));
  EXPECT_EQ(found.at("n/dsl"), std::vector<IpAddress>{*parse_ip("203.0.113.9")});
  EXPECT_TRUE(found_addresses({hamburg(false)}).empty()) << "who does not hold the site tells nothing of its links";
}

TEST(WanFigures, HaveThreeDigits) {
  EXPECT_EQ(figure_text(0), "0.00ms");
  EXPECT_EQ(figure_text(1'234), "1.23ms");
  EXPECT_EQ(figure_text(123'456), "123ms");
  EXPECT_EQ(share_text(0), "0%");
  EXPECT_EQ(share_text(1'500), "1.5%");
  EXPECT_EQ(share_text(100'000), "100%");
}

}  // namespace
}  // namespace edge::controller
