#include "agent/wan/steer/steering.h"

#include <chrono>

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

std::string described(const std::vector<SiteRange>& ranges) {
  std::string text;
  for (const SiteRange& range : ranges) {
    text += to_string(range.first) + "-" + to_string(range.last) + "=" + std::to_string(range.site) + " ";
  }
  return text;
}

Steering two_sites() {
  Steering steering{.own = {*parse_cidr("10.20.0.0/16")}};
  steering.sites = {{{*parse_cidr("10.0.0.0/8")}, {1}},
                    {{*parse_cidr("10.30.0.0/16"), *parse_cidr("fd00::/16")}, {1, 2}}};
  return steering;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SiteRanges, GoByTheLongestPrefixAndLeaveOwnNetworksOut) {
  EXPECT_EQ(described(site_ranges(two_sites())),
            "10.0.0.0-10.19.255.255=0 10.21.0.0-10.29.255.255=0 10.30.0.0-10.30.255.255=1 10.31.0.0-10.255.255.255=0 "
            "fd00::-fd00:ffff:ffff:ffff:ffff:ffff:ffff:ffff=1 ");
}

TEST(SiteRanges, OfEqualPrefixesTheFirstSiteHasIt) {
  Steering steering;
  steering.sites = {{{*parse_cidr("10.30.0.0/16")}, {}}, {{*parse_cidr("10.30.0.0/16")}, {}}};
  EXPECT_EQ(described(site_ranges(steering)), "10.30.0.0-10.30.255.255=0 ");
}

TEST(SiteRanges, ReachTheLastAddress) {
  Steering steering{.own = {*parse_cidr("255.255.255.255")}};
  steering.sites = {{{*parse_cidr("::/0"), *parse_cidr("ffff::/16")}, {}}, {{*parse_cidr("ffff:ffff::/32")}, {}}};
  EXPECT_TRUE(says(described(site_ranges(steering)), "ffff:ffff::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=1 "));
}

TEST(SteerRules, AreTextOfEveryKindOfMatch) {
  Steering steering = two_sites();
  steering.rules = {{.policy = 0,
                     .sources = {*parse_cidr("10.20.1.0/24"), *parse_cidr("10.20.1.0/24"), *parse_cidr("10.20.1.7")},
                     .destinations = {},
                     .protocols = {SteerProtocol::kUdp},
                     .ports = {5060, 5061},
                     .dscp = {46}},
                    {.policy = 1, .protocols = {SteerProtocol::kIcmp}},
                    {.policy = 1, .protocols = {SteerProtocol::kIcmp}, .ports = {80}},
                    {.policy = 1, .gateways = {3}}};
  steering.policies = {{.dscp = 34, .traffic_class = TrafficClass::kVoice, .choices = {{}, {{{1, 300}, {2, 100}}}}},
                       {.choices = {{{}, true}, {{{2, 1}}}}},
                       {}};
  steering.devices = {{"ewg1", 1}, {"ewg2", 2}};
  const std::string text = rules_text(steering);
  EXPECT_TRUE(
      says(text,
           "    ip saddr { 10.20.1.0/24 } ip dscp { 46 } meta l4proto { udp } th dport { 5060, 5061 } goto policy_0\n"))
      << text;
  EXPECT_TRUE(says(text,
                   "    meta l4proto { icmp, ipv6-icmp } goto policy_1\n    meta mark & 0x3f800000 { 0x21800000 } goto "
                   "policy_1\n    goto policy_2\n"));
  EXPECT_TRUE(says(text, "numgen random mod 1000 vmap { 0-749 : goto slot_1, 750-999 : goto slot_2 }"));
  EXPECT_TRUE(says(text, "10.30.0.0-10.30.255.255 : goto slot_2"));
  EXPECT_TRUE(says(text, "10.0.0.0-10.19.255.255 : goto drop_it"));
  EXPECT_TRUE(says(text, "ip dscp set 34"));
}

TEST(SteerRules, OfTwoHundredSitesAreAFewMegabytes) {
  Steering steering;
  for (std::uint32_t site = 0; site < 200; ++site) {
    SteerSite one;
    for (std::uint8_t i = 0; i < 4; ++i) {
      Cidr cidr = *parse_cidr("10.0.0.0/24");
      cidr.address.bytes[13] = static_cast<std::uint8_t>(site);
      cidr.address.bytes[14] = i;
      one.prefixes.push_back(cidr);
    }
    one.alive = {1, 2, 3, 4, 5};
    steering.sites.push_back(one);
  }
  for (std::size_t i = 0; i < 20; ++i) {
    steering.rules.push_back({.policy = i, .ports = {static_cast<std::uint16_t>(i + 1)}});
    steering.policies.push_back({.choices = std::vector<SteerChoice>(200, SteerChoice{{{1, 1}}, false})});
  }
  const std::string text = rules_text(steering);
  EXPECT_LT(text.size(), 4U << 20);
  // Neighbouring networks of one site are one range.
  EXPECT_TRUE(says(text, "10.199.0.0-10.199.3.255 : goto stay_199"));
}

}  // namespace
}  // namespace edge::agent::wan
