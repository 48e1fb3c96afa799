#include "runtime/upstream/balance/balance.h"

#include <algorithm>

#include "base/hash.h"

namespace edge::runtime {
namespace {

using program::Balance;

/// What an endpoint that was never measured is taken to need while it has a request under way: one is its trial.
constexpr double kUnknownLatency = 1e9;
/// Below this, differences are the scheduler's.
constexpr double kLatencyGrain = 1e4;

std::uint32_t in_flight(const UpstreamEndpoint& endpoint) {
  return endpoint.state->in_flight.load(std::memory_order_relaxed);
}

/// [0, count)
std::uint32_t scaled(std::uint32_t random, std::size_t count) {
  return static_cast<std::uint32_t>(std::uint64_t{random} * count >> 32);
}

/// The part of its share that an endpoint takes: it grows evenly over the slow start, from a tenth on, so that it gets
/// requests to warm up by.
double warmth(const UpstreamEndpoint& endpoint, net::Duration slow_start, net::Time now) {
  if (endpoint.since == net::Time{} || now >= endpoint.since + slow_start) return 1;
  const double passed = static_cast<double>(std::max(net::Duration(0), now - endpoint.since).count());
  return std::max(0.1, passed / static_cast<double>(slow_start.count()));
}

double expected_wait(const UpstreamEndpoint& endpoint, net::Time now) {
  const std::uint32_t under_way = in_flight(endpoint);
  if (!endpoint.latency.measured()) return kUnknownLatency * under_way;
  return (endpoint.latency.at(now) + kLatencyGrain) * (under_way + 1.0);
}

}  // namespace

void Balancer::prepare(Balance policy, Endpoints endpoints, net::Duration slow_start) {
  policy_ = policy;
  slow_start_ = slow_start;
  cold_until_ = {};
  for (const auto& endpoint : endpoints) {
    if (endpoint->since != net::Time{}) cold_until_ = std::max(cold_until_, endpoint->since + slow_start);
  }
  if (!keyed()) {
    by_key_ = {};
    return;
  }
  std::vector<std::uint64_t> ids;
  ids.reserve(endpoints.size());
  for (const auto& endpoint : endpoints) {
    const net::SocketAddress& address = endpoint->address;
    ids.push_back(hash_bytes(
        address.port, {reinterpret_cast<const char*>(address.address.bytes.data()), address.address.bytes.size()}));
  }
  by_key_.build(policy == Balance::kMaglev ? ConsistentHash::Kind::kMaglev : ConsistentHash::Kind::kRing, ids);
}

std::size_t Balancer::pick(Endpoints endpoints, std::uint64_t key, net::Time now) {
  if (endpoints.size() == 1) return 0;
  const std::size_t chosen = choose(endpoints, key, now);
  if (now >= cold_until_) return chosen;
  return spare_the_cold(endpoints, chosen, key, now);
}

/// Whatever the policy: an endpoint in its slow start hands on a part of what falls to it, the less the older it is.
/// Where keys decide it hands on the same keys again and again, so that each moves to it once.
std::size_t Balancer::spare_the_cold(Endpoints endpoints, std::size_t chosen, std::uint64_t key, net::Time now) {
  static constexpr int kTries = 4;
  for (int n = 0; n < kTries; ++n) {
    const double share = warmth(*endpoints[chosen], slow_start_, now);
    if (share >= 1) break;
    key = keyed() ? hash_mix(key ^ 0x9e3779b97f4a7c15, 0xd1342543de82ef95) : next_random();
    if (static_cast<double>(key >> 32) < share * 0x1p32) break;
    chosen = keyed() ? by_key_.find(key) : scaled(static_cast<std::uint32_t>(key), endpoints.size());
  }
  return chosen;
}

std::size_t Balancer::choose(Endpoints endpoints, std::uint64_t key, net::Time now) {
  switch (policy_) {
    case Balance::kRoundRobin:
      break;
    case Balance::kLeastConn:
      return least_loaded(endpoints);
    case Balance::kP2c:
      return better_of_two(endpoints, [](const UpstreamEndpoint& endpoint) { return in_flight(endpoint); });
    case Balance::kEwma:
      return better_of_two(endpoints, [now](const UpstreamEndpoint& endpoint) { return expected_wait(endpoint, now); });
    case Balance::kRandom:
      return scaled(static_cast<std::uint32_t>(next_random()), endpoints.size());
    case Balance::kRingHash:
    case Balance::kMaglev:
      return by_key_.find(key);
  }
  return cursor_++ % endpoints.size();
}

std::size_t Balancer::other(Endpoints endpoints, std::size_t but) {
  if (endpoints.size() == 1) return but;
  const std::size_t step = 1 + scaled(static_cast<std::uint32_t>(next_random()), endpoints.size() - 1);
  return (but + step) % endpoints.size();
}

std::uint64_t Balancer::next_random() {
  random_ += 0x9e3779b97f4a7c15;
  return hash_mix(random_, random_ ^ 0xd1342543de82ef95);
}

/// Among equals the turn goes round.
std::size_t Balancer::least_loaded(Endpoints endpoints) {
  const std::size_t first = cursor_++ % endpoints.size();
  std::size_t best = first;
  std::uint32_t least = in_flight(*endpoints[first]);
  for (std::size_t n = 1; n < endpoints.size() && least > 0; ++n) {
    const std::size_t at = first + n < endpoints.size() ? first + n : first + n - endpoints.size();
    const std::uint32_t load = in_flight(*endpoints[at]);
    if (load >= least) continue;
    least = load;
    best = at;
  }
  return best;
}

template <typename Cost>
std::size_t Balancer::better_of_two(Endpoints endpoints, Cost cost) {
  const std::uint64_t random = next_random();
  const std::size_t one = scaled(static_cast<std::uint32_t>(random), endpoints.size());
  std::size_t two = scaled(static_cast<std::uint32_t>(random >> 32), endpoints.size() - 1);
  if (two >= one) ++two;
  return cost(*endpoints[two]) < cost(*endpoints[one]) ? two : one;
}

}  // namespace edge::runtime
