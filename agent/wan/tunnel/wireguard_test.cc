#include "agent/wan/tunnel/wireguard.h"

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

TEST(WireGuard, WritesWhatTheProgramTakes) {
  WireGuardSettings settings{.port = 51820, .mark = 0x800000, .keepalive = 25};
  settings.private_key.fill(0xab);
  settings.peer_key.fill(0x01);
  settings.allowed = {*parse_cidr("10.30.0.0/16"), *parse_cidr("fd00::/16")};
  const net::SocketAddress end{*parse_ip("fd00::7"), 7};
  std::string key;
  std::string peer;
  for (int i = 0; i < 32; ++i) {
    key += "ab";
    peer += "01";
  }
  EXPECT_EQ(write_settings(settings, end),
            "set=1\nprivate_key=" + key + "\nlisten_port=51820\nfwmark=8388608\npublic_key=" + peer +
                "\nendpoint=[fd00::7]:7\npersistent_keepalive_interval=25\n"
                "replace_allowed_ips=true\nallowed_ip=10.30.0.0/16\nallowed_ip=fd00::/16\n\n");
}

TEST(WireGuard, ReadsItsState) {
  const auto state = read_state(
      "private_key=00\nlisten_port=1\npublic_key=01\nendpoint=203.0.113.7:51820\nlast_handshake_time_sec=17\n"
      "last_handshake_time_nsec=5\ntx_bytes=3\nrx_bytes=4\nerrno=0\n\n");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->endpoint, (net::SocketAddress{*parse_ip("203.0.113.7"), 51820}));
  EXPECT_EQ(state->handshake, std::chrono::seconds(17));
  EXPECT_EQ(state->sent, 3U);
  EXPECT_EQ(state->received, 4U);
  EXPECT_FALSE(read_state("errno=-22\n\n"));
  EXPECT_FALSE(read_state("rx_bytes=4\n"));
}

/// RFC 7748 section 6.1.
TEST(WireGuard, MakesPublicKeys) {
  const WireGuardKey alice = {0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1,
                              0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0,
                              0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
  const auto key = public_key(alice);
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ((*key)[0], 0x85);
  EXPECT_EQ((*key)[31], 0x6a);
}

}  // namespace
}  // namespace edge::agent::wan
