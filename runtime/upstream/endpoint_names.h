// Names that stand for endpoints, and the addresses behind them: looked up on a thread of their own, never for a
// request, and again when the lifetime of an answer ends. What is found takes the place of the names, so that health,
// ejection, balancing and sessions go by addresses as everywhere: an address that stays keeps what is known of it.
//
//   program::EndpointSet -> EndpointNames -> Backends
//                              ^
//                        net::client::NameQueries
//
// A name that was answered keeps its last addresses while name servers have no answer, for however long. That it has no
// address any more is believed when servers have said so several times in a row.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/ip.h"
#include "net/client/name_queries.h"
#include "program/values/endpoints.h"
#include "runtime/upstream/backends.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::runtime {

struct EndpointNameOptions {
  /// Bounds of an answer's lifetime. What /etc/hosts says has none, and is looked up again after the least.
  std::chrono::milliseconds keep_least = std::chrono::seconds(1);
  std::chrono::milliseconds keep_most = std::chrono::minutes(5);
  /// Pause after the first failure; twice as long after each further one, up to the longest.
  std::chrono::milliseconds first_pause = std::chrono::seconds(1);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(30);
  unsigned denials = 3;              ///< answers in a row that say that there is no address, until it is believed
  std::size_t max_names = 1024;      ///< that are looked up, of all backends
  std::size_t max_addresses = 64;    ///< of one name
  std::size_t max_endpoints = 1024;  ///< of one backend
  std::size_t max_asking = 64;       ///< names at one time
  /// Addresses that are left out, whatever name leads there.
  std::vector<Cidr> denied{};
  net::client::NameQueryOptions queries{};
};

/// Any thread may call, but set() one at a time.
class EndpointNames {
 public:
  /// `answered` is called after answers, on a thread of its own; `changed`: whether `backends` has other endpoints now.
  /// It must not wait for a thread that calls set().
  EndpointNames(EndpointNameOptions options, Backends& backends, std::function<void(bool changed)> answered);
  ~EndpointNames();
  EndpointNames(const EndpointNames&) = delete;
  EndpointNames& operator=(const EndpointNames&) = delete;

  /// Gives `backends` these endpoints, and what is known of the names among them. A backend with a name that was never
  /// answered keeps the endpoints that it had beside its new ones until there is an answer.
  void set(std::shared_ptr<const program::EndpointSet> endpoints);
  /// Waits until every name has had an answer, or has none. \returns whether it is so in time.
  bool wait_for_answers(std::chrono::milliseconds patience) const;
  /// Fills `names` of each.
  void add_to(std::vector<BackendStatus>& backends) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::runtime
