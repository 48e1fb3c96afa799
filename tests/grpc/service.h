// A server of gRPC with methods for every kind of call. Messages are plain text: no code is generated for them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace edge::test {

/// /test.Calls/Echo   each message back as it comes: unary and bidirectional
/// /test.Calls/Count  the messages `1` to `N`, for the message `N`
/// /test.Calls/Sum    one message: the sum of all numbers that came
/// /test.Calls/Fail   status ABORTED, with metadata behind it
/// /test.Calls/Hang   nothing, until the caller gives up
/// Other methods are UNIMPLEMENTED.
class CallService {
 public:
  struct Options {
    /// Milliseconds after which connections are told to go away; 0: never.
    int max_connection_age = 0;
    int max_concurrent_streams = 0;
    /// It answers health checks.
    bool health = false;
  };

  CallService() : CallService(Options{}) {}
  explicit CallService(const Options& options);
  ~CallService();
  CallService(const CallService&) = delete;
  CallService& operator=(const CallService&) = delete;

  std::uint16_t port() const;
  /// Waits until so many calls of Hang have begun, or were given up by their callers.
  void await_hanging(int count);
  void await_cancelled(int count);

  /// What health checks are told.
  void set_serving(bool serving);

  struct Counts {
    std::mutex mutex;
    std::condition_variable changed;
    int hanging = 0;
    int cancelled = 0;
  };

 private:
  struct Server;
  Counts counts_;
  std::unique_ptr<Server> server_;
};

}  // namespace edge::test
