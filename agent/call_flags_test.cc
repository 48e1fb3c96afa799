#include "agent/call_flags.h"

#include <gtest/gtest.h>

namespace edge::agent {
namespace {

TEST(CallFlags, NameServersAreAddressesWithPortsOrWithout) {
  for (const char* right : {"10.0.0.53", "127.0.0.1:5353", "fd00::1", "[fd00::1]:53", "10.0.0.1,10.0.0.2:53,fd00::1"}) {
    const auto servers = read_name_servers(right);
    ASSERT_TRUE(servers) << right;
    EXPECT_EQ(*servers, right);
  }
}

TEST(CallFlags, WhatIsNoAddressIsTold) {
  for (const char* wrong : {"", ",", "10.0.0.1,", "dns.example", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x",
                            "[fd00::1]", "[10.0.0.1:53", "1,2,3", "10.0.0.1 10.0.0.2"}) {
    const auto servers = read_name_servers(wrong);
    ASSERT_FALSE(servers) << wrong;
    EXPECT_EQ(servers.error().code, ErrorCode::kInvalidArgument) << wrong;
  }
  EXPECT_FALSE(read_name_servers("10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9"));
}

}  // namespace
}  // namespace edge::agent
