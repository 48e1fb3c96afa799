// Questions to name servers by c-ares, on a thread of its own: /etc/hosts, then the name servers and search lists of
// /etc/resolv.conf. It keeps no answer: who asks does (resolver.h, runtime/upstream/endpoint_names.h).
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
  /// For how long a name server is waited for the first time, and how often each is asked; each time twice as long.
  std::chrono::milliseconds patience = std::chrono::seconds(2);
  int tries = 3;
  /// Read again for the next question after it has changed.
  std::string configuration = "/etc/resolv.conf";
  /// `address:port` of name servers, separated by commas, in place of those of `configuration`.
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
    kNothing,  ///< a server says that there is no such name, or no record of this type
    kFailed,   ///< no server has an answer
  };
  Outcome outcome = Outcome::kFailed;
  std::vector<IpAddress> addresses{};    ///< without doubles, in the order of RFC 6724
  std::vector<ServiceTarget> targets{};  ///< of a question for services
  /// The least of all records on the way. What /etc/hosts says has none: 0.
  std::chrono::seconds lifetime{};
  std::string error{};  ///< unless found
};

class NameQueries {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Done = std::function<void(NameAnswer)>;

  /// `work` is called on the thread, with no lock held: when it was woken, after answers, and when the time has come
  /// that it returned. It may ask.
  NameQueries(NameQueryOptions options, std::function<Time()> work);
  /// Forgets what is asked for: no `done` is called any more.
  ~NameQueries();
  NameQueries(const NameQueries&) = delete;
  NameQueries& operator=(const NameQueries&) = delete;

  /// From any thread, one at a time: begins the thread where there is none yet. \returns false when no descriptor is
  /// left.
  bool start();
  /// From any thread, after start().
  void wake() const;

  /// On the thread, where `done` is called too: not before `ask` has returned.
  void ask_addresses(std::string host, Done done);
  /// The same for the SRV records of a name such as `_http._tcp.example.org`.
  void ask_services(std::string name, Done done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::net::client
