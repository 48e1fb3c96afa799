// A line between a site and its hub: TCP connections whose bytes come late, at a bounded rate, and are counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace edge::test {

struct LineQuality {
  std::chrono::nanoseconds delay{0};  ///< each way
  std::uint64_t rate = 0;             ///< bits a second each way; 0: no limit
};

class SlowLine {
 public:
  /// Listens on a port of 127.0.0.1 that the system chooses, and connects to `port` there for every connection.
  SlowLine(std::uint16_t port, LineQuality quality);
  ~SlowLine();
  SlowLine(const SlowLine&) = delete;
  SlowLine& operator=(const SlowLine&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Bytes that came from the hub, and that went there.
  std::uint64_t down() const { return down_; }
  std::uint64_t up() const { return up_; }
  /// Ends every connection, and refuses others until `mend`.
  void cut() { cut_ = true; }
  void mend() { cut_ = false; }

 private:
  void run();

  const std::uint16_t to_;
  const LineQuality quality_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<std::uint64_t> down_ = 0;
  std::atomic<std::uint64_t> up_ = 0;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace edge::test
