// A controller and the agents of two sites as users start them: what the resources say becomes tunnels, measurements,
// choices and steered traffic.
#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/process.h"
#include "tests/net/wan_net.h"

namespace edge::test {
namespace {

class WanPrograms : public WanNet {
 protected:
  void SetUp() override {
    WanNet::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!run("test -x /usr/bin/wireguard-go")) GTEST_SKIP() << "needs wireguard-go";
    int number = 1;
    for (const char* const site : {"a", "b"}) {
      for (const char* const link : {"fibre", "mobile"}) uplink(site, link, number++);
      ASSERT_TRUE(run("ip -n " + space(site) + " addr add " + lan(site) + "/32 dev lo"));
      ASSERT_TRUE(run(inside(site) + "sysctl -w net.ipv4.ip_forward=1"));
    }
    start_relay();
    write_resources();
    control_ = start(kInternet, {"edge-standalone",
                                 "--config",
                                 files_.path().string(),
                                 "--data-dir",
                                 directory_ + "/control",
                                 "--metrics-listen",
                                 "127.0.0.1:9090",
                                 "--health-listen",
                                 "127.0.0.1:9091",
                                 "--api-listen",
                                 "127.0.0.1:6443",
                                 "--otlp-listen",
                                 "off",
                                 "--traces-listen",
                                 "127.0.0.1:9092",
                                 "--threads",
                                 "1",
                                 "--drain-timeout",
                                 "5s",
                                 "--agents-listen",
                                 "0.0.0.0:9443"});
    ASSERT_TRUE(control_->wait_out("ready program=")) << control_->err_text();
    for (const char* const site : {"a", "b"}) {
      run("mkdir -p " + directory_ + "/web-" + site);
      std::ofstream(directory_ + "/web-" + site + "/index.html") << site;
      // Its log is read by nobody.
      web_.push_back(start(site, {"sh", "-c",
                                  "exec python3 -m http.server --bind " + lan(site) + " --directory " + directory_ +
                                      "/web-" + site + " 8000 2>/dev/null"}));
      agents_[site] = agent(site);
    }
    for (const char* const site : {"a", "b"}) {
      ASSERT_TRUE(agents_[site]->wait_out("ready program=")) << agents_[site]->err_text();
    }
  }

  void TearDown() override {
    agents_.clear();
    web_.clear();
    control_.reset();
    WanNet::TearDown();
  }

  static std::string lan(const std::string& site) { return site == "a" ? "10.20.0.1" : "10.30.0.1"; }

  static std::unique_ptr<Process> start(const std::string& node, std::vector<std::string> command) {
    std::vector<std::string> words = {"ip", "netns", "exec", space(node)};
    words.insert(words.end(), command.begin(), command.end());
    return std::make_unique<Process>(words);
  }

  std::unique_ptr<Process> agent(const std::string& site) const {
    return start(site, {"edge-agent",
                        "--controller",
                        router(site == "a" ? 1 : 3) + ":9443",
                        "--name",
                        site,
                        "--node",
                        "node-" + site,
                        "--token-file",
                        directory_ + "/control/agents/join",
                        "--data-dir",
                        directory_ + "/" + site,
                        "--label",
                        "site=" + site,
                        "--upgrade-socket",
                        directory_ + "/" + site + ".sock",
                        "--drain-timeout",
                        "5s",
                        "--metrics-listen",
                        "127.0.0.1:9090",
                        "--health-listen",
                        "127.0.0.1:9091",
                        "--threads",
                        "1"});
  }

  /// The names of sites have the number of this process: interfaces are named after them.
  void write_resources() {
    const std::string version = "apiVersion: edgeproxy.io/v1alpha1\n";
    const std::string unique = std::to_string(::getpid());
    std::string text;
    int number = 1;
    for (const std::string site : {"a", "b"}) {
      const std::string name = site + "-" + unique;
      text += version + "kind: Site\nmetadata: {name: " + name + "}\nspec: {role: hub, prefixes: [" + lan(site) +
              "/16], nodeSelector: {site: " + site + "}, overlay: {address: 100.64.0." + (site == "a" ? "1" : "2") +
              "/24}}\n---\n";
      for (const std::string link : {"fibre", "mobile"}) {
        text += version + "kind: WANLink\nmetadata: {name: " + site + "-" + link + "}\nspec: {siteRef: " + name +
                ", interface: " + link + ", address: " + address(number) + ", gateway: " + router(number) +
                ", probe: {interval: 100ms, timeout: 300ms, window: 100}}\n---\n";
        ++number;
      }
      text += version + "kind: WANPolicy\nmetadata: {name: all-" + site + "}\nspec: {siteRefs: [" + name +
              "], path: {strategy: Preferred, linkRefs: [" + site + "-fibre, " + site +
              "-mobile]}, failover: {after: 200ms, backAfter: 60s}}\n---\n";
    }
    text += version + "kind: WANPolicy\nmetadata: {name: proxy}\nspec: {siteRefs: [a-" + unique +
            "], priority: 10, matches: [{gatewayRefs: [web]}], path: {strategy: Preferred, linkRefs: [a-mobile, "
            "a-fibre], fallback: Drop}, sla: {maxLoss: 1%}, failover: {after: 200ms, backAfter: 60s}}\n---\n";
    text += version +
            "kind: ProxyGateway\nmetadata: {name: web}\nspec: {listeners: [{name: http, port: 8080, protocol: "
            "HTTP}]}\n---\n";
    text += version +
            "kind: ProxyBackend\nmetadata: {name: other}\nspec: {endpoints: [{address: \"10.30.0.1:8000\"}]}\n---\n";
    text += version +
            "kind: ProxyRoute\nmetadata: {name: all}\nspec: {parentRefs: [{name: web}], rules: [{backendRef: {name: "
            "other}}]}\n";
    files_.put("sites.yaml", text);
  }

  /// Octets that the relay forwarded towards `a` over one of its links.
  std::uint64_t arrived_by(const std::string& link) { return relay().figures("a/" + link, Way::kDown).bytes; }
  /// From `a` itself, and by its proxy.
  std::string direct(int seconds = 5) const {
    return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://10.30.0.1:8000/");
  }
  std::string proxied(int seconds = 5) const {
    return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://127.0.0.1:8080/");
  }
  /// Of the policy of `a`'s proxy, as its agent counts them.
  static unsigned long moves() {
    return std::stoul("0" + output(inside("a") + "curl -s http://127.0.0.1:9090/metrics | grep "
                                                 "'edge_wan_moves_total{policy=\"default/proxy\"' | sed 's/.* //'"));
  }
  std::string trouble() const {
    std::string text;
    for (const auto& [site, process] : agents_) {
      text += site + ":\n" + process->err_text();
      text += output(inside(site) + "curl -s http://127.0.0.1:9090/metrics | grep '^edge_wan'");
    }
    return text + control_->err_text();
  }

  TempDir files_;
  std::unique_ptr<Process> control_;
  std::map<std::string, std::unique_ptr<Process>> agents_;
  std::vector<std::unique_ptr<Process>> web_;
};

TEST_F(WanPrograms, CarryTrafficAndLeaveALinkThatDies) {
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
  EXPECT_FALSE(has(output(inside(kInternet) + "nft list table ip watch"), "counter packets 1"));
}

TEST_F(WanPrograms, TheProxysOwnConnectionsTakeTheLinkOfTheirPolicy) {
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

TEST_F(WanPrograms, LoseNoRequestInABrownOut) {
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

TEST_F(WanPrograms, GiveTheirSiteToTheNextProcessAndLeaveNothing) {
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
