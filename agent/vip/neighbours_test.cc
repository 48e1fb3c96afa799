#include "agent/vip/neighbours.h"

#include <vector>

#include <gtest/gtest.h>

namespace edge::agent::vip {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kArp = {0, 1, 8, 0, 6, 4, 0, 1, 0x02, 0, 0x5e, 0x10, 0, 1, 192, 0, 2, 10, 0, 0, 0, 0, 0, 0, 192, 0, 2, 10};

TEST(Neighbours, ReadsWhoSaysThatHeHasAnAddress) {
  const auto claimed = read_arp(kArp.data(), kArp.size());
  ASSERT_TRUE(claimed);
  EXPECT_EQ(to_string(claimed->address), "192.0.2.10");
  EXPECT_EQ(mac_text(claimed->mac), "02:00:5e:10:00:01");
}

TEST(Neighbours, ProbesAndOtherPacketsSayNothing) {
  Bytes probe = kArp;
  probe[14] = probe[15] = probe[16] = probe[17] = 0;
  EXPECT_FALSE(read_arp(probe.data(), probe.size()));
  for (std::size_t size = 0; size < kArp.size(); ++size) EXPECT_FALSE(read_arp(kArp.data(), size)) << size;
  Bytes other = kArp;
  other[4] = 8;
  EXPECT_FALSE(read_arp(other.data(), other.size()));
}

TEST(Neighbours, ReadsAdvertisementsWithTheirLinkLayerAddress) {
  Bytes packet(32, 0);
  packet[0] = 136;
  packet[8] = 0xfd;
  packet[23] = 7;
  packet[24] = 2;
  packet[25] = 1;
  packet[31] = 9;
  const auto claimed = read_advertisement(packet.data(), packet.size());
  ASSERT_TRUE(claimed);
  EXPECT_EQ(to_string(claimed->address), "fd00::7");
  EXPECT_EQ(claimed->mac[5], 9);
  for (std::size_t size = 0; size < packet.size(); ++size)
    EXPECT_FALSE(read_advertisement(packet.data(), size)) << size;
  packet[25] = 0;
  EXPECT_FALSE(read_advertisement(packet.data(), packet.size())) << "an option without a length";
}

}  // namespace
}  // namespace edge::agent::vip
