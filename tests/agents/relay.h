// A link between an agent and its controller that can stall: connections stay open, and nothing moves any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace edge::test {

class Relay {
 public:
  /// Listens on `at`, a port of 127.0.0.1 (0: one that the system chooses), and connects to `port` there for every
  /// connection.
  explicit Relay(std::uint16_t port, std::uint16_t at = 0);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void stall() { stalled_ = true; }

 private:
  void run();

  const std::uint16_t to_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace edge::test
