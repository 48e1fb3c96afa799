// Three agents' holders of virtual addresses on one bridge, and a client beside them.
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agent/vip/neighbours.h"
#include "agent/vip/netlink.h"
#include "tests/net/vip_net.h"

namespace edge::agent::vip {
namespace {

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
  ASSERT_TRUE(cable(first, "down"));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != first; }));
  ASSERT_TRUE(await([&] { return all_connect(); }));
  EXPECT_FALSE(has_address(first, "192.0.2.100"));
  EXPECT_EQ(holders_[first]->states()[0].unfit, Unfit::kInterfaceDown);
  ASSERT_TRUE(cable(first, "up"));
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

TEST_F(VipNet, OneNodeHoldsASiteAndAnotherFollowsIt) {
  Addresses all = addresses();
  all.addresses.push_back({.id = 77,
                           .name_space = "n",
                           .name = "hamburg",
                           .address = {},
                           .mode = Mode::kSite,
                           .interface = {},
                           .node_selector = {}});
  for (auto& [name, holder] : holders_) holder->set_addresses(all);
  const auto site_holder = [&] {
    std::string found;
    for (const auto& [name, holder] : holders_) {
      if (holder->holds_site("n/hamburg")) found = found.empty() ? name : "several";
    }
    return found;
  };
  ASSERT_TRUE(await([&] { return !site_holder().empty() && site_holder() != "several"; }));
  const std::string first = site_holder();
  EXPECT_EQ(holders_[first]->states().size(), ips().size()) << "it is no address";
  holders_[first]->hand_over();
  holders_.erase(first);
  ASSERT_TRUE(await([&] { return !site_holder().empty() && site_holder() != "several"; }));
  EXPECT_NE(site_holder(), first);
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
  const auto began = std::chrono::steady_clock::now();
  holders_[first]->leave();
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(1))
      << "listeners stay open for who has not heard of the move";
  EXPECT_FALSE(has_address(first, "192.0.2.100"));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != first; }));
  EXPECT_EQ(holders_[holder()]->states()[0].cause, "Offered");
}

TEST_F(VipNet, WhoLeavesForwardsConnectionsOfTheNodeBeforeUntilTheyEnd) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  move_to("a", 0);
  forget_connections("a", 0);
  net::Fd client = dial(ips()[0]);
  net::Fd server = accept_at("a", 0);
  ASSERT_TRUE(client.valid() && server.valid());
  move_to("b", 0);
  holders_["b"]->leave();
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != "b"; }));
  std::atomic<bool> finished = false;
  std::thread finishing([&] {
    holders_["b"]->finish_forwarding();
    finished = true;
  });
  EXPECT_TRUE(talks(client, server));
  EXPECT_FALSE(finished);
  client.reset();
  server.reset();
  finishing.join();
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
