#include "tests/net/wan_net.h"

#include <algorithm>

namespace edge::test {
namespace {

constexpr const char* kRelay = "relay";

}  // namespace

void WanNet::SetUp() {
  Bridge::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  ASSERT_NO_FATAL_FAILURE(node(kInternet));
  ASSERT_NO_FATAL_FAILURE(node(kRelay));
  ASSERT_TRUE(run(inside(kInternet) + "sysctl -qw net.ipv4.ip_forward=1"));
  run(inside(kInternet) + "sysctl -qw net.ipv6.conf.all.forwarding=1");
  // It is a cable, and says nothing of its own.
  run(inside(kRelay) + "sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
}

void WanNet::TearDown() {
  relay_.reset();
  Bridge::TearDown();
}

void WanNet::uplink(const std::string& site, const std::string& link, int number) {
  ASSERT_EQ(relay_, nullptr);
  if (!has_node(site)) {
    ASSERT_NO_FATAL_FAILURE(node(site));
  }
  const std::string n = std::to_string(number);
  const std::string table = " table " + n;
  const bool first =
      std::ranges::none_of(lines_, [&](const WanLine& line) { return line.name.starts_with(site + "/"); });
  const auto cable = [&](const std::string& from, const std::string& name, const std::string& port) {
    ASSERT_TRUE(run("ip -n " + space(from) + " link add name " + name + " type veth peer name " + port + " netns " +
                    space(kRelay)));
    for (const auto& [where, what] : {std::pair(from, name), std::pair(std::string(kRelay), port)}) {
      in(where, [&, interface = what] {
        const Status off = turn_off_offloads(interface);
        ASSERT_TRUE(off) << off.error().text;
      });
      ASSERT_TRUE(run("ip -n " + space(where) + " link set dev " + what + " up"));
    }
  };
  ASSERT_NO_FATAL_FAILURE(cable(site, link, "in" + n));
  ASSERT_NO_FATAL_FAILURE(cable(kInternet, "up" + n, "out" + n));
  const auto ip = [&](const std::string& where, const std::string& words) {
    return run("ip -n " + space(where) + " " + words);
  };
  ASSERT_TRUE(ip(site, "addr add " + address(number) + "/24 dev " + link));
  ASSERT_TRUE(ip(kInternet, "addr add " + router(number) + "/24 dev up" + n));
  if (first) {
    ASSERT_TRUE(ip(site, "route add default via " + router(number)));
  }
  ASSERT_TRUE(ip(site, "route add default via " + router(number) + " dev " + link + table));
  ASSERT_TRUE(ip(site, "rule add from " + address(number) + table + " pref 1000"));
  ASSERT_TRUE(ip(site, "rule add oif " + link + table + " pref 1001"));
  has_v6_ = ip(site, "-6 addr add " + address6(number) + "/64 dev " + link + " nodad") &&
            ip(kInternet, "-6 addr add fd77:" + n + "::1/64 dev up" + n + " nodad");
  if (has_v6_) {
    const std::string via = " default via fd77:" + n + "::1 dev " + link;
    EXPECT_TRUE(!first || ip(site, "-6 route add" + via));
    EXPECT_TRUE(ip(site, "-6 route add" + via + table));
    EXPECT_TRUE(ip(site, "-6 rule add from " + address6(number) + table + " pref 1000"));
    EXPECT_TRUE(ip(site, "-6 rule add oif " + link + table + " pref 1001"));
  }
  lines_.push_back({site + "/" + link, "in" + n, "out" + n});
}

void WanNet::start_relay(std::uint64_t seed) {
  relay_.reset();
  in(kRelay, [&] {
    auto started = WanRelay::start(lines_, seed);
    ASSERT_TRUE(started) << started.error().text;
    relay_ = std::move(*started);
  });
}

}  // namespace edge::test
