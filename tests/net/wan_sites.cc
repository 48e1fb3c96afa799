#include "tests/net/wan_sites.h"

#include <algorithm>
#include <fstream>

#include <unistd.h>

#include "agent/wan/tunnel/wireguard.h"

namespace edge::test {

using agent::wan::WantedTunnels;
using agent::wan::WireGuardKey;

std::string WanSites::id(const std::string& site) { return "net-" + std::to_string(::getpid()) + "/" + site; }

WireGuardKey WanSites::private_key(const std::string& site, std::uint32_t epoch) {
  WireGuardKey key{};
  key.fill(static_cast<std::uint8_t>(site.front()));
  key[1] = static_cast<std::uint8_t>(epoch);
  return key;
}

WantedTunnels WanSites::wanted(const std::string& site, const std::vector<std::uint32_t>& own,
                               const std::vector<std::uint32_t>& peer) {
  const std::string other = site == "a" ? "b" : "a";
  WantedTunnels all{.site = id(site), .overlay = {*parse_ip(overlay(site)), 128}};
  all.prefixes = {*parse_cidr(lan(site) + "/16")};
  for (const std::uint32_t epoch : own) all.private_keys.push_back({epoch, private_key(site, epoch)});
  agent::wan::WantedPeer there{.id = id(other), .overlay = *parse_ip(overlay(other))};
  there.prefixes = {*parse_cidr(lan(other) + "/16")};
  for (const std::uint32_t epoch : peer) {
    const auto key = agent::wan::public_key(private_key(other, epoch));
    EXPECT_TRUE(key.has_value());
    there.keys.push_back({epoch, key.value_or(WireGuardKey{})});
  }
  all.peers = {there};
  // Both ends count the ports of a tunnel in one order: by the links of `a`, then of `b`.
  const auto port = [&](std::size_t mine, std::size_t its) {
    const std::size_t at = site == "a" ? 2 * mine + its : 2 * its + mine;
    return static_cast<std::uint16_t>(51820 + 4 * at);
  };
  const int first = site == "a" ? 3 : 1;
  for (std::size_t mine = 0; mine < 2; ++mine) {
    const int number = (site == "a" ? 1 : 3) + static_cast<int>(mine);
    all.uplinks.push_back({.id = kLinks[mine],
                           .interface = kLinks[mine],
                           .address = *parse_ip(address(number)),
                           .gateway = *parse_ip(router(number))});
    for (std::size_t its = 0; its < 2; ++its) {
      const net::SocketAddress end{*parse_ip(address(first + static_cast<int>(its))), port(mine, its)};
      all.tunnels.push_back({kLinks[mine], there.id, kLinks[its], port(mine, its), {end}});
    }
  }
  return all;
}

void WanSites::SetUp() {
  WanNet::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  if (!run("test -x /usr/bin/wireguard-go")) GTEST_SKIP() << "needs wireguard-go";
  int number = 1;
  for (const char* const site : {"a", "b"}) {
    for (const char* const link : kLinks) uplink(site, link, number++);
    ASSERT_TRUE(run("ip -n " + space(site) + " addr add " + lan(site) + "/32 dev lo"));
    ASSERT_TRUE(run(inside(site) + "sysctl -w net.ipv4.ip_forward=1"));
  }
  start_relay();
}

void WanSites::TearDown() {
  tunnels_.clear();
  WanNet::TearDown();
}

void WanSites::start(const std::string& site) {
  in(site, [&] {
    auto started = agent::wan::Tunnels::start({.log = {}, .changed = {}});
    ASSERT_TRUE(started) << started.error().text;
    tunnels_[site] = std::move(*started);
    tunnels_[site]->set(wanted(site));
  });
}

agent::wan::TunnelState WanSites::tunnel(const std::string& site, const std::string& link,
                                         const std::string& peer_link) const {
  for (agent::wan::TunnelState& one : tunnels_.at(site)->state().tunnels) {
    if (one.link == link && one.peer_link == peer_link) return std::move(one);
  }
  return {};
}

bool WanSites::all_up() const {
  return await([&] {
    for (const auto& [site, of] : tunnels_) {
      const auto all = of->state().tunnels;
      if (all.empty() || !std::ranges::all_of(all, &agent::wan::TunnelState::up)) return false;
    }
    return true;
  });
}

agent::wan::SteerChoice WanSites::choose(const std::vector<std::uint32_t>& slots) {
  agent::wan::SteerChoice choice{.shares = {}, .dropped = slots.empty()};
  for (const std::uint32_t one : slots) choice.shares.push_back({one, 1});
  return choice;
}

void WanSites::steer(const std::string& site, const agent::wan::SteerChoice& choice,
                     const std::vector<std::uint32_t>& dead) {
  const std::string other = site == "a" ? "b" : "a";
  agent::wan::Steering all;
  all.own = {*parse_cidr(lan(site) + "/16")};
  all.sites = {{{*parse_cidr(lan(other) + "/16"), *parse_cidr(overlay(other))}, {}}};
  all.overlays = {*parse_ip(overlay(other))};
  for (const agent::wan::TunnelState& one : tunnels_.at(site)->state().tunnels) {
    all.devices.push_back({one.interface, one.slot});
    if (std::ranges::find(dead, one.slot) == dead.end()) all.sites[0].alive.push_back(one.slot);
  }
  all.policies = {{.choices = {choice}}};
  in(site, [&] {
    const Status status = steerers_[site].apply(all);
    ASSERT_TRUE(status) << status.error().text;
  });
}

void WanSites::serve_web(const std::string& site) {
  run("mkdir -p " + directory_ + "/" + site);
  std::ofstream(directory_ + "/" + site + "/index.html") << site;
  ASSERT_TRUE(run(inside(site) + "python3 -m http.server --directory " + directory_ + "/" + site + " 8000 &"));
  ASSERT_TRUE(await([&] { return has(output(inside(site) + "ss -tln"), ":8000"); }));
}

}  // namespace edge::test
