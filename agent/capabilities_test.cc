#include "agent/capabilities.h"

#include <array>

#include <gtest/gtest.h>

namespace edge::agent {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kAllButBind = kAll & ~(std::uint64_t{1} << 10);
constexpr std::array<std::uint16_t, 4> kPorts = {0, 80, 443, 8080};

TEST(Capabilities, AreNotMissedWhereTheyAreThereOrNotNeeded) {
  EXPECT_EQ(missing_capability(kPorts, {.effective = kAll}), "");
  EXPECT_EQ(missing_capability(std::array<std::uint16_t, 2>{1024, 8080}, {.effective = 0}), "");
  EXPECT_EQ(missing_capability(kPorts, {.effective = 0, .unprivileged_from = 0}), "");
}

TEST(Capabilities, AreNamedWithThePortsThatNeedThem) {
  EXPECT_EQ(missing_capability(kPorts, {.effective = kAllButBind}),
            "lacks CAP_NET_BIND_SERVICE, which listening on 80, 443 takes (ports below 1024, "
            "net.ipv4.ip_unprivileged_port_start)");
}

TEST(Capabilities, OfThisProcessCanBeRead) { EXPECT_LE(own_privileges().unprivileged_from, 65536U); }

}  // namespace
}  // namespace edge::agent
