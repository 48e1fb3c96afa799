// A web site for a browser to be sent to: a page whose script speaks WebSocket with the site, and tells it how that
// went.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "tests/support/connection.h"

namespace edge::test {

/// `/` is the page, `/echo` sends each frame back, `/done?...` is where the page reports. Reads WebSocket by plain
/// means (RFC 6455), and offers none of its extensions.
class EchoSite {
 public:
  EchoSite();
  ~EchoSite();
  EchoSite(const EchoSite&) = delete;
  EchoSite& operator=(const EchoSite&) = delete;

  std::uint16_t port() const { return port_; }
  /// What the page reported; empty when it did not within `time`.
  std::string report(std::chrono::seconds time);
  /// The Via field of the request that asked for WebSocket.
  std::string via();

 private:
  void accept_all();
  void serve(int fd);
  Status answer(Connection& connection, const Message& head);
  static Status echo(Connection& connection, const Message& head);

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  std::condition_variable reported_;
  std::string report_;
  std::string via_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace edge::test
