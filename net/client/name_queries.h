// DNS queries by c-ares, on a thread of its own: /etc/hosts, then the name servers and search lists of
// /etc/resolv.conf. Not a cache: callers cache (resolver.h, runtime/upstream/endpoint_names.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ip.h"

namespace edge::net::client {

struct NameQueryOptions {
  /// The first timeout of a name server, and the number of tries per server; the timeout doubles with each.
  std::chrono::milliseconds patience = std::chrono::seconds(2);
  int tries = 3;
  /// Read again for the next query after it has changed.
  std::string configuration = "/etc/resolv.conf";
  /// `address:port` of name servers, separated by commas, replacing those of `configuration`.
  std::string servers{};
};

/// A record of type SRV (RFC 2782).
struct ServiceTarget {
  std::string host;
  std::uint16_t port = 0;
  std::uint16_t priority = 0;
  std::uint16_t weight = 0;
  friend bool operator==(const ServiceTarget&, const ServiceTarget&) = default;
};

struct NameAnswer {
  enum class Outcome : std::uint8_t {
    kFound,
    kNothing,  ///< a server says that the name does not exist, or has no record of this type
    kFailed,   ///< no server answered
  };
  Outcome outcome = Outcome::kFailed;
  std::vector<IpAddress> addresses{};    ///< without duplicates, in the order of RFC 6724
  std::vector<ServiceTarget> targets{};  ///< of a query for services
  /// The least TTL of all records involved. Entries of /etc/hosts have none: 0.
  std::chrono::seconds lifetime{};
  std::string error{};  ///< set unless found
};

class NameQueries {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Done = std::function<void(NameAnswer)>;

  /// `work` is called on the thread, without a lock held: when it was woken, after answers, and at the time that it
  /// returned. It may start queries.
  NameQueries(NameQueryOptions options, std::function<Time()> work);
  /// Drops pending queries: their `done` is not called.
  ~NameQueries();
  NameQueries(const NameQueries&) = delete;
  NameQueries& operator=(const NameQueries&) = delete;

  /// Starts the thread if there is none yet. Any thread, one at a time. \returns false when the process is out of
  /// descriptors.
  bool start();
  /// Any thread, after start().
  void wake() const;

  /// Starts a query; on the thread, where `done` is called after `ask_addresses` has returned.
  void ask_addresses(std::string host, Done done);
  /// The same for SRV records of a name such as `_http._tcp.example.org`.
  void ask_services(std::string name, Done done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::net::client
