// What sites are given: tunnels that fit at both ends, keys that nobody else has, and the same for the same input.
#include "controller/sdwan/wan_plan.h"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "controller/sdwan/wan_keys.h"
#include "schemas/agent.pb.h"

namespace edge::controller::sdwan {
namespace {

namespace v1 = agent::v1;
using compiler::LinkedSite;
using compiler::LinkedWan;
using std::chrono::hours;

constexpr auto kEpochBegins = std::chrono::system_clock::time_point(kKeyTime * 600);

/// Sites with two links each.
class World {
 public:
  LinkedSite& site(const std::string& name, bool hub = false, unsigned links = 2) {
    const auto position = static_cast<std::uint32_t>(wan.sites.size());
    LinkedSite& site = wan.sites.emplace_back();
    site.id = {.kind = "Site", .name_space = "n", .name = name, .span = {}};
    site.hub = hub;
    site.overlay = {.address = *parse_ip("100.64.0." + std::to_string(position % 250 + 1)), .prefix_length = 120};
    site.node_selector = {{"site", name}};
    site.prefixes = {*parse_cidr("10." + std::to_string(position % 250) + ".0.0/16")};
    for (unsigned i = 1; i <= links; ++i) {
      auto& link = wan.links.emplace_back();
      link.id = {.kind = "WANLink", .name_space = "n", .name = name + "-" + std::to_string(i), .span = {}};
      link.site = position;
      link.cost = i;
      link.address = *parse_ip("198.51.100." + std::to_string(wan.links.size() % 250));
    }
    return site;
  }

  std::map<std::string, v1::LinksDown> plan() const {
    std::map<std::string, v1::LinksDown> all;
    for (const SiteLinks& site : plan_wan(wan, facts)) {
      EXPECT_TRUE(all[site.site].ParseFromString(site.message));
    }
    return all;
  }

  LinkedWan wan;
  WanFacts facts{.master = std::string(32, 'm'), .now = kEpochBegins + kKeyOverlap + hours(1)};
};

const v1::WanTunnel* find(const v1::LinksDown& down, const std::string& link, const std::string& peer_link) {
  for (const v1::WanTunnel& tunnel : down.tunnels()) {
    if (tunnel.link() == link && tunnel.peer_link() == peer_link) return &tunnel;
  }
  return nullptr;
}

std::set<std::string> peers_of(const v1::LinksDown& down) {
  std::set<std::string> peers;
  for (const v1::WanPeer& peer : down.peers()) peers.insert(peer.site());
  return peers;
}

TEST(WanPlan, EveryPairOfLinksHasATunnelThatFitsAtBothEnds) {
  World world;
  world.site("a");
  world.site("b");
  world.site("c");
  const auto all = world.plan();
  ASSERT_EQ(all.size(), 3U);
  std::map<std::string, std::set<std::uint32_t>> ports;
  for (const auto& [site, down] : all) {
    EXPECT_EQ(down.tunnels_size(), 8) << site;
    for (const v1::WanTunnel& tunnel : down.tunnels()) {
      const v1::WanTunnel* const other = find(all.at(tunnel.peer_site()), tunnel.peer_link(), tunnel.link());
      ASSERT_NE(other, nullptr);
      ASSERT_EQ(tunnel.endpoints_size(), 1);
      EXPECT_EQ(tunnel.endpoints(0).port(), other->port());
      EXPECT_EQ(tunnel.query_session(), other->answer_session());
      EXPECT_EQ(tunnel.query_key(), other->answer_key());
      EXPECT_NE(tunnel.query_key(), tunnel.answer_key());
      EXPECT_EQ(tunnel.query_key().size(), 32U);
      for (std::uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(ports[site].insert(tunnel.port() + i).second);
      EXPECT_LE(tunnel.port() + 3, 65'535U);
    }
  }
}

TEST(WanPlan, ATunnelKeepsItsPortWhenASiteComes) {
  World world;
  world.site("a");
  world.site("b");
  const auto before = world.plan();
  world.site("c");
  const auto after = world.plan();
  for (const v1::WanTunnel& tunnel : before.at("n/a").tunnels()) {
    const v1::WanTunnel* const now = find(after.at("n/a"), tunnel.link(), tunnel.peer_link());
    ASSERT_NE(now, nullptr);
    EXPECT_EQ(now->port(), tunnel.port());
  }
}

TEST(WanPlan, SpokesReachEachOtherThroughHubs) {
  World world;
  world.site("hub", true);
  world.site("one");
  world.site("two");
  const auto all = world.plan();
  EXPECT_EQ(peers_of(all.at("n/hub")), (std::set<std::string>{"n/one", "n/two"}));
  EXPECT_EQ(peers_of(all.at("n/one")), std::set<std::string>{"n/hub"});
  ASSERT_EQ(all.at("n/one").peers(0).prefixes_size(), 3) << "the hub's network, that of the other spoke, and its node";
  EXPECT_EQ(all.at("n/one").peers(0).prefixes(1).address(),
            std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x02\0\0", 16));
  EXPECT_EQ(all.at("n/one").peers(0).prefixes(2).address(), all.at("n/two").site().overlay_address());
  EXPECT_EQ(all.at("n/one").peers(0).prefixes(2).prefix_length(), 128U);
  ASSERT_EQ(all.at("n/hub").peers(0).prefixes_size(), 1);
}

TEST(WanPlan, ALinkThatIsOffAndASiteWithoutOverlayHaveNoTunnels) {
  World world;
  world.site("a");
  world.site("b");
  world.site("c").overlay.reset();
  world.wan.links[0].enabled = false;
  const auto all = world.plan();
  EXPECT_EQ(all.at("n/a").tunnels_size(), 2);
  EXPECT_EQ(all.at("n/a").links_size(), 2) << "it is measured and shown yet";
  EXPECT_EQ(all.at("n/c").tunnels_size(), 0);
  EXPECT_EQ(peers_of(all.at("n/a")), std::set<std::string>{"n/b"});
}

TEST(WanPlan, KeysAreOfTheirSiteAndChangeWithTime) {
  World world;
  world.site("a");
  world.site("b");
  const auto all = world.plan();
  const auto& own = all.at("n/a").site();
  ASSERT_EQ(own.private_keys_size(), 1);
  EXPECT_NE(own.private_keys(0).key(), all.at("n/b").site().private_keys(0).key());
  EXPECT_EQ(all.at("n/b").peers(0).public_keys(0).key(), public_key_of(own.private_keys(0).key()));
  EXPECT_EQ(all.at("n/b").peers(0).public_keys(0).epoch(), own.private_keys(0).epoch());

  world.facts.now = kEpochBegins + kKeyTime;
  const auto then = world.plan().at("n/a").site();
  ASSERT_EQ(then.private_keys_size(), 2) << "both are valid for a while";
  EXPECT_EQ(then.private_keys(0).key(), own.private_keys(0).key());
  EXPECT_EQ(then.private_keys(1).epoch(), own.private_keys(0).epoch() + 1);
  EXPECT_EQ(next_change(world.facts.now), world.facts.now + kKeyOverlap);
  world.facts.now = next_change(world.facts.now);
  EXPECT_EQ(world.plan().at("n/a").site().private_keys_size(), 1);
  EXPECT_EQ(next_change(world.facts.now), kEpochBegins + 2 * kKeyTime);
}

TEST(WanPlan, AKeyOfASecretIsTakenAndItsAbsenceIsTold) {
  World world;
  world.site("a").overlay->key_secret = {"n", "key"};
  world.site("b");
  const auto without = plan_wan(world.wan, world.facts);
  EXPECT_NE(without[0].fault.find("private-key"), std::string::npos);
  EXPECT_EQ(world.plan().at("n/b").tunnels_size(), 0);
  world.facts.given_keys[{"n", "key"}] = std::string(32, '\x40');
  EXPECT_EQ(world.plan().at("n/a").site().private_keys(0).key(), std::string(32, '\x40'));
  EXPECT_EQ(world.plan().at("n/b").peers(0).public_keys(0).key(), public_key_of(std::string(32, '\x40')));
  // Another half.
  world.wan.sites[0].overlay->public_key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  EXPECT_NE(plan_wan(world.wan, world.facts)[0].fault.find("publicKey"), std::string::npos);
}

TEST(WanPlan, AddressesAreThoseOfTheResourceElseThoseFound) {
  World world;
  world.site("a");
  world.site("b");
  world.wan.links[2].address.reset();
  EXPECT_EQ(find(world.plan().at("n/a"), "n/a-1", "n/b-1")->endpoints_size(), 0) << "it calls";
  world.facts.found["n/b-1"] = {*parse_ip("203.0.113.7"), *parse_ip("10.0.0.7")};
  world.facts.found["n/b-2"] = {*parse_ip("203.0.113.8")};
  EXPECT_EQ(find(world.plan().at("n/a"), "n/a-1", "n/b-1")->endpoints_size(), 2);
  EXPECT_EQ(find(world.plan().at("n/a"), "n/a-1", "n/b-2")->endpoints_size(), 1);
}

TEST(WanPlan, PoliciesAreThoseOfTheSiteWithItsLinks) {
  World world;
  world.site("a");
  world.site("b");
  auto& voice = world.wan.policies.emplace_back();
  voice.id = {.kind = "WANPolicy", .name_space = "n", .name = "voice", .span = {}};
  voice.sites = {0, 1};
  voice.matches = {{.protocols = {compiler::WanProtocol::kUdp}, .dscp = {46}}, {.ports = {5060}}};
  voice.links = {1, 0, 3};
  voice.strategy = "LowestLoss";
  voice.set_dscp = 46;
  voice.traffic_class = compiler::WanClass::kVoice;
  voice.limits.loss = 500;
  voice.after = std::chrono::milliseconds(200);
  auto& rest = world.wan.policies.emplace_back();
  rest.id = {.kind = "WANPolicy", .name_space = "n", .name = "rest", .span = {}};
  rest.sites = {1};
  const auto all = world.plan();
  ASSERT_EQ(all.at("n/a").policies_size(), 1);
  ASSERT_EQ(all.at("n/b").policies_size(), 2);
  const v1::WanPolicy& at_a = all.at("n/a").policies(0);
  EXPECT_EQ(at_a.strategy(), v1::WanPolicy::LOWEST_LOSS);
  EXPECT_EQ(at_a.set_dscp(), 46U);
  EXPECT_EQ(at_a.traffic_class(), v1::WanPolicy::VOICE);
  EXPECT_EQ(at_a.limits().loss(), 500U);
  EXPECT_EQ(at_a.after_ms(), 200U);
  ASSERT_EQ(at_a.links_size(), 2);
  EXPECT_EQ(at_a.links(0), "n/a-2");
  EXPECT_EQ(all.at("n/b").policies(0).links(0), "n/b-2");
  ASSERT_EQ(all.at("n/b").rules_size(), 3);
  EXPECT_EQ(all.at("n/b").rules(2).policy(), 1U);
  EXPECT_EQ(all.at("n/a").rules(0).dscp(0), 46U);
}

TEST(WanPlan, TooManyTunnelsAreLeftOutAtBothEndsAndTold) {
  World world;
  world.site("hub", true, 8).overlay->port = 65'000;
  for (int i = 0; i < 20; ++i) world.site("s" + std::to_string(i));
  const auto all = world.plan();
  EXPECT_EQ(all.at("n/hub").tunnels_size(), 134);
  int others = 0;
  for (const auto& [site, down] : all) others += site == "n/hub" ? 0 : down.tunnels_size();
  EXPECT_EQ(others, 134);
  EXPECT_NE(plan_wan(world.wan, world.facts)[0].fault.find("320 pairs"), std::string::npos);
}

TEST(WanPlan, IsTheSameForTheSameInput) {
  World world;
  world.site("a");
  world.site("b");
  const auto before = plan_wan(world.wan, world.facts);
  EXPECT_EQ(before, plan_wan(world.wan, world.facts));
  world.facts.master.front() = 'n';
  EXPECT_NE(before, plan_wan(world.wan, world.facts));
}

}  // namespace
}  // namespace edge::controller::sdwan
