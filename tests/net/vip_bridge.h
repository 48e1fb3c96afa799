// Three nodes and a client on one bridge, each in a network namespace of its own, which a test makes and takes away.
// Skipped where the right to make namespaces, or `ip`, is missing.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "agent/vip/addresses.h"
#include "net/socket.h"

namespace edge::agent::vip {

inline constexpr std::uint16_t kPort = 9095;
inline constexpr std::uint16_t kWeb = 8080;

inline bool run(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }

inline std::string output(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), size);
  ::pclose(pipe);
  return text;
}

/// Waits for what comes by itself; far longer than it takes.
inline bool await(const std::function<bool()>& there) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!there()) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

class VipBridge : public testing::Test {
 protected:
  static constexpr std::array kNodes = {"a", "b", "c"};

  void SetUp() override {
    if (!run("ip netns add " + space("switch"))) GTEST_SKIP() << "needs ip, and the right to make network namespaces";
    ASSERT_TRUE(run("ip -n " + space("switch") + " link add bridge type bridge"));
    ASSERT_TRUE(run("ip -n " + space("switch") + " link set bridge up"));
    int number = 1;
    for (const char* const name : {"a", "b", "c", "client"}) attach(name, number++);
    std::string pattern = testing::TempDir() + "/vip-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }

  void TearDown() override {
    for (const char* const name : {"a", "b", "c", "client", "switch"}) run("ip netns del " + space(name));
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  static std::string space(const std::string& name) { return "edge-vip-" + std::to_string(::getpid()) + "-" + name; }

  void attach(const std::string& name, int number) {
    const std::string own = space(name);
    const std::string last = std::to_string(number);
    ASSERT_TRUE(run("ip netns add " + own));
    ASSERT_TRUE(run("ip -n " + space("switch") + " link add port-" + name + " type veth peer name eth0 netns " + own));
    ASSERT_TRUE(run("ip -n " + space("switch") + " link set port-" + name + " master bridge up"));
    ASSERT_TRUE(run("ip -n " + own + " link set lo up"));
    ASSERT_TRUE(run("ip -n " + own + " link set eth0 up"));
    ASSERT_TRUE(run("ip -n " + own + " addr add 192.0.2." + last + "/24 dev eth0"));
    has_v6_ = run("ip -n " + own + " addr add fd00:2::" + last + "/64 dev eth0 nodad");
  }

  /// Runs `work` in a namespace; threads that it makes are there, too.
  static void in(const std::string& name, const std::function<void()>& work) {
    std::thread([&] {
      const net::Fd fd(::open(("/var/run/netns/" + space(name)).c_str(), O_RDONLY | O_CLOEXEC));
      ASSERT_EQ(::setns(fd.get(), CLONE_NEWNET), 0);
      work();
    }).join();
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

  bool has_address(const std::string& name, const std::string& ip) const {
    return output("ip -n " + space(name) + " -o addr show dev eth0").find(" " + ip + "/") != std::string::npos;
  }

  std::string directory_;
  bool has_v6_ = false;
};

}  // namespace edge::agent::vip
