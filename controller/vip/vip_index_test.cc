#include "controller/vip/vip_index.h"

#include <gtest/gtest.h>

namespace edge::controller {
namespace {

bool put(VipIndex& index, const std::string& spec, const std::string& status = "") {
  const std::string document = R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyVIP","metadata":{"name":"public",)"
                               R"("namespace":"shop"},"spec":)" +
                               spec + "}";
  return index.put("shop", "public", document, status);
}

TEST(VipIndex, GivesWhatAProxyVipSays) {
  VipIndex index;
  EXPECT_TRUE(put(index,
                  R"({"address":"192.0.2.10/24","interface":"eth1","nodeSelector":{"edge":"yes"},)"
                  R"("healthPolicy":{"minHealthyNodes":2}})",
                  R"({"epoch":7})"));
  ASSERT_EQ(index.addresses().size(), 1U);
  const VirtualAddress address = index.addresses().front();
  EXPECT_EQ(address.name_space, "shop");
  EXPECT_EQ(to_string(address.address), "192.0.2.10");
  EXPECT_EQ(address.prefix_length, 120);
  EXPECT_FALSE(address.bgp);
  EXPECT_EQ(address.interface, "eth1");
  EXPECT_EQ(address.min_healthy_nodes, 2U);
  EXPECT_EQ(address.node_selector, (Labels{{"edge", "yes"}}));
  EXPECT_EQ(address.epoch, 7U);
}

TEST(VipIndex, AStatusThatIsWrittenIsNoChange) {
  VipIndex index;
  EXPECT_TRUE(put(index, R"({"address":"192.0.2.10/24"})"));
  EXPECT_FALSE(put(index, R"({"address":"192.0.2.10/24"})", R"({"epoch":3})"));
  EXPECT_EQ(index.addresses().front().epoch, 3U);
  EXPECT_TRUE(put(index, R"({"address":"192.0.2.11/24"})"));
  EXPECT_EQ(index.addresses().front().epoch, 3U) << "it never goes back";
}

TEST(VipIndex, WhatCannotBeReadLeavesTheAddressAsItWas) {
  VipIndex index;
  EXPECT_TRUE(put(index, R"({"address":"192.0.2.10/24"})"));
  EXPECT_FALSE(put(index, R"({"address":"nonsense"})"));
  EXPECT_EQ(index.addresses().size(), 1U);
  EXPECT_TRUE(index.remove("shop", "public"));
  EXPECT_FALSE(index.remove("shop", "public"));
  EXPECT_TRUE(index.addresses().empty());
}

}  // namespace
}  // namespace edge::controller
