// A server of key sets for tests: answers every request with what it is told to, one after another, on a port of its
// own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/connection.h"

namespace edge::test {

class KeyServer {
 public:
  KeyServer();
  ~KeyServer();
  KeyServer(const KeyServer&) = delete;
  KeyServer& operator=(const KeyServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/jwks"; }
  void answer(std::string body, int status = 200);
  /// Requests get no answer until it is released.
  void hold();
  void release();
  int requests() const { return requests_; }

 private:
  void serve();

  std::atomic<bool> over_{false};
  Deadline deadline_;
  int listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string body_;
  int status_ = 200;
  bool held_ = false;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

}  // namespace edge::test
