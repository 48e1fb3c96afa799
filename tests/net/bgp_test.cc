// Two agents' holders that announce addresses by BGP, and a router beside them on a bridge: FRR, OpenBGPD or GoBGP,
// each with MD5, and FRR with BFD. Skipped where BIRD or the router is missing, too.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "agent/bgp/process.h"
#include "agent/vip/holder.h"
#include "net/socket.h"
#include "tests/net/bridge.h"

namespace edge::agent::vip {
namespace {

using test::await;
using test::has;
using test::output;
using test::run;

constexpr std::uint16_t kPort = 9095;
constexpr std::uint16_t kWeb = 8080;
constexpr const char* kRouter = "192.0.2.9";
constexpr const char* kPassword = "a;}#b";
constexpr const char* kAddress = "203.0.113.10";
constexpr const char* kAddress6 = "2001:db8:10::10";

class BgpNet : public test::Bridge {
 protected:
  void SetUp() override {
    if (bgp::find_program("bird").empty()) GTEST_SKIP() << "needs BIRD (package bird2)";
    Bridge::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    attach("a", 1);
    attach("b", 2);
    attach("router", 9);
  }

  void TearDown() override {
    holders_.clear();
    listeners_.clear();
    Bridge::TearDown();
  }

  bgp::Settings settings(const std::string& router) const {
    bgp::Settings settings{.local_as = 64512, .communities = {"64512:100", "64512:1:2"}, .med = 5, .peers = {}};
    settings.connect_retry_seconds = 1;
    settings.bfd = bfd_;
    settings.bfd_interval_ms = 50;
    settings.peers.push_back(
        {.address = *parse_ip(router), .as_number = 64500, .password = kPassword, .fault = {}, .source = {}});
    return settings;
  }

  Addresses addresses(std::size_t count = 1) {
    Addresses all{.version = ++version_, .addresses = {}, .members = {}, .key = "a key"};
    const auto add = [&](std::uint64_t id, const std::string& ip, const std::string& router) {
      all.addresses.push_back({.id = id,
                               .name_space = "shop",
                               .name = "vip-" + std::to_string(id),
                               .address = *parse_ip(ip),
                               .mode = Mode::kBgp,
                               .interface = {},
                               .node_selector = {},
                               .bgp = settings(router)});
    };
    for (std::size_t i = 0; i < count; ++i) add(i + 1, "203.0.113." + std::to_string(10 + i), kRouter);
    if (has_v6_) add(1000, kAddress6, "fd00:2::9");
    if (hear_each_other_)
      all.members = {{"a", {*parse_ip("192.0.2.1"), kPort}}, {"b", {*parse_ip("192.0.2.2"), kPort}}};
    return all;
  }

  void start(const std::string& name, const std::string& bird = "bird") {
    in(name, [&] {
      if (!listening_.contains(name)) {
        for (const char* const ip : {"0.0.0.0", "::"}) {
          if (auto listener = net::listen_tcp(*parse_ip(ip), kWeb, net::BindAhead::kYes)) {
            listeners_.push_back(std::move(*listener));
          }
        }
        listening_[name] = true;
      }
      auto started = Holder::start({.name = name,
                                    .labels = {},
                                    .listen = {*parse_ip("0.0.0.0"), kPort},
                                    .state_file = directory_ + "/" + name,
                                    .bird_directory = directory_ + "/bird-" + name,
                                    .bird = bird,
                                    .log = {},
                                    .served =
                                        [this] {
                                          std::vector<ServedAddress> served;
                                          if (serves_) served.push_back({true, {}, Serves::kFull});
                                          return served;
                                        },
                                    .moved = {}});
      ASSERT_TRUE(started) << started.error().text;
      holders_[name] = std::move(*started);
      holders_[name]->set_addresses(addresses());
    });
  }

  static bool has_address(const std::string& name) { return Bridge::has_address(name, kAddress, "lo"); }

  /// The route of the router's kernel, whichever nodes it goes over.
  static std::string route(const std::string& address) {
    return output("ip -n " + space("router") + (has(address, ":") ? " -6" : "") + " route show " + address);
  }
  static bool goes_over(const std::string& node) {
    return has(route(kAddress), "via 192.0.2." + std::string(node == "a" ? "1 " : "2 "));
  }

  static bool connects() {
    bool connected = false;
    in("router", [&] {
      const net::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const timeval patience{.tv_sec = 1, .tv_usec = 0};
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(kWeb);
      ::inet_pton(AF_INET, kAddress, &to.sin_addr);
      connected = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    });
    return connected;
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
    ASSERT_EQ(::chmod((directory_ + "/" + name).c_str(), 0600), 0);
  }

  bool start_frr() {
    if (!std::filesystem::exists("/usr/lib/frr/bgpd")) return false;
    bfd_ = true;
    const std::string folder = directory_ + "/frr";
    std::filesystem::create_directory(folder);
    std::string bgp = "hostname router\nrouter bgp 64500\n bgp router-id 192.0.2.9\n no bgp ebgp-requires-policy\n";
    std::string activates4;
    std::string activates6;
    for (const char* const node : {"192.0.2.1", "192.0.2.2", "fd00:2::1", "fd00:2::2"}) {
      const std::string neighbor = std::string(" neighbor ") + node;
      bgp += neighbor + " remote-as 64512\n" + neighbor + " password " + kPassword + "\n" + neighbor + " bfd\n" +
             neighbor + " timers connect 1\n";
      if (has(node, ":")) bgp += " no" + neighbor + " activate\n";
      (has(node, ":") ? activates6 : activates4) += " " + neighbor + " activate\n";
    }
    bgp += " address-family ipv4 unicast\n  maximum-paths 8\n" + activates4 +
           " exit-address-family\n address-family ipv6 unicast\n  maximum-paths 8\n" + activates6 +
           " exit-address-family\n";
    std::string bfd = "bfd\n";
    for (const char* const node : {"192.0.2.1", "192.0.2.2", "fd00:2::1", "fd00:2::2"}) {
      bfd += std::string(" peer ") + node + "\n  detect-multiplier 3\n  receive-interval 50\n  transmit-interval 50\n";
    }
    write("frr/zebra.conf", "hostname router\n");
    write("frr/bgpd.conf", bgp);
    write("frr/bfdd.conf", bfd);
    if (!run("chown -R frr:frr " + folder)) return false;
    const auto daemon = [&](const std::string& name, const std::string& more) {
      return run(inside("router") + "/usr/lib/frr/" + name + " -d -i " + folder + "/" + name + ".pid -z " + folder +
                 "/zebra.api --vty_socket " + folder + " -f " + folder + "/" + name + ".conf " + more);
    };
    return daemon("zebra", "") && daemon("bfdd", "--bfdctl " + folder + "/bfdd.sock") && daemon("bgpd", "");
  }

  std::string frr(const std::string& command) const {
    return output("vtysh --vty_socket " + directory_ + "/frr -c '" + command + "'");
  }

  /// Of the router, for the sessions with both nodes: how often they were made.
  std::string sessions_made() const {
    std::string made;
    for (const char* const node : {"192.0.2.1", "192.0.2.2"}) {
      const std::string text = frr(std::string("show bgp neighbors ") + node + " json");
      const std::size_t at = text.find("\"connectionsEstablished\":");
      made += at == std::string::npos ? "none " : text.substr(at, text.find(',', at) - at) + " ";
    }
    return made;
  }

  static std::string pid_of_bird(const std::string& directory) {
    std::string pid;
    std::ifstream(directory + "/bird.pid") >> pid;
    return pid;
  }

  std::map<std::string, std::unique_ptr<Holder>> holders_;
  std::map<std::string, bool> listening_;
  std::vector<net::Fd> listeners_;
  std::atomic<bool> serves_ = true;
  std::uint64_t version_ = 0;
  bool bfd_ = false;
  bool hear_each_other_ = true;
};

TEST_F(BgpNet, FrrRoutesOverEveryNodeThatServesAndFollowsDrainAndLoss) {
  if (!start_frr()) GTEST_SKIP() << "needs FRR (package frr)";
  start("a");
  start("b");
  ASSERT_TRUE(await([] { return goes_over("a") && goes_over("b"); })) << frr("show bgp summary") << route(kAddress);
  ASSERT_TRUE(!has_v6_ || await([] { return !route(kAddress6).empty(); })) << frr("show bgp ipv6 unicast summary");
  EXPECT_TRUE(has_address("a"));
  const std::string path = frr("show bgp ipv4 unicast 203.0.113.10/32");
  for (const char* const part : {"64512:100", "Large Community: 64512:1:2", "metric 5"})
    EXPECT_TRUE(has(path, part)) << path;
  ASSERT_TRUE(await([&] {
    const auto states = holders_["a"]->states();
    return states[0].held && states[0].sessions.size() == 1 && states[0].sessions[0].bfd == "Up" &&
           states[0].sessions[0].announced == 1;
  }));
  metrics::Exposition figures(metrics::Format::kText);
  holders_["a"]->write_metrics(figures);
  const std::string text = figures.finish();
  for (const char* const line :
       {"edge_bgp_session_up{peer=\"192.0.2.9\"} 1\n", "edge_bgp_bfd_up{peer=\"192.0.2.9\"} 1\n",
        "edge_bgp_announced_prefixes{peer=\"192.0.2.9\"} 1\n"}) {
    EXPECT_TRUE(has(text, line)) << line << text;
  }
  struct stat about{};
  ASSERT_EQ(::stat((directory_ + "/bird-a/bird.conf").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U) << "it has passwords";
  // A drained node is left before it withdraws.
  const std::string before = sessions_made();
  std::atomic<bool> drained = false;
  int failed = 0;
  int made = 0;
  std::thread client([&] {
    // Nobody accepts: at full speed the queues of the listeners are full within a second.
    for (; !drained; std::this_thread::sleep_for(std::chrono::milliseconds(5))) (connects() ? made : failed) += 1;
  });
  ASSERT_TRUE(holders_["a"]->drain(true));
  EXPECT_TRUE(await([&] { return has(frr("show bgp ipv4 unicast 203.0.113.10/32"), "graceful-shutdown"); }));
  EXPECT_TRUE(await([] { return !goes_over("a"); }));
  drained = true;
  client.join();
  EXPECT_EQ(failed, 0) << "of " << made + failed;
  EXPECT_TRUE(goes_over("b"));
  ASSERT_TRUE(await([&] { return holders_["a"]->states()[0].unfit == Unfit::kWithdrawn; }));
  ASSERT_TRUE(holders_["a"]->drain(false));
  ASSERT_TRUE(await([] { return goes_over("a"); }));
  EXPECT_EQ(sessions_made(), before) << "no session is made anew";
  // A cut cable is seen by BFD.
  ASSERT_TRUE(cable("a", "down"));
  ASSERT_TRUE(await([] { return !goes_over("a") && goes_over("b"); }));
  ASSERT_TRUE(cable("a", "up"));
  ASSERT_TRUE(await([] { return goes_over("a"); }));
  // A listener that closes.
  serves_ = false;
  for (auto& [name, holder] : holders_) holder->look_again();
  ASSERT_TRUE(await([&] { return route(kAddress).empty() && !has_address("a"); }));
  EXPECT_EQ(holders_["a"]->states()[0].unfit, Unfit::kNoListener);
}

/// As several edge-standalone are: none knows that another one announces the address, too.
TEST_F(BgpNet, WhoEndsAndHearsNobodyIsLeftBeforeItsListenersClose) {
  hear_each_other_ = false;
  if (!start_frr()) GTEST_SKIP() << "needs FRR (package frr)";
  start("a");
  const std::size_t of_first = listeners_.size();
  start("b");
  ASSERT_TRUE(await([] { return goes_over("a") && goes_over("b"); })) << frr("show bgp summary") << route(kAddress);
  std::atomic<bool> ending = false;
  std::atomic<int> failed = 0;
  std::atomic<int> made = 0;
  std::thread client([&] {
    // Nobody accepts: at full speed the queues of the listeners are full within a second.
    for (; !ending; std::this_thread::sleep_for(std::chrono::milliseconds(5))) (connects() ? made : failed) += 1;
  });
  holders_["a"]->leave();
  EXPECT_FALSE(goes_over("a")) << route(kAddress);
  for (std::size_t i = 0; i < of_first; ++i) listeners_[i].reset();
  const int so_far = made;
  EXPECT_TRUE(await([&] { return made > so_far + 20; }));
  EXPECT_TRUE(has(frr("show bgp ipv4 unicast 203.0.113.10/32"), "graceful-shutdown")) << "to the end";
  holders_.erase("a");
  ending = true;
  client.join();
  EXPECT_EQ(failed, 0) << "of " << made + failed;
}

TEST_F(BgpNet, EditsResetNoSession) {
  if (!start_frr()) GTEST_SKIP() << "needs FRR (package frr)";
  start("a");
  start("b");
  ASSERT_TRUE(await([] { return goes_over("a") && goes_over("b"); })) << frr("show bgp summary");
  ASSERT_TRUE(await([&] { return !has(sessions_made(), "none"); }));
  const std::string before = sessions_made();
  constexpr std::size_t kEdits = 1000;
  for (std::size_t i = 0; i < kEdits; ++i) {
    Addresses next = addresses(1 + i % 5);
    next.addresses[0].bgp.med = static_cast<std::uint32_t>(i);
    for (auto& [name, holder] : holders_) holder->set_addresses(next);
    ::poll(nullptr, 0, 1);
  }
  ASSERT_TRUE(await([&] { return has(frr("show bgp ipv4 unicast 203.0.113.10/32"), "metric 999"); }));
  ASSERT_TRUE(await([] { return !route("203.0.113.14").empty(); }));
  EXPECT_EQ(sessions_made(), before);
}

TEST_F(BgpNet, ABirdThatIsKilledComesBackAndAnAgentThatEndsWithdraws) {
  if (!start_frr()) GTEST_SKIP() << "needs FRR (package frr)";
  start("a");
  ASSERT_TRUE(await([] { return goes_over("a"); }));
  const std::string first = pid_of_bird(directory_ + "/bird-a");
  ASSERT_FALSE(first.empty());
  ASSERT_TRUE(run("kill -KILL " + first));
  ASSERT_TRUE(await([] { return !goes_over("a"); }));
  ASSERT_TRUE(await([&] { return goes_over("a") && holders_["a"]->states()[0].held; }));
  const std::string second = pid_of_bird(directory_ + "/bird-a");
  EXPECT_NE(second, first);
  // Another process of the agent goes on with it.
  const std::string before = sessions_made();
  holders_["a"]->hand_over();
  auto old = std::move(holders_["a"]);
  start("a");
  ASSERT_TRUE(await([&] { return holders_["a"]->states()[0].held; }));
  old.reset();
  ASSERT_TRUE(await([&] { return holders_["a"]->states()[0].held && goes_over("a"); }));
  EXPECT_EQ(pid_of_bird(directory_ + "/bird-a"), second);
  EXPECT_EQ(sessions_made(), before);
  holders_["a"]->leave();
  holders_.erase("a");
  ASSERT_TRUE(await([&] { return !goes_over("a") && ::kill(std::stoi(second), 0) != 0; }));
  EXPECT_FALSE(has_address("a"));
}

TEST_F(BgpNet, AnAgentThatStandsStillIsAnnouncedNoMore) {
  if (!start_frr()) GTEST_SKIP() << "needs FRR (package frr)";
  start("a");
  ASSERT_TRUE(await([] { return goes_over("a"); }));
  // Nothing is written to the shell of BIRD any more.
  holders_["a"]->hand_over();
  holders_.erase("a");
  ASSERT_TRUE(await([&] { return !goes_over("a") && !has_address("a"); }));
}

TEST_F(BgpNet, OpenBgpdHasTheRoutes) {
  if (!std::filesystem::exists("/usr/sbin/bgpctl")) GTEST_SKIP() << "needs OpenBGPD (package openbgpd)";
  // Where its processes are confined to; the package's init script makes it.
  std::filesystem::create_directories("/run/openbgpd");
  std::string text =
      "AS 64500\nrouter-id 192.0.2.9\nfib-update no\nsocket \"" + directory_ + "/bgpd.sock\"\nallow from any\n";
  for (const char* const node : {"192.0.2.1", "192.0.2.2"}) {
    text += std::string("neighbor ") + node + " {\n remote-as 64512\n tcp md5sig password \"" + kPassword + "\"\n}\n";
  }
  write("bgpd.conf", text);
  ASSERT_TRUE(run(inside("router") + "/usr/sbin/bgpd -f " + directory_ + "/bgpd.conf"));
  const auto rib = [&] { return output(inside("router") + "bgpctl -s " + directory_ + "/bgpd.sock show rib detail"); };
  start("a");
  start("b");
  ASSERT_TRUE(await([&] { return has(rib(), "Nexthop 192.0.2.1 ") && has(rib(), "Nexthop 192.0.2.2 "); })) << rib();
  EXPECT_TRUE(has(rib(), "64512:100")) << rib();
  EXPECT_TRUE(has(rib(), "64512:1:2")) << rib();
  ASSERT_TRUE(holders_["a"]->drain(true));
  ASSERT_TRUE(await([&] { return !has(rib(), "Nexthop 192.0.2.1 ") && has(rib(), "Nexthop 192.0.2.2 "); })) << rib();
}

TEST_F(BgpNet, GoBgpHasTheRoutes) {
  if (!std::filesystem::exists("/usr/bin/gobgpd")) GTEST_SKIP() << "needs GoBGP (package gobgpd)";
  std::string text = "[global.config]\n as = 64500\n router-id = \"192.0.2.9\"\n";
  for (const char* const node : {"192.0.2.1", "192.0.2.2"}) {
    text += std::string("[[neighbors]]\n [neighbors.config]\n  neighbor-address = \"") + node +
            "\"\n  peer-as = 64512\n  auth-password = '" + kPassword +
            "'\n [neighbors.timers.config]\n  connect-retry = 1\n";
  }
  write("gobgpd.conf", text);
  ASSERT_TRUE(
      run(inside("router") + "gobgpd -f " + directory_ + "/gobgpd.conf --api-hosts 127.0.0.1:50051 >/dev/null 2>&1 &"));
  const auto rib = [] { return output(inside("router") + "gobgp global rib"); };
  start("a");
  start("b");
  ASSERT_TRUE(await([&] { return has(rib(), "192.0.2.1 ") && has(rib(), "192.0.2.2 "); })) << rib();
  EXPECT_TRUE(has(rib(), "64512:100")) << rib();
  EXPECT_TRUE(has(rib(), "{Med: 5}")) << rib();
  ASSERT_TRUE(holders_["a"]->drain(true));
  ASSERT_TRUE(await([&] { return !has(rib(), "192.0.2.1 ") && has(rib(), "192.0.2.2 "); })) << rib();
}

TEST_F(BgpNet, WithoutBirdTheAddressIsToldOf) {
  start("a", directory_ + "/no-such-bird");
  const auto reason = [&] { return holders_["a"]->states()[0].reason; };
  ASSERT_TRUE(await([&] { return reason() == "there is no BIRD on this node (package bird2)"; })) << reason();
  EXPECT_EQ(holders_["a"]->states()[0].unfit, Unfit::kNoSpeaker);
  EXPECT_TRUE(has_address("a")) << "it is served where routes lead here by other means";
}

}  // namespace
}  // namespace edge::agent::vip
