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
      web_.push_back(start(site, {"python3", "-m", "http.server", "--bind", lan(site), "--directory",
                                  directory_ + "/web-" + site, "8000"}));
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
            "a-fibre], fallback: Drop}, failover: {after: 200ms, backAfter: 60s}}\n---\n";
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

  /// From `a` itself, and by its proxy.
  std::string direct(int seconds = 5) const {
    return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://10.30.0.1:8000/");
  }
  std::string proxied(int seconds = 5) const {
    return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://127.0.0.1:8080/");
  }
  std::string trouble() const {
    std::string text;
    for (const auto& [site, process] : agents_) text += site + ":\n" + process->err_text();
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
