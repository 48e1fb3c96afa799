#include "agent/bgp/control.h"

#include <gtest/gtest.h>

namespace edge::agent::bgp {
namespace {

TEST(BgpControl, ReadsSessions) {
  const auto all = read_sessions(
      "Name       Proto      Table      State  Since         Info\n"
      "device1    Device     ---        up     2026-11-24 10:57:05  \n\n"
      "peer_c6336401_179 BGP        ---        up     2026-11-24 10:57:06  Established   \n"
      "  BGP state:          Established\n"
      "    Neighbor address: 198.51.100.1\n"
      "  Channel ipv4\n"
      "    Routes:         0 imported, 3 exported, 0 preferred\n"
      "  Channel ipv6\n"
      "    Routes:         0 imported, 1 exported, 0 preferred\n\n"
      "peer_c6336402_179 BGP        ---        start  2026-11-24 10:57:07  Active        Socket: Connection refused\n"
      "  BGP state:          Active\n"
      "    Last error:       Socket: Connection refused\n\n");
  ASSERT_EQ(all.size(), 2U);
  const Heard& up = all.at("peer_c6336401_179");
  EXPECT_EQ(up.state, "Established");
  EXPECT_EQ(up.announced, 4U);
  EXPECT_EQ(up.since_ms, 1795517826000);
  const Heard& down = all.at("peer_c6336402_179");
  EXPECT_EQ(down.state, "Active");
  EXPECT_EQ(down.last_error, "Socket: Connection refused");
  EXPECT_TRUE(read_sessions("").empty());
  EXPECT_TRUE(read_sessions("a BGP\n\n  BGP state: Idle\n").empty());
}

TEST(BgpControl, ReadsBfd) {
  const auto all = read_bfd(
      "bfd1:\n"
      "IP address                Interface  State      Since         Interval  Timeout\n"
      "198.51.100.1              eth0       Up         2026-11-24 10:57:06    0.050    0.150\n"
      "fd00::1                   ---        Down       2026-11-24 10:57:06    1.000    0.000\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at("198.51.100.1"), "Up");
  EXPECT_EQ(all.at("fd00::1"), "Down");
}

}  // namespace
}  // namespace edge::agent::bgp
