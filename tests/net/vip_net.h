// Three agents' holders of virtual addresses on one bridge, and a client beside them.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "agent/vip/holder.h"
#include "base/log.h"
#include "net/socket.h"
#include "tests/net/vip_bridge.h"

namespace edge::agent::vip {

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
      if (before_start_) before_start_();
      auto started = Holder::start(options(name, log(name)));
      ASSERT_TRUE(started) << started.error().text;
      holders_[name] = std::move(*started);
      holders_[name]->set_addresses(addresses());
    });
  }

  Logger log(const std::string& name) {
    return Logger([this, name](LogLevel, const std::string& text, const LogFields&) {
      const std::lock_guard lock(lines_mutex_);
      lines_.push_back(name + ": " + text);
    });
  }

  /// How many lines of the log have it in them, each `NODE: TEXT`.
  std::size_t logged(const std::string& text) {
    const std::lock_guard lock(lines_mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(lines_, [&](const std::string& line) { return test::has(line, text); }));
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

  bool shows(const std::string& name, const std::string& line) const { return test::has(figures(name), line + "\n"); }

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

  std::function<void()> before_start_;  ///< done by the thread that starts a Holder, whose threads inherit from it
  std::map<std::string, std::unique_ptr<Holder>> holders_;
  std::vector<net::Fd> listeners_;
  std::mutex lines_mutex_;
  std::vector<std::string> lines_;
};

}  // namespace edge::agent::vip
