// A controller and the agents of two sites as users start them: what the resources say becomes tunnels, measurements,
// choices and steered traffic.
#include "tests/net/wan_programs.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

namespace edge::test {
namespace {

/// Two hubs. At `a` the proxy's own connections prefer the mobile link, all else fibre.
class WanTwoSites : public WanPrograms {
 protected:
  std::string resources() const override {
    std::string text;
    for (const std::string& site : sites()) {
      text += version() + "kind: WANPolicy\nmetadata: {name: all-" + site + "}\nspec: {siteRefs: [" +
              resource_name(site) + "], path: {strategy: Preferred, linkRefs: [" + site + "-fibre, " + site +
              "-mobile]}, failover: {after: 200ms, backAfter: 60s}}\n---\n";
    }
    text += version() + "kind: WANPolicy\nmetadata: {name: proxy}\nspec: {siteRefs: [" + resource_name("a") +
            "], priority: 10, matches: [{gatewayRefs: [web]}], path: {strategy: Preferred, linkRefs: [a-mobile, "
            "a-fibre], fallback: Drop}, sla: {maxLoss: 1%}, failover: {after: 200ms, backAfter: 60s}}\n---\n";
    return text + web();
  }

  /// Of the policy of `a`'s proxy, as its agent counts them.
  unsigned long moves() const { return sample("a", "edge_wan_moves_total{policy=\"default/proxy\""); }
};

TEST_F(WanTwoSites, CarryTrafficAndLeaveALinkThatDies) {
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  EXPECT_TRUE(await([&] { return proxied(1) == "b"; })) << trouble();
  // In clear nothing is on the way.
  ASSERT_TRUE(run(inside(kInternet) + "nft 'table ip watch { chain in { type filter hook prerouting priority raw; ip "
                                      "daddr 10.30.0.0/16 counter; ip daddr 10.20.0.0/16 counter; }; }'"));
  // Requests all the time: while a link goes, those of the other one do not fail.
  relay().set("a/fibre", {.blackhole = true});
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(direct(), "b");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(proxied(), "b");
  const std::string seen = output(inside(kInternet) + "nft list table ip watch");
  EXPECT_TRUE(has(seen, "10.30.0.0/16 counter packets 0 ") && has(seen, "10.20.0.0/16 counter packets 0 ")) << seen;
}

TEST_F(WanTwoSites, TheProxysOwnConnectionsTakeTheLinkOfTheirPolicy) {
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  EXPECT_TRUE(await([&] { return proxied(1) == "b"; })) << trouble();
  constexpr std::uint64_t kFile = 4 << 20;
  ASSERT_TRUE(run("truncate -s " + std::to_string(kFile) + " " + directory_ + "/web-b/file"));
  const auto fetched = [&](const std::string& url) {
    return output(inside("a") + "curl -s --max-time 60 -o /dev/null -w '%{size_download}' " + url);
  };
  // Probes and keepalives are far less than the file.
  const std::uint64_t mobile = arrived_by("mobile");
  EXPECT_EQ(fetched("http://127.0.0.1:8080/file"), std::to_string(kFile)) << trouble();
  EXPECT_GT(arrived_by("mobile"), mobile + kFile);
  const std::uint64_t fibre = arrived_by("fibre");
  EXPECT_EQ(fetched("http://10.30.0.1:8000/file"), std::to_string(kFile));
  EXPECT_GT(arrived_by("fibre"), fibre + kFile);
}

TEST_F(WanTwoSites, LoseNoRequestInABrownOut) {
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  EXPECT_TRUE(await([&] { return proxied(1) == "b"; })) << trouble();
  ASSERT_TRUE(run("truncate -s 100000 " + directory_ + "/web-b/file"));
  // Four clients, whose requests are in flight all the time, and what did not end well of them.
  const std::string failed = directory_ + "/failed";
  const std::string done = directory_ + "/done";
  ASSERT_TRUE(run("touch " + failed + " " + done));
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&] {
      run(inside("a") + "bash -c 'while [ ! -e " + directory_ +
          "/over ]; do curl -sf --max-time 60 -o /dev/null -w \"%{http_code} %{size_download}\\n\" "
          "http://127.0.0.1:8080/file >> " +
          done + " || echo failed >> " + failed + "; done'");
    });
  }
  const auto requests = [&] { return std::stoul("0" + output("cat " + done + " | wc -l")); };
  const auto more = [&](std::size_t count) {
    const std::size_t before = requests();
    return await([&] { return requests() >= before + count; });
  };
  EXPECT_TRUE(more(20));
  // The other link was away a moment ago, and has not waited long enough to be trusted again.
  relay().set("a/fibre", {.blackhole = true});
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  relay().set("a/fibre", {});
  // A fifth of the packets is lost each way: requests in flight end where they are, new ones take the other link.
  const unsigned long before = moves();
  relay().set("a/mobile", {.loss = 0.2});
  EXPECT_TRUE(await([&] { return moves() > before; })) << trouble();
  EXPECT_TRUE(more(40)) << trouble();
  relay().set("a/mobile", {});
  EXPECT_TRUE(more(20)) << trouble();
  run("touch " + directory_ + "/over");
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(output("cat " + failed), "") << trouble();
  EXPECT_EQ(output("grep -v '^200 100000$' " + done), "") << trouble();
}

TEST_F(WanTwoSites, GiveTheirSiteToTheNextProcessAndLeaveNothing) {
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  auto next = agent("a");
  EXPECT_TRUE(next->wait_out("ready program=")) << next->err_text();
  EXPECT_EQ(agents_["a"]->wait_exit(), 0);
  agents_["a"] = std::move(next);
  EXPECT_TRUE(await([&] { return direct(1) == "b"; })) << trouble();
  EXPECT_TRUE(await([&] { return proxied(1) == "b"; })) << trouble();
  agents_["a"]->send_signal(SIGTERM);
  EXPECT_EQ(agents_["a"]->wait_exit(), 0);
  EXPECT_FALSE(has(output("ip -n " + space("a") + " -o link"), "ewg"));
  EXPECT_FALSE(has(output("ip -n " + space("a") + " rule"), "5200:"));
  EXPECT_FALSE(has(output(inside("a") + "nft list tables"), "edge_wan"));
}

}  // namespace
}  // namespace edge::test
