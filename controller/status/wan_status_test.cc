// What agents report of the SD-WAN in statuses: who holds a site, which links are healthy, what moved and why.
#include "controller/status/wan_status.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
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
