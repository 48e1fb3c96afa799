// Two clusters in one process, each a runtime of its own: `hub` serves clients and calls `berlin`, whose gateway for
// clusters leads to a Service. Between them is mutual TLS over the loopback address, as between agents.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/socket.h"
#include "runtime/session/server.h"
#include "tests/support/certificates.h"
#include "tests/support/connection.h"

namespace edge::test {

/// A server of bytes on a port of its own: `serve` runs on a thread for each connection, and the connection is closed
/// at its end.
class ByteServer {
 public:
  using Serve = std::function<void(Connection&)>;
  explicit ByteServer(Serve serve);
  ~ByteServer();
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Connections so far, and those that are open.
  int taken() const { return taken_; }
  int open() const { return open_; }

 private:
  void run();

  Serve serve_;
  net::Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<int> taken_{0};
  std::atomic<int> open_{0};
  std::thread thread_;
  std::vector<std::thread> served_;
};

class TwoClusters {
 public:
  /// Berlin exports the Service `default/api` with the port 80, whose endpoint is at `port`. `app_protocol`: of that
  /// port; empty: none.
  explicit TwoClusters(std::uint16_t port, const std::string& app_protocol = {});
  ~TwoClusters();

  /// Installs a configuration at the hub; ${berlin} is the port of berlin's gateway.
  void serve(std::string config);
  /// The clusters that `who` believes from now on: names.
  void believe(runtime::Server& who, const std::vector<std::string>& names);
  /// The port of the hub's listener of this name.
  std::uint16_t port(const std::string& listener) const;

  /// The port of berlin's gateway.
  std::uint16_t gateway() const { return gateway_; }

  runtime::Server& hub() { return *hub_; }
  runtime::Server& berlin() { return *berlin_; }
  /// Ends berlin's runtime, as a process does that is stopped.
  void stop_berlin() { berlin_.reset(); }

 private:
  void give_secrets(runtime::Server& who, const IssuedCertificate& own, const std::vector<std::string>& names);

  TestAuthority authority_;
  IssuedCertificate of_hub_;
  IssuedCertificate of_berlin_;
  std::unique_ptr<runtime::Server> hub_;
  std::unique_ptr<runtime::Server> berlin_;
  std::uint16_t gateway_ = 0;
};

/// Looks again until it is so, for a minute.
bool becomes(const std::function<bool()>& condition);

}  // namespace edge::test
