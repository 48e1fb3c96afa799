#include <string>

#include <gtest/gtest.h>

#include "base/source.h"
#include "compiler/model/decode.h"

namespace edge::compiler::model {
namespace {

/// Codes and fields of what is said of a ProxyVIP.
std::string faults(const std::string& spec) {
  SourceMap sources;
  sources.add(
      "t.yaml",
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyVIP\nmetadata: {name: public}\nspec: {address: 10.0.0.3/24, " +
          spec + "}\n");
  Diagnostics said;
  decode_all(sources, said);
  said.finish(sources);
  std::string text;
  for (const Diagnostic& one : said.all()) text += code_text(one.code) + " " + one.field + "\n";
  return text;
}

std::string bgp(const std::string& settings) { return faults("mode: BGP, bgp: {localAS: 64512, " + settings + "}"); }
std::string peer(const std::string& settings) { return bgp("peers: [{address: 10.0.0.1, as: 1, " + settings + "}]"); }

TEST(DecodeBgp, SaysWhatIsMissing) {
  EXPECT_EQ(faults("mode: BGP"), "EDGE0103 spec.bgp\n");
  EXPECT_EQ(faults("mode: BGP, bgp: {peers: [{address: 10.0.0.1, as: 1}]}"), "EDGE0103 spec.bgp.localAS\n");
  EXPECT_EQ(bgp("peers: []"), "EDGE0103 spec.bgp.peers\n");
  EXPECT_EQ(bgp("med: 1"), "EDGE0103 spec.bgp.peers\n");
  EXPECT_EQ(peer("port: 179"), "");
}

TEST(DecodeBgp, TakesWhatTheProtocolsHaveRoomFor) {
  const std::string peers = "peers: [{address: 10.0.0.1, as: 1}]";
  EXPECT_EQ(bgp(peers + ", holdTime: 3s"), "");
  EXPECT_EQ(bgp(peers + ", holdTime: 2999ms"), "EDGE0105 spec.bgp.holdTime\n");
  EXPECT_EQ(bgp(peers + ", holdTime: 65536s"), "EDGE0105 spec.bgp.holdTime\n");
  EXPECT_EQ(bgp(peers + ", bfdInterval: 9ms"), "EDGE0105 spec.bgp.bfdInterval\n");
  EXPECT_EQ(bgp(peers + ", gracefulRestartTime: 4096s"), "EDGE0105 spec.bgp.gracefulRestartTime\n");
  EXPECT_EQ(bgp(peers + ", routerID: '::1'"), "EDGE0104 spec.bgp.routerID\n");
  EXPECT_EQ(bgp(peers + ", routerID: 0.0.0.0"), "EDGE0104 spec.bgp.routerID\n");
  EXPECT_EQ(peer("sourceAddress: '::1'"), "EDGE0104 spec.bgp.peers[0].sourceAddress\n");
}

TEST(DecodeBgp, CommunitiesHaveTwoOrThreeNumbers) {
  const auto communities = [](const std::string& list) {
    return bgp("peers: [{address: 10.0.0.1, as: 1}], communities: [" + list + "]");
  };
  EXPECT_EQ(communities("'65535:65535', '4294967295:0:1', no-export, no-advertise, no-peer, graceful-shutdown"), "");
  for (const char* const wrong : {"'65536:1'", "'1:65536'", "'4294967296:0:1'", "'1'", "'1:2:3:4'", "'1:'", "':1'",
                                  "''", "'1:2)'", "'no-export; }'", "'1: 2'"}) {
    EXPECT_EQ(communities(wrong), "EDGE0104 spec.bgp.communities[0]\n") << wrong;
  }
}

/// A password stands in quotes in the configuration of BIRD, which knows no escapes.
TEST(DecodeBgp, APasswordEndsNoText) {
  EXPECT_EQ(peer("password: 'a b;{}#\\'"), "");
  EXPECT_EQ(peer("password: '" + std::string(80, 'a') + "'"), "");
  EXPECT_EQ(peer("password: '" + std::string(81, 'a') + "'"), "EDGE0104 spec.bgp.peers[0].password\n");
  EXPECT_EQ(peer("password: 'a\"; }'"), "EDGE0104 spec.bgp.peers[0].password\n");
  EXPECT_EQ(peer(R"(password: "a\nb")"), "EDGE0104 spec.bgp.peers[0].password\n");
  EXPECT_EQ(peer("password: a, passwordSecretRef: {name: b}"), "EDGE0106 spec.bgp.peers[0].password\n");
}

}  // namespace
}  // namespace edge::compiler::model
