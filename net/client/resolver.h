// Resolves names to addresses, with a cache by the servers' TTL (RFC 1035 §3.2.1); concurrent requests for one name
// share a query.
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
  /// Bounds of the TTL. Entries of /etc/hosts have none, and are cached for the least.
  std::chrono::seconds keep_least = std::chrono::seconds(5);
  std::chrono::seconds keep_most = std::chrono::minutes(5);
  std::chrono::seconds keep_failure = std::chrono::seconds(5);
  /// How long an expired answer is used while it is being refreshed, or when that fails.
  std::chrono::seconds keep_stale = std::chrono::minutes(10);
  std::size_t max_names = 1024;   ///< cached
  std::size_t max_waiting = 128;  ///< limit of names being resolved; further ones fail at once
  std::size_t max_addresses = 8;  ///< limit per name
  NameQueryOptions queries{};
};

/// One per process. Its thread starts with the first name that is not an address.
class Resolver {
 public:
  struct Found {
    /// Never empty without an error.
    std::vector<IpAddress> addresses{};
    std::string error{};
    bool cancelled = false;
  };

  explicit Resolver(ResolverOptions options = {});
  /// Cancels pending queries. No caller may be waiting.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Resolves a host; on the thread of `loop`; at once where the answer is cached. `host`: as in Url.
  Task<Found> resolve(Loop& loop, Waiter& waiter, const std::string& host, Time until);

 private:
  struct State;
  struct Waiting;
  Task<Found> wait(std::string host, std::shared_ptr<Waiting> waiting, Time until);

  std::unique_ptr<State> state_;
};

}  // namespace edge::net::client
