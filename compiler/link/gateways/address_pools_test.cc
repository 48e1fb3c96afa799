#include "compiler/link/gateways/address_pools.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace edge::compiler::link {
namespace {

model::ProxyVip pool_of(const std::vector<std::string>& blocks) {
  model::ProxyVip vip;
  for (const std::string& block : blocks) vip.pool.push_back({*parse_cidr(block), {}});
  return vip;
}

model::ProxyGateway pool_user(const std::string& name, std::int64_t created = 0) {
  return {.metadata = {.kind = "Gateway", .name_space = "shop", .name = name, .created = created}};
}

model::PoolAllocation allocation(const std::string& address, const std::string& name) {
  return {.address = *parse_ip(address), .kind = "Gateway", .name_space = "shop", .name = name};
}

std::vector<PoolRequest> all_from_first(std::size_t gateways) {
  std::vector<PoolRequest> requests;
  for (std::uint32_t i = 0; i < gateways; ++i) requests.push_back({.gateway = i, .pools = {0}});
  return requests;
}

std::string granted(const std::optional<PoolGrant>& grant) { return grant ? to_string(grant->address) : "none"; }

TEST(AddressPools, GiveEachGatewayAnAddressOfItsOwn) {
  const std::vector<model::ProxyVip> vips = {pool_of({"192.0.2.0/29", "198.51.100.0/31"})};
  std::vector<model::ProxyGateway> gateways;
  for (int i = 0; i < 11; ++i) gateways.push_back(pool_user("g" + std::to_string(i), i));
  const auto grants = allocate(all_from_first(gateways.size()), gateways, vips, {});
  std::set<std::string> addresses;
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(grants[i]) << i;
    EXPECT_TRUE(is_in_pool(vips[0], grants[i]->address));
    addresses.insert(granted(grants[i]));
  }
  EXPECT_EQ(addresses.size(), 10U);
  EXPECT_EQ(granted(grants[10]), "none") << "the youngest goes without";
}

TEST(AddressPools, KeepWhatTheStatusSays) {
  std::vector<model::ProxyVip> vips = {pool_of({"192.0.2.0/30"})};
  vips[0].allocations = {allocation("192.0.2.2", "young"), allocation("192.0.2.3", "gone"),
                         allocation("203.0.113.1", "old"), allocation("192.0.2.2", "old")};
  const std::vector<model::ProxyGateway> gateways = {pool_user("young", 2), pool_user("old", 1)};
  const auto grants = allocate(all_from_first(2), gateways, vips, {*parse_ip("192.0.2.0")});
  // One address is never two gateways', and of the two the older may say first what it had.
  EXPECT_EQ(granted(grants[1]), "192.0.2.2");
  EXPECT_NE(granted(grants[0]), "none");
  EXPECT_NE(granted(grants[0]), "192.0.2.2");
  EXPECT_NE(granted(grants[0]), "192.0.2.0") << "which another controller's gateway has";
}

TEST(AddressPools, PassOverAddressesThatAreSomebodysOwn) {
  std::vector<model::ProxyVip> vips = {pool_of({"192.0.2.0/31"}), {}};
  vips[1].address.value = *parse_ip("192.0.2.0");
  std::vector<model::ProxyGateway> gateways = {pool_user("a"), pool_user("static")};
  EXPECT_EQ(granted(allocate({{.gateway = 0, .pools = {0}}}, gateways, vips, {})[0]), "192.0.2.1");
  gateways[1].addresses = {{*parse_ip("192.0.2.1"), {}}};
  EXPECT_EQ(granted(allocate({{.gateway = 0, .pools = {0}}}, gateways, vips, {})[0]), "none");
}

TEST(AddressPools, TakeTheNextPoolWhereOneIsFull) {
  const std::vector<model::ProxyVip> vips = {pool_of({"192.0.2.9/32"}), pool_of({"2001:db8::/64"})};
  const std::vector<model::ProxyGateway> gateways = {pool_user("a", 1), pool_user("b", 2)};
  const auto grants = allocate({{.gateway = 0, .pools = {0, 1}}, {.gateway = 1, .pools = {0, 1}}}, gateways, vips, {});
  EXPECT_EQ(granted(grants[0]), "192.0.2.9");
  ASSERT_TRUE(grants[1]);
  EXPECT_EQ(grants[1]->vip, 1U);
  EXPECT_TRUE(is_in_pool(vips[1], grants[1]->address));
}

TEST(AddressPools, DoNotDependOnTheOrderOfRequests) {
  const std::vector<model::ProxyVip> vips = {pool_of({"192.0.2.0/28"})};
  std::vector<model::ProxyGateway> gateways;
  for (int i = 0; i < 12; ++i) gateways.push_back(pool_user("g" + std::to_string(i)));
  const auto grants = allocate(all_from_first(12), gateways, vips, {});
  std::vector<PoolRequest> reversed = all_from_first(12);
  std::ranges::reverse(reversed);
  const auto others = allocate(reversed, gateways, vips, {});
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(granted(grants[i]), granted(others[11 - i]));
}

TEST(AddressPools, GiveOutNoMoreThanAStatusLists) {
  const std::vector<model::ProxyVip> vips = {pool_of({"10.0.0.0/8"})};
  std::vector<model::ProxyGateway> gateways;
  for (std::size_t i = 0; i <= kMostOfPool; ++i) {
    gateways.push_back(pool_user("g" + std::to_string(i), static_cast<std::int64_t>(i)));
  }
  const auto grants = allocate(all_from_first(gateways.size()), gateways, vips, {});
  EXPECT_TRUE(grants[kMostOfPool - 1]);
  EXPECT_FALSE(grants[kMostOfPool]);
}

}  // namespace
}  // namespace edge::compiler::link
