// A client that sends its requests as its plan says, right or wrong, and looks at every answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/faults/plan.h"
#include "tests/support/connection.h"

namespace edge::test {

class FaultyClient {
 public:
  FaultyClient(std::uint16_t port, const ClientPlan& plan, Deadline deadline)
      : port_(port), plan_(plan), deadline_(deadline) {}

  /// Plays the plan to its end. Empty: each request was answered with what is its own, or its connection ended.
  std::string run();
  /// Those on which an answer came whole.
  std::uint64_t connections() const { return connections_; }
  /// Answers that came whole.
  std::uint64_t answers() const { return answers_; }

 private:
  enum class After { kNext, kClosed };

  /// On one connection from request `first` on. \returns the first that is not served.
  std::size_t play(std::size_t first);
  /// \returns false when the connection is over by what the client did.
  bool send(Connection& connection, const RequestPlan& request);
  After receive(Connection& connection, const RequestPlan& request);
  After check_body(Connection& connection, const RequestPlan& request, const Message& head);
  void fail(const RequestPlan& request, const std::string& what);

  std::uint16_t port_;
  const ClientPlan& plan_;
  Deadline deadline_;
  std::string failure_;
  /// Open until the client goes: the proxy has to give them up by itself.
  std::vector<std::unique_ptr<Connection>> unread_;
  std::uint64_t connections_ = 0;
  std::uint64_t answers_ = 0;
};

}  // namespace edge::test
