#include "compiler/link/wan/prove_wan.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/link/wan/packet_space.h"

namespace edge::compiler::link {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Cidr> networks(std::initializer_list<std::string_view> texts) {
  std::vector<Cidr> all;
  for (const std::string_view text : texts) all.push_back(*parse_cidr(text));
  return all;
}

WanPacket packet(std::string_view source, std::string_view destination, WanProtocol protocol = WanProtocol::kTcp,
                 std::uint16_t port = 0) {
  return {.source = *parse_ip(source), .destination = *parse_ip(destination), .protocol = protocol, .port = port};
}

/// Two sites with a link each: 10.1.0.0/16 and 10.2.0.0/16.
class WanWorld {
 public:
  WanWorld() {
    for (const std::string_view name : {"a", "b"}) {
      const auto site = static_cast<std::uint32_t>(wan.sites.size());
      wan.sites.push_back({.id = {.kind = "Site", .name_space = "n", .name = std::string(name), .span = {}},
                           .overlay = LinkedOverlay(),
                           .prefixes = networks({site == 0 ? "10.1.0.0/16" : "10.2.0.0/16"}),
                           .prefix_spans = {Span()}});
      wan.links.push_back(
          {.id = {.kind = "WANLink", .name_space = "n", .name = std::string(name) + "-1", .span = {}}, .site = site});
    }
  }

  LinkedWanPolicy& policy(std::string name, std::vector<LinkedTraffic> matches, std::int64_t priority = 0) {
    return wan.policies.emplace_back(
        LinkedWanPolicy{.id = {.kind = "WANPolicy", .name_space = "n", .name = std::move(name), .span = {}},
                        .sites = {0, 1},
                        .priority = priority,
                        .matches = std::move(matches)});
  }

  /// `CODE field of NAME: notes`, a line a finding.
  std::vector<std::string> findings() const {
    Diagnostics diagnostics;
    prove_wan(wan, diagnostics);
    std::vector<std::string> lines;
    for (const Diagnostic& one : diagnostics.all()) {
      std::string line = code_text(one.code) + " " + one.resource + " " + one.field + ":";
      for (const std::string& note : one.notes) line += " " + note + ";";
      lines.push_back(line);
    }
    return lines;
  }

  LinkedWan wan;
};

TEST(Steering, TheFirstPolicyThatMatchesHolds) {
  WanWorld world;
  world.policy("voice", {{.protocols = {WanProtocol::kUdp}, .ports = {5060}}}, 10).sites = {0};
  world.policy("rest", {});
  const SteeringTable table = make_steering(world.wan);
  const auto policy = [&](const WanPacket& sent) { return steer(world.wan, table, sent).policy; };
  EXPECT_EQ(policy(packet("10.1.0.1", "10.2.0.1", WanProtocol::kUdp, 5060)), 0U);
  EXPECT_EQ(policy(packet("10.1.0.1", "10.2.0.1", WanProtocol::kUdp, 5061)), 1U);
  EXPECT_EQ(policy(packet("10.2.0.1", "10.1.0.1", WanProtocol::kUdp, 5060)), 1U) << "not at this site";
  EXPECT_EQ(policy(packet("10.1.0.1", "10.1.0.2")), std::nullopt) << "within a site";
  EXPECT_EQ(policy(packet("10.1.0.1", "192.0.2.1")), std::nullopt) << "to no site";
}

TEST(Steering, TheLongestPrefixIsTheSite) {
  WanWorld world;
  world.wan.sites[1].prefixes = networks({"10.1.128.0/17"});
  const SteeringTable table = make_steering(world.wan);
  EXPECT_EQ(steer(world.wan, table, packet("10.1.0.1", "10.1.200.1")).to, 1U);
  EXPECT_EQ(steer(world.wan, table, packet("10.1.200.1", "10.1.0.1")).from, 1U);
}

TEST(Steering, LinksAreThoseOfThePolicyOrAllByTheirKind) {
  WanWorld world;
  const auto add = [&](LinkedWanLink link) {
    link.id.name = "l" + std::to_string(world.wan.links.size());
    world.wan.links.push_back(link);
  };
  add({.id = {}, .metered = true, .cost = 1});
  add({.id = {}, .backup = true, .cost = 2});
  add({.id = {}, .cost = -1});
  add({.id = {}, .enabled = false, .cost = -2});
  const auto links = [&] { return steer(world.wan, make_steering(world.wan), packet("10.1.0.1", "10.2.0.1")).links; };
  EXPECT_THAT(links(), ElementsAre(4, 0, 3, 2));
  world.policy("p", {}).links = {2, 1, 0, 4};
  EXPECT_THAT(links(), ElementsAre(0, 4, 2)) << "the link of the other site is none of this one's";
}

TEST(ProveWan, WhatEarlierPoliciesTakeTogetherIsFound) {
  WanWorld world;
  world.policy("low", {{.sources = networks({"10.1.0.0/17"})}}, 9);
  world.policy("high", {{.sources = networks({"10.1.128.0/17", "10.2.0.0/16"})}}, 8);
  world.policy("never", {}, 7);
  EXPECT_THAT(
      world.findings(),
      ElementsAre("EDGE1042 WANPolicy n/never : `WANPolicy n/low` holds first; `WANPolicy n/high` holds first; for "
                  "example 10.1.0.0 -> 10.2.0.0, TCP port 0, DSCP 0;"));
}

TEST(ProveWan, OneEntryOfSeveralIsFound) {
  WanWorld world;
  world.policy("udp", {{.protocols = {WanProtocol::kUdp}}}, 9);
  world.policy("dns", {{.ports = {53}}, {.protocols = {WanProtocol::kUdp}, .ports = {53}}});
  EXPECT_THAT(world.findings(), ElementsAre(HasSubstr("EDGE1042 WANPolicy n/dns spec.matches[1]:")));
}

TEST(ProveWan, WhatIsLeftAtOneSiteIsReached) {
  WanWorld world;
  world.policy("first", {}, 9).sites = {0};
  world.policy("second", {});
  EXPECT_THAT(world.findings(), IsEmpty());
}

TEST(ProveWan, TrafficOfNoSiteIsFound) {
  WanWorld world;
  world.policy("elsewhere", {{.destinations = networks({"192.0.2.0/24"})}});
  EXPECT_THAT(world.findings(), ElementsAre("EDGE1042 WANPolicy n/elsewhere spec.matches[0]:"));
}

TEST(ProveWan, PoliciesOfOnePriorityThatDifferAreFound) {
  WanWorld world;
  world.policy("one", {{.ports = {80, 443}}}).links = {0};
  world.policy("other", {{.ports = {443, 8443}}}).links = {1};
  EXPECT_THAT(world.findings(),
              ElementsAre("EDGE1043 WANPolicy n/other spec.priority: for example 10.1.0.0 -> 10.2.0.0, TCP "
                          "port 443, DSCP 0;"));
  world.wan.policies[1].links = {0};
  EXPECT_THAT(world.findings(), IsEmpty()) << "both do the same";
  world.wan.policies[1].links = {1};
  world.wan.policies[0].priority = 1;
  EXPECT_THAT(world.findings(), IsEmpty());
}

TEST(ProveWan, PacketsThatShouldBeDroppedButAreSentAreFound) {
  WanWorld world;
  world.policy("bulk", {{.dscp = {8}}}, 9);
  world.policy("secret", {{.destinations = networks({"10.2.3.0/24"})}}, 1).drops = true;
  EXPECT_THAT(world.findings(), ElementsAre("EDGE1044 WANPolicy n/secret spec.path.fallback: for example 10.1.0.0 -> "
                                            "10.2.3.0, TCP port 0, DSCP 8;"));
  world.wan.policies[0].drops = true;
  EXPECT_THAT(world.findings(), IsEmpty());
}

TEST(ProveWan, SitesWithoutAWayAreFound) {
  WanWorld world;
  world.wan.links[1].enabled = false;
  EXPECT_THAT(world.findings(),
              ElementsAre("EDGE1045 Site n/b spec.prefixes[0]: for example 10.1.0.0 -> 10.2.0.0, TCP port "
                          "0, DSCP 0;"));
  world.wan.sites.pop_back();
  world.wan.links.clear();
  EXPECT_THAT(world.findings(), IsEmpty()) << "there is no other site";
}

TEST(ProveWan, GatewaysAreTrafficOfTheirOwn) {
  WanWorld world;
  world.policy("edge", {{.gateways = {"n/edge"}}}, 9);
  world.policy("forwarded", {}, 1);
  EXPECT_THAT(world.findings(), IsEmpty());
}

// What is found must agree with packets that are sent: over few values, so that rules meet.
TEST(PacketSpace, FindsExactlyTheRulesThatSomePacketReaches) {
  const std::vector<std::string_view> kNetworks = {"10.1.0.0/30", "10.1.0.0/31", "10.1.0.2/31", "10.1.0.1/32"};
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    WanWorld world;
    world.wan.sites[0].prefixes = networks({"10.1.0.0/30"});
    const unsigned count = 2 + draw(5);
    for (unsigned i = 0; i < count; ++i) {
      LinkedTraffic traffic;
      if (draw(2) == 0) traffic.sources.push_back(*parse_cidr(kNetworks[draw(4)]));
      if (draw(2) == 0) traffic.protocols.push_back(static_cast<WanProtocol>(draw(3)));
      if (draw(3) == 0) traffic.ports = {static_cast<std::uint16_t>(draw(2)), 65'535};
      if (draw(3) == 0) traffic.dscp = {static_cast<std::uint8_t>(draw(2)), 63};
      world.policy(std::to_string(i), {traffic}, -static_cast<std::int64_t>(i)).sites = {0};
    }
    const SteeringTable table = make_steering(world.wan);
    const PacketSpace space(world.wan, 0, table.rules[0]);
    std::vector<Region> regions;
    for (std::size_t rule = 0; rule < table.rules[0].size(); ++rule) {
      regions.push_back(space.region(table.rules[0][rule].traffic));
      std::size_t steps = kMostSteps;
      const Search found = space.find_outside(regions.back(), std::span<const Region>(regions.data(), rule), steps);
      ASSERT_TRUE(found.decided);
      if (found.packet) EXPECT_EQ(steer(world.wan, table, *found.packet).policy, rule) << "seed " << seed;
      bool reached = false;
      for (unsigned code = 0; code < 4 * 4 * 4 * 4; ++code) {
        constexpr std::uint16_t kPorts[] = {0, 1, 2, 65'535};
        constexpr std::uint8_t kDscps[] = {0, 1, 2, 63};
        WanPacket sent = packet("10.1.0." + std::to_string(code % 4), "10.2.0.0",
                                static_cast<WanProtocol>(code / 4 % 4), kPorts[code / 16 % 4]);
        sent.dscp = kDscps[code / 64];
        reached = reached || steer(world.wan, table, sent).policy == rule;
      }
      EXPECT_EQ(found.packet.has_value(), reached) << "seed " << seed << ", rule " << rule;
    }
  }
}

}  // namespace
}  // namespace edge::compiler::link
