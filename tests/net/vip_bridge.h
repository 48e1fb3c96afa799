// Three nodes and a client on one bridge, the virtual addresses that the nodes hold, and what a Holder of theirs is
// started with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/vip/holder.h"
#include "tests/net/bridge.h"

namespace edge::agent::vip {

using test::await;
using test::output;
using test::run;

inline constexpr std::uint16_t kPort = 9095;
inline constexpr std::uint16_t kWeb = 8080;

class VipBridge : public test::Bridge {
 protected:
  static constexpr std::array kNodes = {"a", "b", "c"};

  void SetUp() override {
    Bridge::SetUp();
    int number = 1;
    for (const char* const name : {"a", "b", "c", "client"}) {
      if (!IsSkipped() && !HasFatalFailure()) attach(name, number++);
    }
  }

  std::vector<IpAddress> ips() const {
    std::vector<IpAddress> all = {*parse_ip("192.0.2.100")};
    if (has_v6_) all.push_back(*parse_ip("fd00:2::100"));
    return all;
  }

  Addresses addresses() const {
    Addresses all{.version = 1, .addresses = {}, .members = {}, .key = "a key"};
    std::uint64_t id = 1;
    for (const IpAddress& ip : ips()) {
      all.addresses.push_back({.id = id,
                               .name_space = "shop",
                               .name = "vip-" + std::to_string(id),
                               .address = ip,
                               .prefix_length = static_cast<std::uint8_t>(ip.is_v4() ? 120 : 64),
                               .interface = {},
                               .node_selector = {}});
      ++id;
    }
    int number = 1;
    for (const char* const name : kNodes) {
      all.members.push_back({name, {*parse_ip("192.0.2." + std::to_string(number++)), kPort}});
    }
    return all;
  }

  /// Of a node that serves every address.
  HolderOptions options(const std::string& name, Logger log = {}) const {
    return {.name = name,
            .labels = {},
            .listen = {*parse_ip("0.0.0.0"), kPort},
            .state_file = directory_ + "/" + name,
            .bird_directory = {},
            .log = std::move(log),
            .drain_timeout = std::chrono::seconds(60),
            .served =
                [all = ips()] {
                  std::vector<ServedAddress> served;
                  for (const IpAddress& ip : all) served.push_back({false, ip, Serves::kFull});
                  return served;
                },
            .moved = {}};
  }
};

}  // namespace edge::agent::vip
