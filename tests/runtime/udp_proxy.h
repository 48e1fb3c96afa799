// A proxy that serves UDP, its clients and its endpoints, on real sockets of the loopback address.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "net/datagrams.h"
#include "net/socket.h"
#include "tests/support/proxy.h"

namespace edge::test {

using net::Fd;
using net::SocketAddress;

inline constexpr int kPatienceMilliseconds = 20'000;

inline IpAddress loopback() { return *parse_ip("127.0.0.1"); }
inline Fd socket_of(Result<Fd> opened) { return opened.ok() ? std::move(*opened) : Fd(); }

inline bool readable(int fd, int milliseconds = kPatienceMilliseconds) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, milliseconds) == 1 && (wait.revents & POLLIN) != 0;
}

/// A client's socket, from a port of its own.
class Client {
 public:
  explicit Client(std::uint16_t proxy, const IpAddress& at = loopback())
      : socket_(socket_of(net::connect_udp({at, proxy}))) {}

  bool send(std::string_view text) const {
    return ::send(socket_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  }
  /// `?` when nothing comes.
  std::string receive() const {
    std::string text(70'000, '\0');
    if (!readable(socket_.get())) return "?";
    const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }
  std::string ask(std::string_view text) const { return send(text) ? receive() : "?"; }
  /// Until it is answered, as one does whose datagrams may be lost.
  std::string insist(std::string_view text) const {
    for (int tries = 0; tries < 100; ++tries) {
      if (send(text) && readable(socket_.get(), 200)) return receive();
    }
    return "?";
  }
  int fd() const { return socket_.get(); }

 private:
  Fd socket_;
};

/// An endpoint that answers each datagram with its own name and the datagram; `port` with the port that it came from,
/// one that begins with `many ` as often as it says, and none that begins with `quiet`.
class Echo {
 public:
  explicit Echo(std::string name, std::uint16_t port = 0)
      : name_(std::move(name)), socket_(socket_of(net::listen_udp(loopback(), port))) {
    port_ = net::local_address(socket_.get()).port;
    thread_ = std::thread([this] { run(); });
  }
  ~Echo() {
    stopped_ = true;
    thread_.join();
  }
  std::uint16_t port() const { return port_; }
  std::uint64_t met() const { return met_; }

 private:
  void run() {
    std::string text(70'000, '\0');
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    bool feeds = false;
    while (!stopped_) {
      if (!readable(socket_.get(), 20)) {
        if (feeds) ::sendto(socket_.get(), "feed", 4, 0, reinterpret_cast<const sockaddr*>(&peer), size);
        continue;
      }
      size = sizeof peer;
      const ssize_t got =
          ::recvfrom(socket_.get(), text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&peer), &size);
      if (got < 0) continue;
      ++met_;
      const std::string_view asked(text.data(), static_cast<std::size_t>(got));
      if (asked.starts_with("quiet")) continue;
      feeds = asked == "feed";
      const int times = asked.starts_with("many ") ? std::atoi(std::string(asked.substr(5)).c_str()) : 1;
      const std::string from = std::to_string(ntohs(reinterpret_cast<const sockaddr_in&>(peer).sin_port));
      const std::string answer = name_ + ":" + (asked == "port" ? from : std::string(asked));
      for (int i = 0; i < times; ++i) {
        ::sendto(socket_.get(), answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&peer), size);
      }
    }
  }

  std::string name_;
  Fd socket_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> met_{0};
  std::thread thread_;
};

class Udp : public testing::Test {
 protected:
  void start(unsigned threads = 2, std::uint32_t most_sessions = 16'384, bool own_port = true) {
    runtime::ServerOptions options;
    options.threads = threads;
    options.max_udp_sessions = most_sessions;
    options.ephemeral_ports = own_port;
    auto started = runtime::Server::start(options);
    ASSERT_TRUE(started.ok());
    server = std::move(*started);
  }

  static std::string endpoints_of(const std::vector<std::uint16_t>& ports) {
    std::string list;
    for (const std::uint16_t port : ports) {
      list += (list.empty() ? "" : ", ") + ("{address: '127.0.0.1:" + std::to_string(port) + "'}");
    }
    return "endpoints: [" + list + "]";
  }
  static std::string backend(const std::string& name, const std::vector<std::uint16_t>& ports,
                             const std::string& more = {}) {
    return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
           "}\nspec: {protocol: UDP, " + endpoints_of(ports) + (more.empty() ? "" : ", " + more) + "}\n";
  }
  static std::string route(const std::string& rule) {
    return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: "
           "g}], rules: [{" +
           rule + "}]}\n";
  }
  static std::string gateway(const std::string& more = {}) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
           "port: 53, protocol: UDP}]" +
           (more.empty() ? "" : ", " + more) + "}\n";
  }
  void serve(const std::string& config) {
    const auto compiled = compile_text("test", config);
    ASSERT_TRUE(compiled.ok()) << compiled.error().text << config;
    server->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server->install(compiled->program).ok());
  }
  std::uint16_t port() const { return server->addresses().at(0).port; }
  std::uint64_t dropped(std::size_t why) const { return server->stats().udp_drops.at(why); }
  /// Looks again until it is so.
  template <typename Condition>
  static bool becomes(Condition condition) {
    for (int tries = 0; tries < 4000; ++tries) {
      if (condition()) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }

  std::unique_ptr<runtime::Server> server;
};

}  // namespace edge::test
