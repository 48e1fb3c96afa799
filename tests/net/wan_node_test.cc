#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/wan/node/node.h"
#include "tests/net/wan_sites.h"

namespace edge::test {
namespace {

using agent::wan::NodeChoices;
using agent::wan::TrafficClass;
using agent::wan::TunnelState;
using agent::wan::WanNode;
using agent::wan::WantedNode;

/// Whole nodes. At `a` UDP to port 5060 is voice, which is dropped where no link is fit; all else is not.
class WanNodes : public WanSites {
 protected:
  void TearDown() override {
    nodes_.clear();
    WanSites::TearDown();
  }

  static WantedNode node_of(const std::string& site, const std::vector<std::uint32_t>& own = {1},
                            const std::vector<std::uint32_t>& peer = {1}) {
    WantedNode all{.tunnels = wanted(site, own, peer)};
    all.policies = {{.id = "net/voice",
                     .drops = true,
                     .links = {"fibre", "mobile"},
                     .dscp = 46,
                     .traffic_class = TrafficClass::kVoice},
                    {.id = "", .links = {"fibre", "mobile"}}};
    all.rules = {{.policy = 0, .protocols = {agent::wan::SteerProtocol::kUdp}, .ports = {5060}}};
    return all;
  }
  void start_node(const std::string& site) {
    in(site, [&] {
      auto started = WanNode::start({.log = {}, .changed = {}});
      ASSERT_TRUE(started) << started.error().text;
      nodes_[site] = std::move(*started);
      nodes_[site]->set(node_of(site));
    });
  }
  bool nodes_up() const {
    return await([&] {
      for (const auto& [site, node] : nodes_) {
        const auto all = node->state().tunnels.tunnels;
        if (all.size() != 4 || !std::ranges::all_of(all, &TunnelState::up)) return false;
      }
      return true;
    });
  }
  /// All policies of `a` go by that tunnel, the tunnels of the list are dead.
  NodeChoices by(std::size_t tunnel, const std::vector<std::size_t>& dead = {}) const {
    NodeChoices all{.choices = {{.policy = 0, .peer = id("b"), .paths = {{tunnel, 1}}},
                                {.policy = 1, .peer = id("b"), .paths = {{tunnel, 1}}}}};
    all.alive.assign(4, true);
    for (const std::size_t one : dead) all.alive[one] = false;
    return all;
  }
  std::string web(int seconds = 10) const {
    return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://" + lan("b") + ":8000/");
  }
  /// What `b` has received at the port of voice, counted by the kernel.
  void count_voice() const {
    ASSERT_TRUE(run(inside("b") + "nft 'table ip count { chain in { type filter hook input priority 0; udp dport 5060 "
                                  "ip dscp ef counter; udp dport 5060 ip dscp != ef counter; }; }'"));
  }
  bool voice_marked() const {
    const std::string seen = output(inside("b") + "nft list table ip count");
    return !has(seen, "dscp ef counter packets 0 ") && has(seen, "!= ef counter packets 0 ");
  }
  void say_voice() const { run(inside("a") + "bash -c 'echo x > /dev/udp/" + lan("b") + "/5060'"); }

  std::map<std::string, std::unique_ptr<WanNode>> nodes_;
};

TEST_F(WanNodes, FollowWhatIsChosen) {
  start_node("a");
  start_node("b");
  ASSERT_TRUE(nodes_up());
  serve_web("b");
  count_voice();
  EXPECT_EQ(web(), "b");
  // Nothing is chosen for voice yet, and it may not leave without.
  say_voice();
  EXPECT_FALSE(voice_marked());
  nodes_["a"]->choose(by(0));
  EXPECT_TRUE(await([&] { return say_voice(), voice_marked(); }));
  relay().set("a/fibre", {.blackhole = true});
  nodes_["a"]->choose(by(2, {0, 1}));
  EXPECT_TRUE(await([&] { return web(1) == "b"; }));
  // Nothing is left behind.
  const std::string what = "for f in rule 'route show table all' 'link show'; do ip -n " + space("a") +
                           " -o $f; done; ip netns exec " + space("a") + " nft list ruleset";
  nodes_.erase("a");
  const std::string after = output(what);
  EXPECT_FALSE(has(after, "ewg"));
  EXPECT_FALSE(has(after, "edge_wan"));
  EXPECT_FALSE(has(after, "5200:"));
}

/// The bandwidth of a link is that of its tunnels, and voice comes first.
TEST_F(WanNodes, ShapeTheirLinks) {
  start_node("a");
  WantedNode limited = node_of("a");
  for (auto& uplink : limited.tunnels.uplinks) uplink.up_mbps = 10;
  nodes_["a"]->set(limited);
  start_node("b");
  ASSERT_TRUE(nodes_up());
  nodes_["a"]->choose(by(0));
  const auto classes = [&] {
    const std::string device = nodes_["a"]->state().tunnels.tunnels[0].interface;
    return output(inside("a") + "tc class show dev " + device);
  };
  EXPECT_TRUE(await([&] {
    return has(classes(), "class htb ed0e:10 parent ed0e:1 prio 0 rate 2790Kbit ceil 9300Kbit");
  })) << classes();
  say_voice();
  const auto voice = [&] {
    const std::string device = nodes_["a"]->state().tunnels.tunnels[0].interface;
    const std::string text = output(inside("a") + "tc -s class show dev " + device + " classid ed0e:10");
    return has(text, "Sent ") && !has(text, "Sent 0 bytes");
  };
  EXPECT_TRUE(await([&] { return say_voice(), voice(); }));
  EXPECT_EQ(testing::PrintToString(nodes_["a"]->state().faults), "{}");
}

TEST_F(WanNodes, BulkDoesNotHurtVoice) {
  start_node("a");
  WantedNode limited = node_of("a");
  for (auto& uplink : limited.tunnels.uplinks) uplink.up_mbps = 10;
  limited.policies.insert(limited.policies.begin() + 1,
                          {.id = "net/bulk", .links = {"fibre"}, .traffic_class = TrafficClass::kBulk});
  limited.rules.push_back({.policy = 1, .protocols = {agent::wan::SteerProtocol::kUdp}, .ports = {873}});
  nodes_["a"]->set(limited);
  start_node("b");
  ASSERT_TRUE(nodes_up());
  NodeChoices chosen = by(0);
  chosen.choices.push_back({.policy = 2, .peer = id("b"), .paths = {{0, 1}}});
  nodes_["a"]->choose(chosen);
  ASSERT_NO_FATAL_FAILURE(count_voice());
  const std::string device = nodes_["a"]->state().tunnels.tunnels[0].interface;
  const auto of_class = [&](const std::string& name) {
    return output(inside("a") + "tc -s class show dev " + device + " classid ed0e:" + name);
  };
  ASSERT_TRUE(await([&] { return has(of_class("30"), "ceil 9300Kbit"); }));
  // Many senders, who send what their sockets take, so that the queue of bulk overflows.
  std::ofstream(directory_ + "/bulk.py")
      << "import os, socket, sys\n"
         "to = (sys.argv[1], 873)\n"
         "all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(30)]\n"
         "for one in all: one.setblocking(False)\n"
         "while not os.path.exists(sys.argv[2]):\n"
         "  for one in all:\n"
         "    try: one.sendto(bytes(1200), to)\n"
         "    except OSError: pass\n";
  std::thread bulk(
      [&] { run(inside("a") + "python3 " + directory_ + "/bulk.py " + lan("b") + " " + directory_ + "/over"); });
  const auto overflows = [&] {
    const std::string text = of_class("30");
    return has(text, "dropped ") && !has(text, "(dropped 0,");
  };
  EXPECT_TRUE(await(overflows)) << of_class("30");
  for (int i = 0; i < 100; ++i) say_voice();
  EXPECT_TRUE(await([&] { return has(output(inside("b") + "nft list table ip count"), "ef counter packets 100 "); }))
      << output(inside("b") + "nft list table ip count");
  run("touch " + directory_ + "/over");
  bulk.join();
  EXPECT_TRUE(has(of_class("10"), "(dropped 0,")) << of_class("10");
  EXPECT_TRUE(voice_marked());
}

/// A crash leaves in force what drops; the next process takes over without an opening.
TEST_F(WanNodes, DropAlsoAfterACrash) {
  count_voice();
  ASSERT_TRUE(run(inside("internet") + "nft 'table ip watch { chain in { type filter hook prerouting priority raw; ip "
                                       "daddr 10.30.0.0/16 counter; }; }'"));
  const pid_t child = ::fork();
  if (child == 0) {
    start_node("a");
    for (;;) ::pause();
  }
  EXPECT_TRUE(await([&] { return has(output("ip -n " + space("a") + " -o link"), "ewg"); }));
  EXPECT_TRUE(await([&] { return has(output(inside("a") + "nft list tables"), "edge_wan"); }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (int i = 0; i < 20; ++i) say_voice();
  start_node("a");
  start_node("b");
  for (int i = 0; i < 20; ++i) say_voice();
  ASSERT_TRUE(nodes_up());
  for (int i = 0; i < 20; ++i) say_voice();
  EXPECT_TRUE(has(output(inside("internet") + "nft list table ip watch"), "counter packets 0 "));
  EXPECT_FALSE(voice_marked());
  nodes_["a"]->choose(by(0));
  EXPECT_TRUE(await([&] { return say_voice(), voice_marked(); }));
}

/// New keys, more tunnels and others do not disturb flows that go on.
TEST_F(WanNodes, AssignmentsChangeUnderTraffic) {
  start_node("a");
  start_node("b");
  ASSERT_TRUE(nodes_up());
  serve_web("b");
  nodes_["a"]->choose(by(3));
  ASSERT_EQ(web(), "b");
  std::atomic<bool> over = false;
  int failed = 0;
  int fetched = 0;
  std::thread traffic([&] {
    while (!over) web(5) == "b" ? ++fetched : ++failed;
  });
  const auto newest = [&](char of_a) {
    return await([&] {
      const auto all = nodes_["a"]->state().tunnels.tunnels;
      return !all.empty() && all[0].up && all[0].interface.back() == of_a;
    });
  };
  nodes_["a"]->set(node_of("a", {1, 2}, {1}));
  nodes_["b"]->set(node_of("b", {1}, {1, 2}));
  EXPECT_TRUE(newest('1'));
  WantedNode fewer = node_of("a", {1, 2}, {1});
  fewer.tunnels.tunnels.erase(fewer.tunnels.tunnels.begin());
  nodes_["a"]->set(fewer);
  EXPECT_TRUE(await([&] { return nodes_["a"]->state().tunnels.tunnels.size() == 3; }));
  nodes_["a"]->set(node_of("a", {1, 2}, {1}));
  EXPECT_TRUE(nodes_up());
  over = true;
  traffic.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(fetched, 0);
}

}  // namespace
}  // namespace edge::test
