#include "agent/wan/tunnel/plan.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

WantedTunnels two_links() {
  WantedTunnels wanted{.site = "net/a", .overlay = {*parse_ip("100.64.0.1"), 128}};
  wanted.prefixes = {*parse_cidr("10.20.0.0/16")};
  wanted.private_keys = {{.epoch = 1}};
  wanted.uplinks = {{.id = "net/fibre", .interface = "wan0"}, {.id = "net/mobile", .interface = "wan1"}};
  wanted.peers = {{.id = "net/b",
                   .overlay = *parse_ip("100.64.0.2"),
                   .prefixes = {*parse_cidr("10.30.0.0/16")},
                   .keys = {{.epoch = 4}}}};
  wanted.tunnels = {{"net/fibre", "net/b", "net/dsl", 51820, {{*parse_ip("203.0.113.1"), 52000}}},
                    {"net/mobile", "net/b", "net/dsl", 51824}};
  return wanted;
}

TEST(TunnelPlan, GivesEveryPairOfKeysALinkAndAPort) {
  WantedTunnels wanted = two_links();
  wanted.private_keys.push_back({.epoch = 2});
  std::vector<std::string> faults;
  const auto devices = plan_devices(wanted, faults);
  ASSERT_EQ(devices.size(), 4U);
  // Own key 1 and the peer's 4: odd and even.
  EXPECT_TRUE(devices[0].name.ends_with("2"));
  EXPECT_EQ(devices[0].settings.port, 51822);
  EXPECT_EQ(devices[0].endpoints[0].port, 52001);
  EXPECT_TRUE(devices[1].name.ends_with("0"));
  EXPECT_EQ(devices[1].settings.port, 51820);
  EXPECT_EQ(devices[1].endpoints[0].port, 52000);
  EXPECT_GT(devices[1].newness, devices[0].newness);
  EXPECT_EQ(devices[0].settings.mark, link_mark(1));
  EXPECT_EQ(devices[2].settings.mark, link_mark(2));
  for (const PlannedDevice& device : devices) EXPECT_LE(device.name.size(), 15U);
  EXPECT_TRUE(faults.empty());
}

TEST(TunnelPlan, SaysWhatHasNoKey) {
  WantedTunnels wanted = two_links();
  wanted.peers[0].keys.clear();
  std::vector<std::string> faults;
  EXPECT_TRUE(plan_devices(wanted, faults).empty());
  EXPECT_EQ(faults.size(), 2U);
}

TEST(TunnelPlan, KeepsNumbersOfTunnelsThatStay) {
  WantedTunnels wanted = two_links();
  KeptSlots kept;
  EXPECT_EQ(assign_slots(wanted, kept), (Slots{1, 2}));
  std::swap(wanted.tunnels[0], wanted.tunnels[1]);
  EXPECT_EQ(assign_slots(wanted, kept), (Slots{2, 1}));
  wanted.tunnels.pop_back();
  EXPECT_EQ(assign_slots(wanted, kept), (Slots{2}));
  wanted.tunnels.push_back({"net/fibre", "net/b", "net/new", 51828});
  EXPECT_EQ(assign_slots(wanted, kept), (Slots{2, 1}));
}

TEST(TunnelPlan, DropsFirstAndLeadsNowhereLast) {
  const WantedTunnels wanted = two_links();
  const auto rules = plan_rules(wanted, {1, 2});
  EXPECT_EQ(rules.front().preference, kDropRule);
  EXPECT_EQ(rules.front().table, 0U);
  // No link is there: the tables of slots and uplinks have nothing but that.
  std::vector<ReadyUplink> uplinks(2);
  uplinks[0].number = 1;
  uplinks[1].number = 2;
  const auto routes = plan_routes(wanted, {1, 2}, {}, uplinks);
  const auto leads = [](const Route& route) { return route.kind == RouteKind::kUnicast; };
  EXPECT_TRUE(std::none_of(routes.begin(), routes.end(), leads));
  EXPECT_EQ(routes.size(), 9U);  // both families of two slots and two uplinks, and the site's own network
  EXPECT_TRUE(plan_rules({}, {}).empty());
  EXPECT_TRUE(plan_routes({}, {}, {}, {}).empty());
}

TEST(TunnelPlan, PrefersTunnelsThatAreUpForUnmarkedPackets) {
  const WantedTunnels wanted = two_links();
  const std::vector<ReadyDevice> devices = {{.tunnel = 0, .link = 7, .carries = true, .up = false, .mtu = 1400},
                                            {.tunnel = 1, .link = 8, .carries = true, .up = true, .mtu = 1300}};
  const auto routes = plan_routes(wanted, {1, 2}, devices, {});
  const auto to_b = [&](std::uint32_t table) {
    for (const Route& route : routes) {
      if (route.table == table && route.to == *parse_cidr("10.30.0.0/16")) return route;
    }
    return Route();
  };
  EXPECT_EQ(to_b(slot_table(1)).link, 7);
  EXPECT_EQ(to_b(slot_table(2)).link, 8);
  EXPECT_EQ(to_b(kSiteTable).link, 8);
  EXPECT_EQ(to_b(kSiteTable).mtu, 1300U);
  EXPECT_EQ(to_b(kSiteTable).source, parse_ip("100.64.0.1"));
}

}  // namespace
}  // namespace edge::agent::wan
