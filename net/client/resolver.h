// Names to addresses, away from the loops: getaddrinfo on threads of its own, answers kept for a short time, each name
// asked for once at a time whoever wants it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::net::client {

struct ResolverOptions {
  /// getaddrinfo tells no lifetime (RFC 1035 §3.2.1), so it is a short one.
  std::chrono::seconds keep = std::chrono::seconds(30);
  std::chrono::seconds keep_failure = std::chrono::seconds(5);
  /// For how long an answer that is over still serves while it is asked for anew, or when that fails.
  std::chrono::seconds keep_stale = std::chrono::minutes(10);
  std::size_t max_names = 1024;   ///< kept
  std::size_t max_waiting = 128;  ///< names that wait for a thread; further ones fail at once
  std::size_t max_addresses = 8;  ///< of one name
  unsigned threads = 2;           ///< a name that hangs delays others no longer than both do
  /// How long the resolver's end waits for what getaddrinfo is at: that cannot be broken off.
  std::chrono::milliseconds patience_at_end = std::chrono::seconds(2);
  /// Asked in place of getaddrinfo; for tests. May block, is called on the resolver's threads.
  std::function<Result<std::vector<IpAddress>>(const std::string& host)> lookup{};
};

/// One a process. Threads start with the first name that is no address.
class Resolver {
 public:
  struct Found {
    /// Never empty without an error.
    std::vector<IpAddress> addresses{};
    std::string error{};
    bool cancelled = false;
  };

  explicit Resolver(ResolverOptions options = {});
  /// Waits for what getaddrinfo is at, but not for long: a thread that is still at it then ends by itself. Nobody may
  /// be waiting.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// On the thread of `loop`; at once where the answer is here. `host`: as Url has it.
  Task<Found> resolve(Loop& loop, Waiter& waiter, const std::string& host, Time until);

 private:
  struct State;
  struct Waiting;
  Task<Found> wait(std::string host, std::shared_ptr<Waiting> waiting, Time until);

  std::shared_ptr<State> state_;
};

}  // namespace edge::net::client
