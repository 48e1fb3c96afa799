#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/net/wan_sites.h"

namespace edge::test {
namespace {

using agent::wan::SteerChoice;

/// `a` has hosts behind it: a namespace `host` of 10.20.1.0/24, whose default route is the node.
class WanSteering : public WanSites {
 protected:
  void SetUp() override {
    WanSites::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    attach("host", 9);
    ASSERT_TRUE(run("ip -n " + space("a") + " link add lan0 type veth peer name lan0 netns " + space("host")));
    ASSERT_TRUE(run("ip -n " + space("a") + " addr add 10.20.1.1/24 dev lan0"));
    ASSERT_TRUE(run("ip -n " + space("a") + " link set lan0 up"));
    ASSERT_TRUE(run("ip -n " + space("host") + " addr add 10.20.1.2/24 dev lan0"));
    ASSERT_TRUE(run("ip -n " + space("host") + " link set lan0 up"));
    ASSERT_TRUE(run("ip -n " + space("host") + " route add default via 10.20.1.1"));
    start("a");
    start("b");
    ASSERT_TRUE(all_up());
    serve_web("b");
    steer("b", choose({slot("b", "fibre", "fibre")}));
  }

  std::string fetch(const std::string& from = "host", int seconds = 10) const {
    return output(inside(from) + "curl -s --max-time " + std::to_string(seconds) + " http://" + lan("b") + ":8000/");
  }
  /// Octets that a tunnel of `a` has sent.
  std::uint64_t sent(const std::string& link, const std::string& peer_link) const {
    const std::string text =
        output("ip -n " + space("a") + " -s -o link show dev " + tunnel("a", link, peer_link).interface);
    const std::size_t at = text.find("TX:");
    const std::size_t line = text.find('\\', at);
    return std::stoull(text.substr(text.find_first_of("0123456789", line)));
  }
};

TEST_F(WanSteering, NewFlowsTakeTheTunnelThatIsChosen) {
  for (const char* const link : kLinks) {
    for (const char* const peer_link : kLinks) {
      steer("a", choose({slot("a", link, peer_link)}));
      const std::uint64_t before = sent(link, peer_link);
      EXPECT_EQ(fetch(), "b");
      // The node's own connections too.
      EXPECT_EQ(fetch("a"), "b");
      EXPECT_GT(sent(link, peer_link), before + 200);
    }
  }
}

TEST_F(WanSteering, FlowsStayUntilTheirTunnelIsDead) {
  const std::uint32_t first = slot("a", "fibre", "fibre");
  const std::uint32_t second = slot("a", "mobile", "mobile");
  steer("a", choose({first}));
  // A connection that says something every now and then, and is answered at its end.
  const std::string file = directory_ + "/step";
  std::string answer;
  std::thread client([&] {
    answer = output(inside("host") + "bash -c 'exec 3<>/dev/tcp/" + lan("b") +
                    "/8000; printf \"GET / HTTP/1.0\\r\\n\" >&3; touch " + file + "1; while [ ! -e " + file +
                    "2 ]; do sleep 0.02; done; printf \"A: b\\r\\n\" >&3; touch " + file + "3; while [ ! -e " + file +
                    "4 ]; do sleep 0.02; done; printf \"\\r\\n\" >&3; cat <&3'");
  });
  const auto there = [&](const char* step) { return await([&] { return run("test -e " + file + step); }); };
  EXPECT_TRUE(there("1"));
  steer("a", choose({second}));
  const std::uint64_t on_second = sent("mobile", "mobile");
  run("touch " + file + "2");
  EXPECT_TRUE(there("3"));
  EXPECT_EQ(sent("mobile", "mobile"), on_second);
  // Its link goes, and it with it to the other one.
  relay().set("a/fibre", {.blackhole = true});
  steer("a", choose({second}), {first, slot("a", "fibre", "mobile")});
  run("touch " + file + "4");
  client.join();
  EXPECT_TRUE(has(answer, "200 OK")) << answer;
  EXPECT_GT(sent("mobile", "mobile"), on_second);
}

TEST_F(WanSteering, ABlackholedLinkIsLeftAtOnceByNewFlows) {
  steer("a", choose({slot("a", "fibre", "fibre")}));
  ASSERT_EQ(fetch(), "b");
  relay().set("a/fibre", {.blackhole = true});
  EXPECT_EQ(fetch("host", 1), "");
  steer("a", choose({slot("a", "mobile", "fibre")}), {slot("a", "fibre", "fibre"), slot("a", "fibre", "mobile")});
  EXPECT_EQ(fetch(), "b");
}

TEST_F(WanSteering, SharesGoByWeight) {
  SteerChoice shares;
  shares.shares = {{slot("a", "fibre", "fibre"), 9}, {slot("a", "mobile", "mobile"), 1}};
  steer("a", shares);
  const std::uint64_t fibre = sent("fibre", "fibre");
  const std::uint64_t mobile = sent("mobile", "mobile");
  EXPECT_TRUE(run(inside("host") + "bash -c 'for i in $(seq 300); do echo x > /dev/udp/" + lan("b") + "/9; done'"));
  // The device counts what its program has taken, which is behind on a loaded machine.
  constexpr std::uint64_t kOctets = 30;  // of a datagram: 20 of IP, 8 of UDP, `x` and a newline
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::uint64_t more = 0;
  std::uint64_t less = 0;
  while (more + less < 300 * kOctets && std::chrono::steady_clock::now() < deadline) {
    more = sent("fibre", "fibre") - fibre;
    less = sent("mobile", "mobile") - mobile;
  }
  EXPECT_GT(less, 0);
  EXPECT_GT(more, 4 * less);
}

TEST_F(WanSteering, DropNeverLeaks) {
  // What leaves by the uplinks is looked at where it arrives: nothing in clear may.
  ASSERT_TRUE(run(inside("internet") + "nft 'table ip watch { chain in { type filter hook prerouting priority raw; ip "
                                       "saddr 10.20.0.0/16 counter; ip daddr 10.30.0.0/16 counter; }; }'"));
  const auto clear = [&] {
    const std::string seen = output(inside("internet") + "nft list table ip watch");
    return !has(seen, "10.20.0.0/16 counter packets 0 ") || !has(seen, "10.30.0.0/16 counter packets 0 ");
  };
  steer("a", choose({}));
  EXPECT_EQ(fetch("host", 1), "");
  EXPECT_EQ(fetch("a", 1), "");
  std::atomic<bool> over = false;
  std::thread sender([&] {
    while (!over) {
      run(inside("host") + "bash -c 'for i in $(seq 50); do echo x > /dev/udp/" + lan("b") + "/9; done'");
    }
  });
  // Changes, and tunnels that go and come again.
  for (int i = 0; i < 10; ++i)
    steer("a", choose(i % 2 == 0 ? std::vector{slot("a", "fibre", "fibre")} : std::vector<std::uint32_t>()));
  agent::wan::WantedTunnels fewer = wanted("a");
  fewer.tunnels.clear();
  tunnels("a").set(fewer);
  EXPECT_TRUE(await([&] { return tunnels("a").state().tunnels.empty(); }));
  tunnels("a").set(wanted("a"));
  EXPECT_TRUE(all_up());
  over = true;
  sender.join();
  EXPECT_FALSE(clear());
  EXPECT_EQ(fetch("host", 1), "");
}

TEST_F(WanSteering, ComesBackAfterAnotherProgramFlushedIt) {
  steer("a", choose({}));
  ASSERT_TRUE(run(inside("a") + "nft flush ruleset"));
  in("a", [&] { EXPECT_TRUE(steerer("a").keep()); });
  EXPECT_EQ(fetch("host", 1), "");
  EXPECT_TRUE(has(output(inside("a") + "nft list tables"), "edge_wan"));
  in("a", [&] { EXPECT_TRUE(steerer("a").remove()); });
  EXPECT_FALSE(has(output(inside("a") + "nft list tables"), "edge_wan"));
}

}  // namespace
}  // namespace edge::test
