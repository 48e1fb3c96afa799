#include "agent/denied_calls.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace edge::agent {
namespace {

bool denies(std::string_view flag, std::string_view address) {
  const auto blocks = read_denied_calls(flag);
  EXPECT_TRUE(blocks) << flag;
  return blocks && std::ranges::any_of(*blocks, [&](const Cidr& one) { return one.contains(*parse_ip(address)); });
}

TEST(DeniedCalls, LocalIsWhatTheNodeAloneReaches) {
  for (const char* address :
       {"127.0.0.1", "127.255.255.254", "0.0.0.0", "169.254.169.254", "::1", "::", "fe80::1", "febf::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"}) {
    EXPECT_TRUE(denies("local", address)) << address;
  }
  for (const char* address : {"10.0.0.1", "169.253.255.255", "169.255.0.0", "128.0.0.1", "fd00::1", "fec0::1",
                              "2001:db8::1", "64:ff9b::a00:1"}) {
    EXPECT_FALSE(denies("local", address)) << address;
  }
}

TEST(DeniedCalls, TakesBlocksBesideIt) {
  EXPECT_TRUE(denies("10.0.0.0/8,local", "10.1.2.3"));
  EXPECT_TRUE(denies("10.0.0.0/8,local", "127.0.0.1"));
  EXPECT_FALSE(denies("10.0.0.0/8", "127.0.0.1"));
  EXPECT_FALSE(denies("none", "127.0.0.1"));
  for (const char* wrong : {"", "localhost", "local,none", "10.0.0.0/33"}) {
    EXPECT_FALSE(read_denied_calls(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace edge::agent
