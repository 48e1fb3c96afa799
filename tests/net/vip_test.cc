// Three agents' holders of virtual addresses on one bridge, and a client beside them.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "agent/vip/holder.h"
#include "agent/vip/neighbours.h"
#include "net/socket.h"
#include "tests/net/vip_bridge.h"

namespace edge::agent::vip {
namespace {

using std::chrono::seconds;

class VipNet : public VipBridge {
 protected:
  void SetUp() override {
    VipBridge::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* const name : kNodes) start(name);
  }

  void TearDown() override {
    holders_.clear();
    listeners_.clear();
    VipBridge::TearDown();
  }

  void start(const std::string& name) {
    in(name, [&] {
      for (const IpAddress& ip : ips()) {
        auto listener = net::listen_tcp(ip, kWeb, net::BindAhead::kYes);
        ASSERT_TRUE(listener) << listener.error().text;
        listeners_.push_back(std::move(*listener));
      }
      auto started = Holder::start({.name = name,
                                    .labels = {},
                                    .listen = {*parse_ip("0.0.0.0"), kPort},
                                    .state_file = directory_ + "/" + name,
                                    .bird_directory = {},
                                    .log = {},
                                    .drain_timeout = seconds(60),
                                    .served =
                                        [all = ips()] {
                                          std::vector<ServedAddress> served;
                                          for (const IpAddress& ip : all) served.push_back({false, ip, Serves::kFull});
                                          return served;
                                        },
                                    .moved = {}});
      ASSERT_TRUE(started) << started.error().text;
      holders_[name] = std::move(*started);
      holders_[name]->set_addresses(addresses());
    });
  }

  /// Who holds the first address; empty: nobody, or several.
  std::string holder(std::size_t which = 0) const {
    std::string found;
    for (const auto& [name, holder] : holders_) {
      const auto states = holder->states();
      if (states.size() <= which || !states[which].held) continue;
      if (!found.empty()) return {};
      found = name;
    }
    return found;
  }

  bool connects(const IpAddress& ip) const {
    bool connected = false;
    in("client", [&] {
      const net::Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const timeval patience{.tv_sec = 0, .tv_usec = 200'000};
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      sockaddr_in6 to{};
      to.sin6_family = AF_INET6;
      to.sin6_port = htons(kWeb);
      std::copy(ip.bytes.begin(), ip.bytes.end(), to.sin6_addr.s6_addr);
      connected = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    });
    return connected;
  }

  /// A connection of the client.
  net::Fd dial(const IpAddress& ip) const {
    net::Fd fd;
    in("client", [&] {
      fd = net::Fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const timeval patience{.tv_sec = 60, .tv_usec = 0};
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      sockaddr_in6 to{};
      to.sin6_family = AF_INET6;
      to.sin6_port = htons(kWeb);
      std::copy(ip.bytes.begin(), ip.bytes.end(), to.sin6_addr.s6_addr);
      if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fd.reset();
    });
    return fd;
  }

  /// The next connection to an address that came to a node; not valid: none did.
  net::Fd accept_at(const std::string& name, std::size_t which) const {
    const int listener = listener_at(name, which);
    pollfd polled{.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&polled, 1, 60'000) <= 0) return {};
    net::Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
  }

  int listener_at(const std::string& name, std::size_t which) const {
    const auto node = static_cast<std::size_t>(std::ranges::find(kNodes, name) - kNodes.begin());
    return listeners_[node * ips().size() + which].get();
  }

  /// What came there until now, and waits.
  void forget_connections(const std::string& name, std::size_t which) const {
    pollfd polled{.fd = listener_at(name, which), .events = POLLIN, .revents = 0};
    while (::poll(&polled, 1, 0) > 0) accept_at(name, which);
  }

  /// Both ways.
  static bool talks(const net::Fd& client, const net::Fd& server) {
    char byte = 'x';
    for (const auto& [from, to] : {std::pair(client.get(), server.get()), std::pair(server.get(), client.get())}) {
      if (::send(from, &byte, 1, MSG_NOSIGNAL) != 1 || ::recv(to, &byte, 1, 0) != 1) return false;
    }
    return true;
  }

  std::string figures(const std::string& name) const {
    metrics::Exposition out(metrics::Format::kText);
    holders_.at(name)->write_metrics(out);
    return out.finish();
  }

  bool shows(const std::string& name, const std::string& line) const {
    return figures(name).find(line + "\n") != std::string::npos;
  }

  void move_to(const std::string& name, std::size_t which) {
    const std::string vip = "vip-" + std::to_string(which + 1);
    ASSERT_TRUE(await([&] { return !holder(which).empty(); }));
    ASSERT_TRUE(await([&] {
      const std::string from = holder(which);
      return from == name || (!from.empty() && holders_[from]->move("shop", vip, name).ok());
    }));
    ASSERT_TRUE(await([&] { return holder(which) == name; }));
  }

  bool all_connect() const {
    bool all = true;
    for (const IpAddress& ip : ips()) all = connects(ip) && all;
    return all;
  }

  std::map<std::string, std::unique_ptr<Holder>> holders_;
  std::vector<net::Fd> listeners_;
};

TEST_F(VipNet, OneNodeHoldsEachAddressAndClientsReachIt) {
  for (std::size_t i = 0; i < ips().size(); ++i) ASSERT_TRUE(await([&] { return !holder(i).empty(); }));
  ASSERT_TRUE(await([&] { return all_connect(); }));
  const std::string first = holder();
  for (const char* const name : kNodes) EXPECT_EQ(has_address(name, "192.0.2.100"), name == first) << name;
  metrics::Exposition figures(metrics::Format::kText);
  holders_[first]->write_metrics(figures);
  const std::string text = figures.finish();
  for (const char* const line : {"edge_vip_held{vip=\"shop/vip-1\",address=\"192.0.2.100\"} 1\n",
                                 "edge_vip_conflicts_total{vip=\"shop/vip-1\"} 0\n",
                                 "edge_vip_moves_total{cause=\"NodeLost\"} 0\n", "edge_vip_live_agents 3\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST_F(VipNet, ACutCableMovesTheAddressAndClientsFollow) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  ASSERT_TRUE(run("ip -n " + space("switch") + " link set port-" + first + " down"));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != first; }));
  ASSERT_TRUE(await([&] { return all_connect(); }));
  EXPECT_FALSE(has_address(first, "192.0.2.100"));
  EXPECT_EQ(holders_[first]->states()[0].unfit, Unfit::kInterfaceDown);
  ASSERT_TRUE(run("ip -n " + space("switch") + " link set port-" + first + " up"));
  ASSERT_TRUE(await([&] { return holders_[first]->states()[0].unfit == Unfit::kNo; }));
}

TEST_F(VipNet, AProcessThatStopsLosesItsAddressByItself) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  // Refreshes and says nothing any more, and takes nothing back.
  holders_[first]->hand_over();
  holders_.erase(first);
  ASSERT_TRUE(await([&] { return !holder().empty(); }));
  ASSERT_TRUE(await([&] { return !has_address(first, "192.0.2.100"); })) << "the kernel takes it away";
  ASSERT_TRUE(await([&] { return all_connect(); }));
  EXPECT_EQ(holders_[holder()]->states()[0].cause, "NodeLost");
  EXPECT_EQ(holders_[holder()]->states()[0].from, first);
}

TEST_F(VipNet, ADrainedNodeAndAMoveGiveTheAddressAway) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  ASSERT_TRUE(holders_[first]->drain(true));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != first; }));
  const std::string second = holder();
  const std::string third = [&] {
    for (const std::string name : kNodes) {
      if (name != first && name != second) return name;
    }
    return std::string();
  }();
  EXPECT_FALSE(holders_[third]->move("shop", "vip-1", second)) << "only who holds it gives it away";
  EXPECT_EQ(holders_[second]->move("shop", "nothing", third).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(holders_[second]->move("shop", "vip-1", third));
  ASSERT_TRUE(await([&] { return holder() == third; }));
  ASSERT_TRUE(await([&] { return all_connect(); }));
  EXPECT_EQ(holders_[third]->states()[0].cause, "Offered");
  EXPECT_EQ(holders_[third]->states()[0].epoch, 3U);
}

TEST_F(VipNet, APlannedMoveKeepsConnectionsOnEveryNodeThatHadTheAddress) {
  for (std::size_t i = 0; i < ips().size(); ++i) {
    ASSERT_TRUE(await([&] { return !holder(i).empty(); }));
    std::vector<std::pair<net::Fd, net::Fd>> open;
    // Round: what was opened on any of them stays there.
    for (const char* const node : {"a", "b", "c", "a"}) {
      move_to(node, i);
      ASSERT_TRUE(await([&] { return connects(ips()[i]); }));
      forget_connections(node, i);
      net::Fd client = dial(ips()[i]);
      ASSERT_TRUE(client.valid());
      net::Fd server = accept_at(node, i);
      ASSERT_TRUE(server.valid()) << "a new connection goes to the node that holds it: " << node;
      open.emplace_back(std::move(client), std::move(server));
      for (std::size_t one = 0; one < open.size(); ++one) {
        EXPECT_TRUE(talks(open[one].first, open[one].second)) << "connection " << one << " when held by " << node;
      }
    }
    open.clear();
    for (const char* const node : kNodes) {
      ASSERT_TRUE(await([&] { return shows(node, "edge_vip_kept_addresses 0"); })) << node;
      ASSERT_TRUE(await([&] { return shows(node, "edge_vip_forwarding_addresses 0"); })) << node;
      EXPECT_EQ(output("ip -n " + space(node) + " -o addr show dev lo").find(" " + to_string(ips()[i]) + "/"),
                std::string::npos);
    }
  }
}

TEST_F(VipNet, TheNodeThatKeepsConnectionsDoesNotAnswerForTheAddress) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  const std::string second = first == "a" ? "b" : "a";
  const net::Fd client = dial(ips()[0]);
  ASSERT_TRUE(client.valid());
  move_to(second, 0);
  ASSERT_TRUE(await([&] { return shows(first, "edge_vip_kept_addresses 1"); }));
  const std::string mac = output("ip -n " + space(second) + " -o link show dev eth0");
  for (int i = 0; i < 3; ++i) {
    run("ip -n " + space("client") + " neigh flush dev eth0");
    ASSERT_TRUE(connects(ips()[0]));
    const std::string entry = output("ip -n " + space("client") + " -o neigh show 192.0.2.100");
    const std::size_t at = entry.find("lladdr ");
    ASSERT_NE(at, std::string::npos) << entry;
    EXPECT_NE(mac.find(entry.substr(at + 7, 17)), std::string::npos) << entry << mac;
  }
}

TEST_F(VipNet, WhoLeavesGivesAwayFirstAndLeavesNothing) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  holders_[first]->leave();
  EXPECT_FALSE(has_address(first, "192.0.2.100"));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != first; }));
  EXPECT_EQ(holders_[holder()]->states()[0].cause, "Offered");
}

TEST_F(VipNet, AMachineThatHasTheAddressTooIsToldOf) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  ASSERT_TRUE(await([&] {
    in("client", [] {
      auto netlink = Netlink::open();
      auto neighbours = Neighbours::open();
      ASSERT_TRUE(netlink && neighbours);
      EXPECT_TRUE(neighbours->announce(*netlink->link("eth0"), *parse_ip("192.0.2.100")));
    });
    return holders_[first]->states()[0].conflicts > 0;
  }));
  EXPECT_EQ(holder(), first) << "the other nodes are heard: it is right";
  EXPECT_NE(holders_[first]->states()[0].reason.find("has 192.0.2.100 too"), std::string::npos);
}

}  // namespace
}  // namespace edge::agent::vip
