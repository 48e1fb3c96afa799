// Chooses the endpoint for a request: ProxyBackend's lbPolicy. One balancer per thread; "least" and "in flight" refer
// to the requests of all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/clock.h"
#include "program/format/format.h"
#include "runtime/upstream/balance/consistent_hash.h"
#include "runtime/upstream/endpoint.h"

namespace edge::runtime {

class Balancer {
 public:
  using Endpoints = std::span<const std::shared_ptr<UpstreamEndpoint>>;

  /// `start` differs between threads, so that they do not choose in lockstep.
  explicit Balancer(std::uint64_t start) : cursor_(static_cast<std::uint32_t>(start >> 32)), random_(start) {}

  /// Prepares for a policy and the changed endpoints. `slow_start`: how long an endpoint that is added to others gets
  /// less than its share; 0: never.
  void prepare(program::Balance policy, Endpoints endpoints, net::Duration slow_start = {});
  /// Returns the index of the endpoint for a request; there must be one. `key` is the hash of the request's affinity
  /// key, used by the keyed policies only. Cost: constant, and linear in the endpoints for LeastConn.
  std::size_t pick(Endpoints endpoints, std::uint64_t key, net::Time now);

  /// Returns an endpoint other than the one at `but`, if there is one: for a retry.
  std::size_t other(Endpoints endpoints, std::size_t but);

  /// Returns whether equal keys go to equal endpoints.
  bool keyed() const { return policy_ == program::Balance::kRingHash || policy_ == program::Balance::kMaglev; }
  /// Returns whether the policy needs requests in flight and response times: they are measured only then.
  bool weighs_load() const {
    return policy_ == program::Balance::kLeastConn || policy_ == program::Balance::kP2c ||
           policy_ == program::Balance::kEwma;
  }

 private:
  /// The algorithm: policies have a second one for endpoints with different weights.
  enum class Method : std::uint8_t {
    kTurns,
    kLeastLoaded,
    kLessLoaded,
    kLessWait,
    kRandom,
    kByKey,
    kWeightedTurns,
    kWeightedLeastLoaded,
    kWeightedLessLoaded,
    kWeightedLessWait,
    kWeightedRandom,
  };

  std::uint64_t next_random();
  void set_method(Endpoints endpoints);
  std::size_t random_of_all(std::uint32_t random, Endpoints endpoints) const;
  std::size_t choose(Endpoints endpoints, std::uint64_t key, net::Time now);
  std::size_t spare_the_cold(Endpoints endpoints, std::size_t chosen, std::uint64_t key, net::Time now);
  std::size_t least_loaded(Endpoints endpoints);
  std::size_t weighted_least_loaded(Endpoints endpoints);
  template <typename Cost>
  std::size_t better_of_two(Endpoints endpoints, Cost cost);
  template <typename Cost>
  std::size_t weighted_better_of_two(Endpoints endpoints, Cost cost);

  program::Balance policy_ = program::Balance::kRoundRobin;
  Method method_ = Method::kTurns;
  std::uint32_t cursor_;
  std::uint64_t random_;
  ConsistentHash by_key_;
  /// For different weights: indices of endpoints, each as often as its weight, evenly spread.
  std::vector<std::uint32_t> turns_;
  net::Duration slow_start_{};
  /// The end of the last slow start.
  net::Time cold_until_{};
};

}  // namespace edge::runtime
