// Resolves the names of endpoints: on a thread of its own, never during a request, and again when the TTL of an answer
// expires. The addresses replace the names, so that health checks, ejection, balancing and sessions work by address as
// for other endpoints: an address that stays keeps its state.
//
//   program::EndpointSet -> EndpointNames -> Backends
//                              ^
//                        net::client::NameQueries
//
// A resolved name keeps its last addresses while name servers do not answer, without a time limit. It loses them when
// servers have said several times in a row that the name has none.
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
  /// Bounds of the TTL. Entries of /etc/hosts have none, and are read again after keep_least.
  std::chrono::milliseconds keep_least = std::chrono::seconds(1);
  std::chrono::milliseconds keep_most = std::chrono::minutes(5);
  /// Pause after the first failure; doubled after each further one, up to the longest.
  std::chrono::milliseconds first_pause = std::chrono::seconds(1);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(30);
  unsigned denials = 3;              ///< consecutive answers without an address until the addresses are dropped
  std::size_t max_names = 1024;      ///< limit of names resolved, of all backends
  std::size_t max_addresses = 64;    ///< limit per name
  std::size_t max_endpoints = 1024;  ///< limit per backend
  std::size_t max_asking = 64;       ///< limit of concurrent lookups
  /// Addresses that are dropped from answers, whatever the name.
  std::vector<Cidr> denied{};
  net::client::NameQueryOptions queries{};
};

/// Threads: any, but set() one at a time.
class EndpointNames {
 public:
  /// `answered` is called after answers, on a thread of its own; `changed`: whether endpoints of `backends` have
  /// changed. It must not wait for a thread that calls set().
  EndpointNames(EndpointNameOptions options, Backends& backends, std::function<void(bool changed)> answered);
  ~EndpointNames();
  EndpointNames(const EndpointNames&) = delete;
  EndpointNames& operator=(const EndpointNames&) = delete;

  /// Sets the endpoints of `backends`, with the names among them resolved as far as they are known. A backend with a
  /// name that was never resolved keeps its earlier endpoints in addition to the new ones until there is an answer.
  void set(std::shared_ptr<const program::EndpointSet> endpoints);
  /// Waits until every name has been resolved or has failed. \returns whether that happened in time.
  bool wait_for_answers(std::chrono::milliseconds patience) const;
  /// Fills in `names` of each.
  void add_to(std::vector<BackendStatus>& backends) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::runtime
