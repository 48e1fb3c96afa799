#include "runtime/upstream/balance/balance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/hash.h"

namespace edge::runtime {
namespace {

using program::Balance;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Endpoints = std::vector<std::shared_ptr<UpstreamEndpoint>>;

net::SocketAddress address_of(unsigned n) {
  net::SocketAddress address{*parse_ip("10.0.0.1"), static_cast<std::uint16_t>(8000 + n)};
  address.address.bytes[14] = static_cast<std::uint8_t>(n >> 8);
  return address;
}

/// What the threads share of each address.
class EndpointTable {
 public:
  std::shared_ptr<EndpointState> of(const net::SocketAddress& address) {
    auto& state = states_[address.port];
    if (state == nullptr) state = std::make_shared<EndpointState>(address);
    return state;
  }

 private:
  std::map<std::uint16_t, std::shared_ptr<EndpointState>> states_;
};

std::uint64_t key_of(std::uint64_t n) { return hash_bytes(0, std::to_string(n)); }

Endpoints endpoints_of(unsigned count, EndpointTable& table, unsigned first = 0) {
  Endpoints endpoints;
  for (unsigned n = first; n < first + count; ++n) {
    endpoints.push_back(std::make_shared<UpstreamEndpoint>());
    endpoints.back()->address = address_of(n);
    endpoints.back()->state = table.of(endpoints.back()->address);
  }
  return endpoints;
}

/// Two threads with a balancer each serve requests that come at random; an endpoint serves one request at a time, the
/// first of them twenty times as slowly as the others. All by a clock of its own.
class Simulation {
 public:
  static constexpr unsigned kEndpoints = 10;
  static constexpr unsigned kThreads = 2;

  explicit Simulation(Balance policy) {
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      endpoints_.push_back(endpoints_of(kEndpoints, table_));
      balancers_.emplace_back(hash_mix(thread + 1, 0x9e3779b97f4a7c15));
      balancers_.back().prepare(policy, endpoints_.back());
    }
  }

  void run(int requests) {
    std::mt19937_64 random(42);
    std::exponential_distribution<double> gap(1.0 / 300);  // microseconds
    for (int n = 0; n < requests; ++n) {
      now_ += microseconds(static_cast<int>(gap(random)) + 1);
      finish_until(now_);
      start(static_cast<unsigned>(n) % kThreads);
    }
    finish_until(net::kNever);
  }

  net::Duration percentile(double p) {
    std::ranges::sort(took_);
    return took_[static_cast<std::size_t>(p * static_cast<double>(took_.size() - 1))];
  }
  const std::map<std::size_t, int>& taken() const { return taken_; }

 private:
  struct Running {
    net::Time end;
    net::Time begin;
    unsigned thread;
    std::size_t endpoint;
    bool operator>(const Running& other) const { return end > other.end; }
  };

  void start(unsigned thread) {
    const std::size_t chosen = balancers_[thread].pick(endpoints_[thread], 0, now_);
    ++taken_[chosen];
    endpoints_[thread][chosen]->state->in_flight.fetch_add(1);
    const net::Duration service = chosen == 0 ? net::Duration(milliseconds(20)) : net::Duration(milliseconds(1));
    free_at_[chosen] = std::max(free_at_[chosen], now_) + service;
    running_.push({free_at_[chosen], now_, thread, chosen});
  }
  void finish_until(net::Time until) {
    while (!running_.empty() && running_.top().end <= until) {
      const Running done = running_.top();
      running_.pop();
      UpstreamEndpoint& endpoint = *endpoints_[done.thread][done.endpoint];
      endpoint.state->in_flight.fetch_sub(1);
      endpoint.latency.observe(done.end - done.begin, done.end);
      took_.push_back(done.end - done.begin);
    }
  }

  EndpointTable table_;
  std::vector<Endpoints> endpoints_;
  std::vector<Balancer> balancers_;
  net::Time now_{std::chrono::hours(1)};
  std::map<std::size_t, net::Time> free_at_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::vector<net::Duration> took_;
  std::map<std::size_t, int> taken_;
};

TEST(Balance, OneSlowEndpointDoesNotMakeTheTail) {
  std::map<Balance, net::Duration> tail;
  for (const Balance policy : {Balance::kRoundRobin, Balance::kLeastConn, Balance::kP2c, Balance::kEwma}) {
    Simulation simulation(policy);
    simulation.run(20'000);
    tail[policy] = simulation.percentile(0.99);
    RecordProperty("p99_us_policy_" + std::to_string(static_cast<int>(policy)),
                   static_cast<int>(tail[policy] / microseconds(1)));
  }
  EXPECT_GT(tail[Balance::kRoundRobin], 5 * tail[Balance::kP2c]);
  EXPECT_GT(tail[Balance::kRoundRobin], 5 * tail[Balance::kEwma]);
  EXPECT_GT(tail[Balance::kRoundRobin], 5 * tail[Balance::kLeastConn]);
}

TEST(Balance, LeastConnIsLeastOverAllThreads) {
  EndpointTable table;
  const Endpoints mine = endpoints_of(4, table);
  const Endpoints theirs = endpoints_of(4, table);
  for (const std::size_t busy : {0u, 1u, 3u}) theirs[busy]->state->in_flight = 5;
  Balancer balancer(7);
  balancer.prepare(Balance::kLeastConn, mine);
  for (int n = 0; n < 5; ++n) {
    const std::size_t chosen = balancer.pick(mine, 0, {});
    EXPECT_EQ(chosen, 2u);
    mine[chosen]->state->in_flight.fetch_add(1);
  }
}

TEST(Balance, EqualEndpointsHaveEqualShares) {
  EndpointTable table;
  const Endpoints endpoints = endpoints_of(8, table);
  for (const Balance policy :
       {Balance::kRoundRobin, Balance::kLeastConn, Balance::kP2c, Balance::kEwma, Balance::kRandom}) {
    Balancer balancer(99);
    balancer.prepare(policy, endpoints);
    std::map<std::size_t, int> taken;
    for (int n = 0; n < 80'000; ++n) ++taken[balancer.pick(endpoints, 0, {})];
    for (const auto& [endpoint, count] : taken) {
      EXPECT_NEAR(count, 10'000, 600) << "endpoint " << endpoint << ", policy " << static_cast<int>(policy);
    }
  }
}

TEST(Balance, AFailureIsNotTakenForSpeed) {
  EndpointTable table;
  const Endpoints endpoints = endpoints_of(2, table);
  const net::Time now{std::chrono::hours(1)};
  endpoints[0]->latency.observe(seconds(5), now);
  endpoints[1]->latency.observe(milliseconds(2), now);
  Balancer balancer(3);
  balancer.prepare(Balance::kEwma, endpoints);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(balancer.pick(endpoints, 0, now), 1u);
}

TEST(Balance, WhatWasSlowOnceIsTriedAgain) {
  PeakLatency latency;
  const net::Time then{std::chrono::hours(1)};
  latency.observe(seconds(1), then);
  EXPECT_GE(latency.at(then), 9e8);
  EXPECT_LT(latency.at(then + std::chrono::minutes(5)), 5e7);
  latency.observe(milliseconds(1), then + seconds(1));
  EXPECT_GT(latency.at(then + seconds(1)), 5e8) << "good news is believed slowly";
}

TEST(Balance, AnEndpointInItsSlowStartTakesAGrowingPartOfItsShare) {
  for (const Balance policy : {Balance::kRoundRobin, Balance::kLeastConn, Balance::kP2c, Balance::kEwma,
                               Balance::kRandom, Balance::kRingHash, Balance::kMaglev}) {
    EndpointTable table;
    const Endpoints endpoints = endpoints_of(4, table);
    const net::Time begin{std::chrono::hours(1)};
    endpoints[1]->since = begin;
    Balancer balancer(7);
    balancer.prepare(policy, endpoints, seconds(100));
    const auto part = [&](seconds after) {
      int taken = 0;
      for (std::uint64_t n = 0; n < 20'000; ++n) {
        taken += balancer.pick(endpoints, key_of(n), begin + after) == 1 ? 1 : 0;
      }
      return taken / 5'000.0;
    };
    const double whole = part(seconds(100));
    EXPECT_NEAR(whole, 1, 0.3) << static_cast<int>(policy);
    EXPECT_GT(part(seconds(0)), 0) << "some, to warm up by";
    EXPECT_LT(part(seconds(0)), 0.2 * whole) << static_cast<int>(policy);
    EXPECT_LT(part(seconds(20)), part(seconds(60))) << static_cast<int>(policy);
    EXPECT_LT(part(seconds(60)), 0.9 * whole) << static_cast<int>(policy);
  }
}

TEST(Balance, SharesAreThoseOfTheWeights) {
  for (const Balance policy : {Balance::kRoundRobin, Balance::kLeastConn, Balance::kP2c, Balance::kEwma,
                               Balance::kRandom, Balance::kRingHash, Balance::kMaglev}) {
    EndpointTable table;
    const Endpoints endpoints = endpoints_of(4, table);
    endpoints[1]->weight = 2;
    endpoints[2]->weight = 5;
    Balancer balancer(7);
    balancer.prepare(policy, endpoints);
    std::map<std::size_t, int> taken;
    for (std::uint64_t n = 0; n < 90'000; ++n) ++taken[balancer.pick(endpoints, key_of(n), {})];
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      EXPECT_NEAR(taken[i], 10'000 * endpoints[i]->weight, 4'000 * endpoints[i]->weight)
          << i << " by policy " << static_cast<int>(policy);
    }
  }
}

TEST(Balance, WeightsAreSpreadEvenlyAndInProportionAtAnySize) {
  EndpointTable table;
  const Endpoints endpoints = endpoints_of(3, table);
  endpoints[0]->weight = 6;
  endpoints[1]->weight = 4;
  endpoints[2]->weight = 2;
  Balancer balancer(7);
  balancer.prepare(Balance::kRoundRobin, endpoints);
  for (int round = 0; round < 10; ++round) {
    std::map<std::size_t, int> taken;
    for (int n = 0; n < 6; ++n) ++taken[balancer.pick(endpoints, 0, {})];
    EXPECT_EQ(taken, (std::map<std::size_t, int>{{0, 3}, {1, 2}, {2, 1}})) << "a round has the least length";
  }

  const Endpoints many = endpoints_of(500, table, 100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i]->weight = static_cast<std::uint16_t>(1 + i % 256);
  balancer.prepare(Balance::kRoundRobin, many);
  std::map<std::size_t, int> taken;
  for (int n = 0; n < 20'000; ++n) ++taken[balancer.pick(many, 0, {})];
  EXPECT_EQ(taken.size(), many.size()) << "each has its turn";
  EXPECT_GT(taken[255], 10 * taken[0]);
}

TEST(Balance, LoadIsWeighedAgainstTheWeight) {
  for (const Balance policy : {Balance::kLeastConn, Balance::kP2c, Balance::kEwma}) {
    EndpointTable table;
    const Endpoints endpoints = endpoints_of(2, table);
    endpoints[1]->weight = 4;
    Balancer balancer(7);
    balancer.prepare(policy, endpoints);
    endpoints[0]->state->in_flight = 2;
    endpoints[1]->state->in_flight = 4;
    int heavy = 0;
    for (int n = 0; n < 1'000; ++n) heavy += balancer.pick(endpoints, 0, {}) == 1 ? 1 : 0;
    // Two of P2C's may both be the light one: once in 25.
    EXPECT_GT(heavy, 900) << static_cast<int>(policy);
  }
}

class KeyedBalance : public testing::TestWithParam<Balance> {};

TEST_P(KeyedBalance, KeysKeepTheirEndpointAndFewMoveWhenOneGoes) {
  EndpointTable table;
  Endpoints endpoints = endpoints_of(20, table);
  Balancer balancer(1);
  balancer.prepare(GetParam(), endpoints);
  constexpr std::uint64_t kKeys = 50'000;
  std::vector<std::uint16_t> before;
  std::map<std::uint16_t, int> shares;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    before.push_back(endpoints[balancer.pick(endpoints, key_of(key), {})]->address.port);
    ++shares[before.back()];
  }
  EXPECT_EQ(shares.size(), endpoints.size());
  for (const auto& [port, count] : shares) EXPECT_NEAR(count, 2'500, 900) << port;

  const std::uint16_t gone = endpoints[7]->address.port;
  endpoints.erase(endpoints.begin() + 7);
  // Another thread, another order: the answer is the same.
  std::ranges::reverse(endpoints);
  Balancer other(2);
  other.prepare(GetParam(), endpoints);
  int moved = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const std::uint16_t now = endpoints[other.pick(endpoints, key_of(key), {})]->address.port;
    if (before[key] != gone && now != before[key]) ++moved;
  }
  EXPECT_LT(moved, static_cast<int>(kKeys / 20)) << "keys of endpoints that stayed";
}

TEST_P(KeyedBalance, AKeyMovesToAColdEndpointOnceAndStays) {
  EndpointTable table;
  const Endpoints endpoints = endpoints_of(5, table);
  const net::Time begin{std::chrono::hours(1)};
  endpoints[3]->since = begin;
  Balancer balancer(7);
  balancer.prepare(GetParam(), endpoints, seconds(100));
  for (std::uint64_t n = 0; n < 2'000; ++n) {
    bool there = false;
    for (int after = 0; after <= 110; after += 10) {
      const bool now = balancer.pick(endpoints, key_of(n), begin + seconds(after)) == 3;
      EXPECT_TRUE(now || !there) << "key " << n;
      there = now;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, KeyedBalance, testing::Values(Balance::kRingHash, Balance::kMaglev),
                         [](const auto& info) { return info.param == Balance::kMaglev ? "Maglev" : "RingHash"; });

}  // namespace
}  // namespace edge::runtime
