// Which endpoint of a backend takes a request: ProxyBackend's lbPolicy. One of a thread; what "least" and "in flight"
// mean is counted over all of them.
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

  /// `start` differs from thread to thread, so that they do not march in step.
  explicit Balancer(std::uint64_t start) : cursor_(static_cast<std::uint32_t>(start >> 32)), random_(start) {}

  /// After one of them has changed. `slow_start`: how long an endpoint that came into use beside others takes less than
  /// its share; 0: never.
  void prepare(program::Balance policy, Endpoints endpoints, net::Duration slow_start = {});
  /// Index of the endpoint that takes a request; there must be one. `key` is the hash of what a request is kept
  /// together by, asked for by the keyed policies alone. Cost: constant, and linear in the endpoints for LeastConn.
  std::size_t pick(Endpoints endpoints, std::uint64_t key, net::Time now);

  /// Another than that at `but`, where there is one: for a second try.
  std::size_t other(Endpoints endpoints, std::size_t but);

  /// Whether equal keys go to equal endpoints.
  bool keyed() const { return policy_ == program::Balance::kRingHash || policy_ == program::Balance::kMaglev; }
  /// Whether it asks what endpoints have in flight and how fast they answer: counted only then.
  bool weighs_load() const {
    return policy_ == program::Balance::kLeastConn || policy_ == program::Balance::kP2c ||
           policy_ == program::Balance::kEwma;
  }

 private:
  /// What is done for a policy: one step more where endpoints have weights that differ.
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
  /// Where weights differ: indices of endpoints, each as often as its weight says, spread evenly.
  std::vector<std::uint32_t> turns_;
  net::Duration slow_start_{};
  /// Until then some endpoint is in its slow start.
  net::Time cold_until_{};
};

}  // namespace edge::runtime
