#include "runtime/policy/address_set.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

AddressSet set_of(const std::vector<std::string>& texts) {
  std::vector<Cidr> networks;
  for (const std::string& text : texts) networks.push_back(*parse_cidr(text));
  return AddressSet(networks);
}

IpAddress v4(std::uint32_t number) {
  IpAddress address;
  address.bytes[10] = address.bytes[11] = 0xff;
  for (int i = 0; i < 4; ++i)
    address.bytes[static_cast<std::size_t>(12 + i)] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return address;
}

TEST(AddressSet, HasTheEndsOfItsNetworksAndNothingBeside) {
  const AddressSet set = set_of({"10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "fd00::1", "::/1"});
  for (const char* inside : {"10.0.0.0", "10.255.255.255", "192.0.2.1",
                             "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "fd00::1", "7fff::1"}) {
    EXPECT_TRUE(set.contains(*parse_ip(inside))) << inside;
  }
  for (const char* outside : {"fd00::", "fd00::2", "8000::"}) EXPECT_FALSE(set.contains(*parse_ip(outside))) << outside;
  // `::/1` has all of IPv4.
  EXPECT_TRUE(set.contains(*parse_ip("203.0.113.1")));
  EXPECT_FALSE(set_of({"10.0.0.0/8"}).contains(*parse_ip("11.0.0.0")));
  EXPECT_FALSE(set_of({"10.0.0.0/8"}).contains(*parse_ip("9.255.255.255")));
  EXPECT_FALSE(set_of({"0.0.0.0/0"}).contains(*parse_ip("::1")));
  EXPECT_TRUE(set_of({"0.0.0.0/0"}).contains(*parse_ip("255.255.255.255")));
  EXPECT_TRUE(set_of({"::ffff:0:0/96"}).contains(*parse_ip("192.0.2.7")));
  EXPECT_FALSE(set_of({}).contains(*parse_ip("::")));
  EXPECT_EQ(set_of({"10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8", "10.0.0.0/9"}).size(), 1U);
}

/// Against a search of all networks one by one, for enough of them that there is an index.
TEST(AddressSet, AgreesWithItsNetworksOneByOne) {
  std::mt19937 random(20261126);
  std::vector<Cidr> networks;
  for (int i = 0; i < 6000; ++i) {
    // Close together, so that many lie within others or side by side.
    Cidr block = *parse_cidr("0.0.0.0/0");
    block.prefix_length = static_cast<std::uint8_t>(96 + 14 + random() % 19);
    block.address = v4(0x0a000000U + (random() % 0x00400000U));
    networks.push_back(*parse_cidr(to_string(block)));
    Cidr wide{.address = *parse_ip("2001:db8::"), .prefix_length = static_cast<std::uint8_t>(44 + random() % 60)};
    for (std::size_t at = 4; at < 9; ++at) wide.address.bytes[at] = static_cast<std::uint8_t>(random());
    networks.push_back(*parse_cidr(to_string(wide)));
  }
  const AddressSet set(networks);
  const auto reference = [&](const IpAddress& address) {
    return std::ranges::any_of(networks, [&](const Cidr& block) { return block.contains(address); });
  };
  int among = 0;
  for (int i = 0; i < 3000; ++i) {
    const IpAddress narrow = v4(0x09f00000U + (random() % 0x00600000U));
    ASSERT_EQ(set.contains(narrow), reference(narrow)) << to_string(narrow);
    IpAddress wide = *parse_ip("2001:db8::");
    for (std::size_t at = 4; at < 9; ++at) wide.bytes[at] = static_cast<std::uint8_t>(random());
    ASSERT_EQ(set.contains(wide), reference(wide)) << to_string(wide);
    among += set.contains(narrow) ? 1 : 0;
  }
  EXPECT_GT(among, 100);
  // And at every edge.
  for (const Cidr& block : networks) ASSERT_TRUE(set.contains(block.address)) << to_string(block);
}

}  // namespace
}  // namespace edge::runtime
