#include "controller/reconcile/pool_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using test::api;
using test::edit;
using test::Json;
using test::kClass;
using test::object;
using test::removal;
using test::World;

/// All are equally old, so that the lesser name goes first.
ObjectEdit gateway(const std::string& name) {
  return edit(
      api("Gateway", name,
          {{"gatewayClassName", "edge"}, {"listeners", {{{"name", "h"}, {"port", 80}, {"protocol", "HTTP"}}}}}));
}

Json pool(const Json& allocations = nullptr) {
  Json vip = object("ProxyVIP", "public", {{"pool", Json::array({"192.0.2.8/32"})}});
  if (!allocations.is_null()) vip["status"] = {{"allocations", allocations}};
  return vip;
}

Json given_to(const std::string& name) {
  return Json::array({Json{{"address", "192.0.2.8"}, {"kind", "Gateway"}, {"namespace", "shop"}, {"name", name}}});
}

class PoolMemoryTest : public testing::Test {
 protected:
  void apply(std::vector<ObjectEdit> edits) {
    world_.apply(std::move(edits));
    for (auto& [name, desired] : world_.desired_statuses()) statuses_[name] = desired.status;
  }
  void start() { apply({edit(api("GatewayClass", "edge", {{"controllerName", kClass}})), edit(pool()), gateway("b")}); }
  /// The address of a Gateway; empty: it has none.
  std::string address_of(const std::string& name) {
    const Json status = Json::parse(statuses_["Gateway shop/" + name], nullptr, false);
    const Json& addresses = status.at("addresses");
    return addresses.empty() ? "" : addresses[0]["value"].get<std::string>();
  }

  World world_;
  std::map<std::string, std::string> statuses_;
};

TEST_F(PoolMemoryTest, AGatewayKeepsItsAddressBeforeAStatusSaysSo) {
  start();
  EXPECT_EQ(address_of("b"), "192.0.2.8");
  apply({gateway("a")});
  EXPECT_EQ(address_of("b"), "192.0.2.8");
  EXPECT_EQ(address_of("a"), "");
  // The ProxyVIP changes before its status has been written.
  Json edited = pool();
  edited["metadata"]["labels"] = {{"x", "y"}};
  apply({edit(edited)});
  EXPECT_EQ(address_of("b"), "192.0.2.8");
  // Written, it is the same.
  edited["status"] = {{"allocations", given_to("b")}};
  world_.try_apply({edit(edited)});
  apply({gateway("c")});
  EXPECT_EQ(address_of("b"), "192.0.2.8");
  apply({removal("Gateway", "b")});
  EXPECT_EQ(address_of("a"), "192.0.2.8") << "given back";
}

TEST_F(PoolMemoryTest, WhatTheStatusSaysGoesFirst) {
  start();
  apply({gateway("a")});
  // Another controller leads, and has given it to the other.
  apply({edit(pool(given_to("a")))});
  EXPECT_EQ(address_of("a"), "192.0.2.8");
  EXPECT_EQ(address_of("b"), "");
}

TEST_F(PoolMemoryTest, ForgetsAPoolThatIsGone) {
  start();
  apply({removal("ProxyVIP", "public")});
  apply({gateway("a")});
  apply({edit(pool())});
  EXPECT_EQ(address_of("a"), "192.0.2.8") << "whoever goes first has it again";
}

TEST(PoolMemory, LeavesOtherAddressesAsTheyAre) {
  PoolMemory memory;
  const std::string one = object("ProxyVIP", "one", {{"address", "192.0.2.8/24"}}).dump();
  EXPECT_EQ(memory.put("ProxyVIP shop/one", one), one);
  EXPECT_EQ(memory.put("ProxyVIP shop/one", "no JSON"), "no JSON");
  compiler::ResourceStatus status{.kind = "ProxyVIP", .name_space = "shop", .name = "one"};
  status.allocations = {{"192.0.2.8", "Gateway", "shop", "a"}};
  memory.note({status});
  EXPECT_TRUE(memory.take_changed().empty());
}

}  // namespace
}  // namespace edge::controller
