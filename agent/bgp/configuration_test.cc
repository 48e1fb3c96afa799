#include "agent/bgp/configuration.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::agent::bgp {
namespace {

constexpr std::uint32_t kRouter = 0x0a000001;

Announcement announcement(const std::string& vip, const std::string& address, std::vector<Peer> peers) {
  Announcement one{.vip = vip, .address = *parse_ip(address), .settings = {}, .announced = true};
  one.settings.local_as = 64512;
  one.settings.peers = std::move(peers);
  return one;
}

Peer peer(const std::string& address) {
  return {.address = *parse_ip(address), .as_number = 64500, .password = {}, .fault = {}, .source = {}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(BgpConfiguration, ASessionAndItsRoutes) {
  Announcement one = announcement("shop/public", "203.0.113.10", {peer("198.51.100.1")});
  one.settings.communities = {"64512:100", "64512:1:4294967295", "no-export"};
  one.settings.med = 5;
  one.settings.local_preference = 200;
  one.settings.bfd = true;
  one.settings.bfd_interval_ms = 50;
  one.settings.graceful_restart = true;
  one.settings.peers[0].password = "a;}#\\b";
  one.settings.peers[0].multihop = 3;
  one.settings.peers[0].source = parse_ip("198.51.100.9");
  const Configuration out = write_configuration({one}, kRouter);
  EXPECT_TRUE(out.faults.empty());
  EXPECT_TRUE(out.graceful_restart);
  ASSERT_EQ(out.all.size(), 1U);
  EXPECT_EQ(out.all[0].name, "peer_c6336401_179");
  for (const char* const part :
       {"protocol bgp peer_c6336401_179 {", "router id 10.0.0.1;", "local 198.51.100.9 as 64512;",
        "neighbor 198.51.100.1 port 179 as 64500;", "multihop 3;", "password \"a;}#\\b\";", "hold time 90;",
        "keepalive time 30;", "bfd { min rx interval 50 ms; min tx interval 50 ms;", "graceful restart on;"}) {
    EXPECT_TRUE(has(out.sessions, part)) << part << "\n" << out.sessions;
  }
  EXPECT_EQ(out.routes,
            "protocol static vips_ipv4 {\n  ipv4;\n"
            "  route 203.0.113.10/32 blackhole { bgp_community.add((64512,100));"
            " bgp_large_community.add((64512,1,4294967295)); bgp_community.add((65535,65281));"
            " bgp_local_pref = 200; };\n}\nprotocol static vips_ipv6 {\n  ipv6;\n}\n"
            "filter to_peer_c6336401_179_ipv4 { if net = 203.0.113.10/32 then bgp_med = 5; "
            "if net ~ [ 203.0.113.10/32 ] then accept; reject; }\n");
}

TEST(BgpConfiguration, ARouteThatComesOrGoesChangesNoSession) {
  Announcement one = announcement("shop/public", "203.0.113.10", {peer("198.51.100.1")});
  const Configuration before = write_configuration({one}, kRouter);
  one.announced = false;
  const Configuration gone = write_configuration({one}, kRouter);
  one.announced = one.graceful_shutdown = true;
  const Configuration leaving = write_configuration({one}, kRouter);
  EXPECT_EQ(before.sessions, gone.sessions);
  EXPECT_EQ(before.sessions, leaving.sessions);
  EXPECT_FALSE(has(gone.routes, "203.0.113.10"));
  EXPECT_TRUE(has(leaving.routes, "bgp_community.add((65535,0)); bgp_local_pref = 0;"));
}

TEST(BgpConfiguration, AnAddressGoesToItsOwnPeersAlone) {
  const Configuration out =
      write_configuration({announcement("a/a", "203.0.113.1", {peer("198.51.100.1")}),
                           announcement("b/b", "203.0.113.2", {peer("198.51.100.1"), peer("fd00::1")}),
                           announcement("c/c", "fd00:1::3", {peer("fd00::1")})},
                          kRouter);
  ASSERT_EQ(out.all.size(), 2U);
  EXPECT_TRUE(has(out.routes, "filter to_peer_c6336401_179_ipv4 { if net ~ [ 203.0.113.1/32, 203.0.113.2/32 ]"));
  EXPECT_TRUE(has(out.routes, "filter to_peer_fd000000000000000000000000000001_179_ipv6 { if net ~ [ fd00:1::3/128 ]"));
  EXPECT_TRUE(
      has(out.routes, "filter to_peer_fd000000000000000000000000000001_179_ipv4 { if net ~ [ 203.0.113.2/32 ]"));
  EXPECT_EQ(out.all[0].vips, (std::vector<std::string>{"a/a", "b/b"}));
}

TEST(BgpConfiguration, OfTwoSettingsOfAPeerTheFirstIsRight) {
  Announcement second = announcement("b/b", "203.0.113.2", {peer("198.51.100.1")});
  second.settings.hold_seconds = 9;
  const Configuration out =
      write_configuration({announcement("a/a", "203.0.113.1", {peer("198.51.100.1")}), second}, kRouter);
  ASSERT_EQ(out.all.size(), 1U);
  EXPECT_EQ(out.faults.at("b/b"), "peer 198.51.100.1: has other settings in a/a");
  EXPECT_FALSE(has(out.routes, "[ 203.0.113.1/32, 203.0.113.2/32 ]"));
}

/// What would end a text, or be another statement, is left out and told.
TEST(BgpConfiguration, HostileValuesMakeNoStatements) {
  for (const std::string& password : {std::string("a\"; }\nprotocol kernel { export all; }"), std::string("a\nb"),
                                      std::string(81, 'a'), std::string("a\0b", 3), std::string("\xc3\xa9")}) {
    Peer hostile = peer("198.51.100.1");
    hostile.password = password;
    const Configuration out =
        write_configuration({announcement("a/a", "203.0.113.1", {hostile, peer("198.51.100.2")})}, kRouter);
    EXPECT_FALSE(has(out.sessions, password));
    EXPECT_EQ(out.all.size(), 1U) << "the other peer has its session";
    EXPECT_EQ(out.faults.size(), 1U);
    EXPECT_FALSE(has(out.faults.at("a/a"), password)) << "no password is told";
  }
  for (const char* const community : {"1:2)); reject; #", "(1,2)", "1", "1:2:3:4", "65536:1", "1:65536", "", ":",
                                      "1:", "4294967296:1:1", "-1:1", "18446744073709551617:1"}) {
    EXPECT_EQ(community_in_bird(community), "") << community;
    Announcement one = announcement("a/a", "203.0.113.1", {peer("198.51.100.1")});
    one.settings.communities = {community, "1:2"};
    const Configuration out = write_configuration({one}, kRouter);
    EXPECT_TRUE(has(out.routes, "{ bgp_community.add((1,2)); };")) << out.routes;
    EXPECT_EQ(out.faults.size(), 1U);
  }
  // A name of a ProxyVIP is written nowhere.
  const Configuration out =
      write_configuration({announcement("a/\"; x", "203.0.113.1", {peer("198.51.100.1")})}, kRouter);
  EXPECT_FALSE(has(out.sessions, "; x"));
  EXPECT_FALSE(has(out.routes, "; x"));
}

TEST(BgpConfiguration, WhatNoSessionCanBeMadeOfIsTold) {
  Peer missing = peer("198.51.100.1");
  missing.fault = "the secret shop/router has no key `password`";
  EXPECT_EQ(write_configuration({announcement("a/a", "203.0.113.1", {missing})}, kRouter).faults.at("a/a"),
            "peer 198.51.100.1: the secret shop/router has no key `password`");
  EXPECT_EQ(write_configuration({announcement("a/a", "203.0.113.1", {peer("fe80::1")})}, kRouter).all.size(), 0U);
  EXPECT_EQ(write_configuration({announcement("a/a", "203.0.113.1", {peer("0.0.0.0")})}, kRouter).all.size(), 0U);
}

}  // namespace
}  // namespace edge::agent::bgp
