// Names to addresses, by name_queries.h. Answers are kept for the lifetime that the name server gives them
// (RFC 1035 §3.2.1); each name is asked for once at a time whoever wants it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"
#include "net/client/name_queries.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::net::client {

struct ResolverOptions {
  /// Bounds of an answer's lifetime. What /etc/hosts says has none, and is kept for the least.
  std::chrono::seconds keep_least = std::chrono::seconds(5);
  std::chrono::seconds keep_most = std::chrono::minutes(5);
  std::chrono::seconds keep_failure = std::chrono::seconds(5);
  /// For how long an answer that is over still serves while it is asked for anew, or when that fails.
  std::chrono::seconds keep_stale = std::chrono::minutes(10);
  std::size_t max_names = 1024;   ///< kept
  std::size_t max_waiting = 128;  ///< names that are asked for; further ones fail at once
  std::size_t max_addresses = 8;  ///< of one name
  NameQueryOptions queries{};
};

/// One a process. Its thread starts with the first name that is no address.
class Resolver {
 public:
  struct Found {
    /// Never empty without an error.
    std::vector<IpAddress> addresses{};
    std::string error{};
    bool cancelled = false;
  };

  explicit Resolver(ResolverOptions options = {});
  /// Cancels what is asked for. Nobody may be waiting.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// On the thread of `loop`; at once where the answer is here. `host`: as Url has it.
  Task<Found> resolve(Loop& loop, Waiter& waiter, const std::string& host, Time until);

 private:
  struct State;
  struct Waiting;
  Task<Found> wait(std::string host, std::shared_ptr<Waiting> waiting, Time until);

  std::unique_ptr<State> state_;
};

}  // namespace edge::net::client
