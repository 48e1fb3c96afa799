// A backend that answers each request as its plan says (`X-Plan`), right or wrong, and looks at what reaches it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/plan.h"
#include "tests/support/connection.h"

namespace edge::test {

class FaultyUpstream {
 public:
  FaultyUpstream();
  ~FaultyUpstream();

  std::uint16_t port() const { return port_; }
  std::uint64_t requests() const { return requests_; }
  /// What came that no client had sent so; empty: nothing.
  std::string failure() const;

 private:
  void accept_all();
  void serve(int fd);
  /// \returns whether the connection goes on.
  bool answer(Connection& connection, const Message& head);
  bool respond(Connection& connection, const RequestPlan& plan);
  void fail(const std::string& what);

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint64_t> requests_ = 0;
  mutable std::mutex mutex_;
  std::string failure_;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace edge::test
