#include "runtime/upstream/balance/balance.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

/// What `endpoint` carries, as an endpoint of weight 1 would feel it.
double weighted_load(const UpstreamEndpoint& endpoint) {
  return static_cast<double>(in_flight(endpoint)) / endpoint.weight;
}

double weighted_wait(const UpstreamEndpoint& endpoint, net::Time now) {
  if (!endpoint.latency.measured()) return kUnknownLatency * weighted_load(endpoint);
  return (endpoint.latency.at(now) + kLatencyGrain) * (weighted_load(endpoint) + 1.0);
}

/// Indices, each as often as its weight says, in an order that spreads each as evenly as it can be.
std::vector<std::uint32_t> turns_of(Balancer::Endpoints endpoints) {
  constexpr std::uint64_t kMost = 4096;
  std::uint64_t divisor = 0;
  std::uint64_t sum = 0;
  for (const auto& endpoint : endpoints) {
    divisor = std::gcd(divisor, std::uint64_t{endpoint->weight});
    sum += endpoint->weight;
  }
  const std::uint64_t places = std::min(sum / divisor, std::max<std::uint64_t>(kMost, endpoints.size()));
  std::vector<std::pair<double, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
    const std::uint64_t times = std::max<std::uint64_t>(1, (endpoints[i]->weight * places + sum / 2) / sum);
    for (std::uint64_t n = 0; n < times; ++n) {
      order.emplace_back((static_cast<double>(n) + 0.5) / static_cast<double>(times), i);
    }
  }
  std::ranges::sort(order);
  std::vector<std::uint32_t> turns;
  turns.reserve(order.size());
  for (const auto& [at, index] : order) turns.push_back(index);
  return turns;
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
  set_method(endpoints);
  if (!keyed()) {
    by_key_ = {};
    return;
  }
  std::vector<std::uint64_t> ids;
  std::vector<std::uint16_t> weights;
  ids.reserve(endpoints.size());
  for (const auto& endpoint : endpoints) {
    const net::SocketAddress& address = endpoint->address;
    ids.push_back(hash_bytes(
        address.port, {reinterpret_cast<const char*>(address.address.bytes.data()), address.address.bytes.size()}));
    weights.push_back(endpoint->weight);
  }
  by_key_.build(policy == Balance::kMaglev ? ConsistentHash::Kind::kMaglev : ConsistentHash::Kind::kRing, ids, weights);
}

void Balancer::set_method(Endpoints endpoints) {
  const auto other = [&](const auto& endpoint) { return endpoint->weight != endpoints.front()->weight; };
  const bool weighted = std::ranges::any_of(endpoints, other);
  turns_ = weighted && !keyed() ? turns_of(endpoints) : std::vector<std::uint32_t>();
  switch (policy_) {
    case Balance::kRoundRobin:
      method_ = weighted ? Method::kWeightedTurns : Method::kTurns;
      break;
    case Balance::kLeastConn:
      method_ = weighted ? Method::kWeightedLeastLoaded : Method::kLeastLoaded;
      break;
    case Balance::kP2c:
      method_ = weighted ? Method::kWeightedLessLoaded : Method::kLessLoaded;
      break;
    case Balance::kEwma:
      method_ = weighted ? Method::kWeightedLessWait : Method::kLessWait;
      break;
    case Balance::kRandom:
      method_ = weighted ? Method::kWeightedRandom : Method::kRandom;
      break;
    case Balance::kRingHash:
    case Balance::kMaglev:
      method_ = Method::kByKey;
      break;
  }
}

std::size_t Balancer::random_of_all(std::uint32_t random, Endpoints endpoints) const {
  return turns_.empty() ? scaled(random, endpoints.size()) : turns_[scaled(random, turns_.size())];
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
    chosen = keyed() ? by_key_.find(key) : random_of_all(static_cast<std::uint32_t>(key), endpoints);
  }
  return chosen;
}

std::size_t Balancer::choose(Endpoints endpoints, std::uint64_t key, net::Time now) {
  switch (method_) {
    case Method::kTurns:
      break;
    case Method::kLeastLoaded:
      return least_loaded(endpoints);
    case Method::kLessLoaded:
      return better_of_two(endpoints, [](const UpstreamEndpoint& endpoint) { return in_flight(endpoint); });
    case Method::kLessWait:
      return better_of_two(endpoints, [now](const UpstreamEndpoint& endpoint) { return expected_wait(endpoint, now); });
    case Method::kRandom:
      return scaled(static_cast<std::uint32_t>(next_random()), endpoints.size());
    case Method::kByKey:
      return by_key_.find(key);
    case Method::kWeightedTurns:
      return turns_[cursor_++ % turns_.size()];
    case Method::kWeightedLeastLoaded:
      return weighted_least_loaded(endpoints);
    case Method::kWeightedLessLoaded:
      return weighted_better_of_two(endpoints,
                                    [](const UpstreamEndpoint& endpoint) { return weighted_load(endpoint); });
    case Method::kWeightedLessWait:
      return weighted_better_of_two(endpoints,
                                    [now](const UpstreamEndpoint& endpoint) { return weighted_wait(endpoint, now); });
    case Method::kWeightedRandom:
      return turns_[scaled(static_cast<std::uint32_t>(next_random()), turns_.size())];
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

/// Among equals each has its turns.
std::size_t Balancer::weighted_least_loaded(Endpoints endpoints) {
  std::size_t best = turns_[cursor_++ % turns_.size()];
  double least = weighted_load(*endpoints[best]);
  for (std::size_t i = 0; i < endpoints.size() && least > 0; ++i) {
    const double load = weighted_load(*endpoints[i]);
    if (load >= least) continue;
    least = load;
    best = i;
  }
  return best;
}

/// The heavier come up the more often; of equals the first stays, so that their shares are those of their weights.
template <typename Cost>
std::size_t Balancer::weighted_better_of_two(Endpoints endpoints, Cost cost) {
  const std::uint64_t random = next_random();
  const std::size_t one = turns_[scaled(static_cast<std::uint32_t>(random), turns_.size())];
  const std::size_t two = turns_[scaled(static_cast<std::uint32_t>(random >> 32), turns_.size())];
  return cost(*endpoints[two]) < cost(*endpoints[one]) ? two : one;
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
