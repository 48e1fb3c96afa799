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
  EXPECT_FALSE(address.bgp.has_value());
  EXPECT_EQ(address.interface, "eth1");
  EXPECT_EQ(address.min_healthy_nodes, 2U);
  EXPECT_EQ(address.node_selector, (Labels{{"edge", "yes"}}));
  EXPECT_EQ(address.epoch, 7U);
}

TEST(VipIndex, TheModesOfALinkAreOneWhateverTheyAreCalled) {
  for (const char* mode : {"L2ARP", "L2"}) {
    VipIndex index;
    VipIndex without;
    EXPECT_TRUE(put(index, R"({"address":"192.0.2.10/24","mode":")" + std::string(mode) + "\"}"));
    EXPECT_TRUE(put(without, R"({"address":"192.0.2.10/24"})"));
    EXPECT_EQ(index.addresses(), without.addresses()) << mode;
  }
}

TEST(VipIndex, AStatusThatIsWrittenIsNoChange) {
  VipIndex index;
  EXPECT_TRUE(put(index, R"({"address":"192.0.2.10/24"})"));
  EXPECT_FALSE(put(index, R"({"address":"192.0.2.10/24"})", R"({"epoch":3})"));
  EXPECT_EQ(index.addresses().front().epoch, 3U);
  EXPECT_TRUE(put(index, R"({"address":"192.0.2.11/24"})"));
  EXPECT_EQ(index.addresses().front().epoch, 3U) << "it never goes back";
}

// Which of its addresses are given out the compiler decides; the status says so, and comes with the document.
TEST(VipIndex, OfAPoolGivesWhatGatewaysHave) {
  const auto document = [](const std::string& allocations) {
    return R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyVIP","metadata":{"name":"public","namespace":"shop"},)"
           R"("spec":{"pool":["192.0.2.0/28"],"interface":"eth1"},"status":{"allocations":[)" +
           allocations + "]}}";
  };
  const std::string one = R"({"address":"192.0.2.9","kind":"Gateway","namespace":"shop","name":"a"})";
  const std::string same = R"({"address":"192.0.2.9","kind":"Gateway","namespace":"shop","name":"b"})";
  const std::string two = R"({"address":"192.0.2.4","kind":"Gateway","namespace":"shop","name":"c"})";
  const std::string outside = R"({"address":"198.51.100.4","kind":"Gateway","namespace":"shop","name":"d"})";
  VipIndex index;
  index.put("shop", "public", document(""), "");
  EXPECT_TRUE(index.addresses().empty());
  EXPECT_TRUE(index.put("shop", "public", document(one + "," + same + "," + two + "," + outside), R"({"epoch":7})"));
  ASSERT_EQ(index.addresses().size(), 2U);
  EXPECT_EQ(index.addresses()[0].name, "public/192.0.2.4");
  EXPECT_EQ(index.addresses()[1].name, "public/192.0.2.9");
  EXPECT_EQ(index.addresses()[1].prefix_length, 128);
  EXPECT_EQ(index.addresses()[1].interface, "eth1");
  EXPECT_EQ(index.addresses()[1].epoch, 7U);
  EXPECT_FALSE(index.put("shop", "public", document(two + "," + one), R"({"epoch":9})")) << "an epoch is no change";
  EXPECT_TRUE(index.put("shop", "public", document(two), ""));
  ASSERT_EQ(index.addresses().size(), 1U);
  EXPECT_EQ(vip_of(index.addresses()[0].name), "public");
  EXPECT_EQ(index.addresses()[0].epoch, 9U) << "it never goes back";
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

std::string secret(const std::string& data) {
  return R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"router","namespace":"shop"},"type":"Opaque",)"
         R"("stringData":)" +
         data + "}";
}

TEST(VipIndex, GivesSettingsOfBgp) {
  VipIndex index;
  EXPECT_TRUE(put(index,
                  R"({"address":"203.0.113.10/32","mode":"BGP","bgp":{"localAS":64512,"routerID":"10.1.2.3",)"
                  R"("communities":["64512:1"],"med":5,"holdTime":"9s","bfd":true,"bfdInterval":"50ms",)"
                  R"("peers":[{"address":"198.51.100.1","as":64500,"port":1179,"multihop":2,"password":"a"}]}})"));
  const schemas::Bgp bgp = index.addresses().front().bgp.value();
  EXPECT_EQ(bgp.local_as, 64512U);
  EXPECT_EQ(bgp.router_id, 0x0a010203U);
  EXPECT_EQ(bgp.communities, std::vector<std::string>{"64512:1"});
  EXPECT_EQ(bgp.med, 5U);
  EXPECT_EQ(bgp.hold_seconds, 9U);
  EXPECT_EQ(bgp.bfd_interval_ms, 50U);
  ASSERT_EQ(bgp.peers.size(), 1U);
  EXPECT_EQ(bgp.peers[0].port, 1179);
  EXPECT_EQ(bgp.peers[0].multihop, 2);
  EXPECT_EQ(bgp.peers[0].password, "a");
}

TEST(VipIndex, PasswordsFollowTheirSecrets) {
  VipIndex index;
  EXPECT_TRUE(put(index, R"({"address":"203.0.113.10/32","mode":"BGP","bgp":{"localAS":64512,)"
                         R"("peers":[{"address":"198.51.100.1","as":64500,"passwordSecretRef":{"name":"router"}}]}})"));
  const auto peer = [&] { return index.addresses().front().bgp->peers.front(); };
  EXPECT_EQ(peer().fault, "there is no Secret shop/router");
  EXPECT_FALSE(index.put_secret("other", "router", secret(R"({"password":"wrong"})")));
  EXPECT_TRUE(index.put_secret("shop", "router", secret(R"({"password":"first\n"})")));
  EXPECT_EQ(peer().password, "first");
  EXPECT_EQ(peer().fault, "");
  EXPECT_FALSE(index.put_secret("shop", "router", secret(R"({"password":"first"})")));
  EXPECT_TRUE(index.put_secret("shop", "router", secret(R"({"key":"b"})")));
  EXPECT_EQ(peer().password, "");
  EXPECT_EQ(peer().fault, "the Secret shop/router has no password of 1 to 80 bytes in its key `password`");
  EXPECT_TRUE(index.put_secret("shop", "router", ""));
  EXPECT_EQ(peer().fault, "there is no Secret shop/router");
}

}  // namespace
}  // namespace edge::controller
