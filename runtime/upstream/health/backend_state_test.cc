// What the process knows of a backend: which endpoints take traffic, by a clock that the test moves.
#include "runtime/upstream/health/backend_state.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::seconds;

class BackendStateTest : public testing::Test {
 protected:
  void endpoints(std::vector<std::uint16_t> ports, std::uint16_t unready = 0) {
    std::vector<program::Endpoint> list;
    for (const std::uint16_t port : ports) list.push_back({*parse_ip("10.0.0.1"), port, port != unready});
    state.set_endpoints(list, clock.now());
  }
  struct Placed {
    std::uint16_t port;
    std::string zone;
    std::uint16_t weight = 1;
    bool ready = true;
  };
  void place(const std::vector<Placed>& all, const std::string& own) {
    std::vector<program::Endpoint> list;
    for (const Placed& one : all) {
      program::EndpointZones zones;
      if (!one.zone.empty()) zones = {"elsewhere", one.zone};
      list.push_back({*parse_ip("10.0.0.1"), one.port, one.ready, one.weight, std::move(zones)});
    }
    state.set_endpoints(list, clock.now(), own);
  }
  void configure(const HealthSettings& settings) { state.configure({"shop", "cart"}, settings, clock.now()); }
  /// Ports of the endpoints that take traffic.
  std::vector<std::uint16_t> in_use() {
    std::vector<std::uint16_t> ports;
    for (const auto& choice : state.view(clock.now()).endpoints) {
      if (choice.in_use) ports.push_back(choice.endpoint->address.port);
    }
    return ports;
  }
  /// Ports of those that could.
  std::vector<std::uint16_t> reserve() {
    std::vector<std::uint16_t> ports;
    for (const EndpointStatus& endpoint : state.status(clock.now()).endpoints) {
      if (endpoint.reserve) ports.push_back(endpoint.address.port);
    }
    return ports;
  }
  EndpointState& at(std::uint16_t port) {
    for (const auto& endpoint : state.endpoints()) {
      if (endpoint->address.port == port) return *endpoint;
    }
    throw std::runtime_error("no such endpoint");
  }
  void check(std::uint16_t port, const std::string& error, int times) {
    for (int i = 0; i < times; ++i) state.checked(at(port), error, clock.now());
  }
  void meet(std::uint16_t port, RequestResult outcome, int times) {
    for (int i = 0; i < times; ++i) state.observe(at(port), outcome, false, clock.now());
  }
  using Ports = std::vector<std::uint16_t>;

  net::ManualClock clock;
  BackendState state{1};
  const HealthSettings checked{.health = {2, 3}, .outlier = {}, .max_ejection_percent = 0, .circuit = {}};
  const HealthSettings passive{
      .health = {},
      .outlier = {.errors = 5, .server_errors = 0, .interval = seconds(30), .base_time = seconds(30)},
      .max_ejection_percent = 50,
      .circuit = {}};
};

TEST_F(BackendStateTest, AllAreInUseUntilThereIsAVerdict) {
  configure(checked);
  endpoints({1, 2, 3});
  EXPECT_EQ(in_use(), (Ports{1, 2, 3}));
  check(2, "", 2);
  EXPECT_EQ(in_use(), (Ports{2})) << "the others have to prove themselves now";
  check(1, "", 2);
  check(3, "refused", 3);
  EXPECT_EQ(in_use(), (Ports{1, 2}));
  check(3, "", 2);
  EXPECT_EQ(in_use(), (Ports{1, 2, 3}));
}

TEST_F(BackendStateTest, EndpointsOfTheOwnZoneAreAloneWhileTheyAreEnough) {
  configure(checked);
  place({{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, ""}}, "a");
  for (const std::uint16_t port : {1, 2, 3, 4, 5}) check(port, "", 2);
  EXPECT_EQ(in_use(), (Ports{1, 2, 3}));
  EXPECT_EQ(reserve(), (Ports{4, 5}));
  // Two of three are less than 70%.
  check(2, "refused", 3);
  EXPECT_EQ(in_use(), (Ports{1, 3, 4, 5}));
  EXPECT_EQ(reserve(), Ports{});
  check(1, "refused", 3);
  check(3, "refused", 3);
  EXPECT_EQ(in_use(), (Ports{4, 5}));
  for (const std::uint16_t port : {1, 2, 3}) check(port, "", 2);
  EXPECT_EQ(in_use(), (Ports{1, 2, 3}));
  check(4, "refused", 3);
  EXPECT_EQ(reserve(), Ports{5});
  // The agent moves, and then does not know where it is.
  place({{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, ""}}, "b");
  EXPECT_EQ(in_use(), (Ports{1, 2, 3, 5})) << "nobody in its zone is healthy";
  check(4, "", 2);
  EXPECT_EQ(in_use(), Ports{4});
  place({{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, ""}}, "");
  EXPECT_EQ(in_use(), (Ports{1, 2, 3, 4, 5}));
}

TEST_F(BackendStateTest, EndpointsAreEnoughByTheirWeight) {
  configure(checked);
  place({{1, "a", 7}, {2, "a", 3}, {3, "b"}}, "a");
  for (const std::uint16_t port : {1, 2, 3}) check(port, "", 2);
  check(2, "refused", 3);
  EXPECT_EQ(in_use(), Ports{1});
  place({{1, "a", 6}, {2, "a", 3}, {3, "b"}}, "a");
  EXPECT_EQ(in_use(), (Ports{1, 3}));
  // One that is not ready is one that cannot take requests.
  place({{1, "a", 6}, {2, "a", 3, false}, {3, "b"}}, "a");
  check(2, "", 2);
  EXPECT_EQ(in_use(), (Ports{1, 3}));
}

TEST_F(BackendStateTest, TheReserveIsNotNewWhenItIsNeeded) {
  configure(checked);
  place({{1, "a"}, {2, "b"}}, "a");
  check(1, "", 2);
  clock.advance(seconds(5));
  check(2, "", 2);
  clock.advance(seconds(60));
  check(1, "refused", 3);
  const auto view = state.view(clock.now());
  EXPECT_EQ(in_use(), Ports{2});
  EXPECT_EQ(view.endpoints[1].since, clock.now() - seconds(60));
}

TEST_F(BackendStateTest, WithAllUnhealthyNoneIsInUse) {
  configure(checked);
  endpoints({1, 2});
  check(1, "timeout", 3);
  check(2, "timeout", 3);
  EXPECT_EQ(in_use(), Ports{});
  const BackendStatus status = state.status(clock.now());
  EXPECT_FALSE(status.endpoints[0].healthy());
  EXPECT_EQ(status.endpoints[0].last_error, "timeout");
  EXPECT_EQ(status.checks, 6u);
  EXPECT_EQ(status.failed_checks, 6u);
}

TEST_F(BackendStateTest, WhatIsKnownOfAnEndpointOutlivesTheComingAndGoingOfOthers) {
  configure(checked);
  endpoints({1, 2});
  check(1, "refused", 3);
  check(2, "", 2);
  const std::uint32_t before = state.generation();
  endpoints({1, 2, 3});
  EXPECT_NE(state.generation(), before);
  EXPECT_EQ(in_use(), (Ports{2})) << "the new one waits for its checks";
  endpoints({1, 3}, 3);
  EXPECT_EQ(in_use(), Ports{});
  configure(checked);
  EXPECT_EQ(state.status(clock.now()).endpoints[0].health, Health::kUnhealthy) << "over a swap";
  configure({});
  EXPECT_EQ(in_use(), (Ports{1})) << "nobody checks any more";
}

TEST_F(BackendStateTest, EjectsAndReadmits) {
  configure(passive);
  endpoints({1, 2});
  meet(1, RequestResult::kNoAnswer, 4);
  EXPECT_EQ(in_use(), (Ports{1, 2}));
  meet(1, RequestResult::kNoAnswer, 1);
  EXPECT_EQ(in_use(), (Ports{2}));
  EXPECT_EQ(state.view(clock.now()).until, clock.now() + seconds(30));
  EXPECT_EQ(state.status(clock.now()).ejections, 1u);
  clock.advance(seconds(30));
  EXPECT_EQ(in_use(), (Ports{1, 2}));
  EXPECT_EQ(state.view(clock.now()).until, net::kNever);
}

TEST_F(BackendStateTest, NeverEjectsMoreThanItsShare) {
  const auto ejected_of = [&](std::uint16_t count, std::uint32_t percent) {
    HealthSettings settings = passive;
    settings.max_ejection_percent = percent;
    configure({});
    configure(settings);
    Ports ports;
    for (std::uint16_t port = 1; port <= count; ++port) ports.push_back(port);
    endpoints(ports);
    for (const std::uint16_t port : ports) meet(port, RequestResult::kServerError, 5);
    return count - in_use().size();
  };
  EXPECT_EQ(ejected_of(1, 50), 0u);
  EXPECT_EQ(ejected_of(2, 49), 0u);
  EXPECT_EQ(ejected_of(2, 50), 1u);
  EXPECT_EQ(ejected_of(2, 51), 1u);
  EXPECT_EQ(ejected_of(3, 66), 1u);
  EXPECT_EQ(ejected_of(3, 67), 2u);
  EXPECT_EQ(ejected_of(10, 100), 10u);
  EXPECT_EQ(ejected_of(10, 0), 0u);
}

TEST_F(BackendStateTest, AnEndpointThatComesBesideOthersIsCold) {
  endpoints({1, 2});
  for (const auto& choice : state.view(clock.now()).endpoints) EXPECT_EQ(choice.since, net::Time{});
  clock.advance(seconds(1));
  endpoints({1, 2, 3});
  EXPECT_EQ(state.view(clock.now()).endpoints[2].since, clock.now());
  EXPECT_EQ(state.view(clock.now()).endpoints[0].since, net::Time{});
}

TEST_F(BackendStateTest, AnEndpointThatRecoversIsCold) {
  configure(passive);
  endpoints({1, 2});
  meet(1, RequestResult::kNoAnswer, 5);
  clock.advance(seconds(31));
  EXPECT_EQ(state.view(clock.now()).endpoints[0].since, clock.now());
}

TEST_F(BackendStateTest, TheCircuitIsOfTheWholeBackend) {
  configure({.health = {},
             .outlier = {},
             .max_ejection_percent = 0,
             .circuit = {.errors = 4, .interval = seconds(10), .open_time = seconds(5), .split = false}});
  endpoints({1, 2});
  EXPECT_TRUE(state.circuit_closed());
  meet(1, RequestResult::kServerError, 2);
  meet(2, RequestResult::kNoAnswer, 2);
  EXPECT_FALSE(state.circuit_closed());
  EXPECT_EQ(state.status(clock.now()).circuit, Circuit::State::kOpen);
  EXPECT_EQ(state.status(clock.now()).open_for, seconds(5));
  EXPECT_EQ(state.admit(clock.now()), Circuit::Admission::kRefuse);
  clock.advance(seconds(5));
  EXPECT_EQ(state.status(clock.now()).circuit, Circuit::State::kHalfOpen);
  EXPECT_EQ(state.admit(clock.now()), Circuit::Admission::kProbe);
  state.nothing_met(true, clock.now());
  EXPECT_EQ(state.admit(clock.now()), Circuit::Admission::kProbe) << "the first met no endpoint";
  state.observe(at(2), RequestResult::kSuccess, true, clock.now());
  EXPECT_TRUE(state.circuit_closed());
  EXPECT_EQ(state.status(clock.now()).circuit_opened, 1u);
}

TEST_F(BackendStateTest, EndpointsOfOtherClustersAreNamedAndTheirTriesCounted) {
  HealthSettings settings;
  settings.clusters = {{.name = "berlin", .priority = 2}, {.name = "*", .region = "us"}};
  configure(settings);
  const IpAddress address = *parse_ip("10.0.0.1");
  std::vector<program::Endpoint> list = {{address, 1},
                                         {.address = address, .port = 2, .zones = {"eu"}, .cluster = "berlin"},
                                         {.address = address, .port = 3, .cluster = "oslo"}};
  state.set_endpoints(list, clock.now());
  const auto labels = [&](std::size_t at) { return state.view(clock.now()).endpoints.at(at).cluster; };
  EXPECT_EQ(labels(0), nullptr);
  EXPECT_EQ(*labels(1), (EndpointCluster{"berlin", "eu", 2})) << "the region as the cluster tells it";
  EXPECT_EQ(*labels(2), (EndpointCluster{"oslo", "us", 1})) << "as the reference says";
  const auto same = labels(1);
  state.set_endpoints(list, clock.now());
  EXPECT_EQ(labels(1), same);
  list[1].zones = {"asia"};
  state.set_endpoints(list, clock.now());
  EXPECT_EQ(labels(1)->region, "asia");

  meet(2, RequestResult::kSuccess, 5);
  meet(2, RequestResult::kServerError, 2);
  meet(2, RequestResult::kSuccess, 1);
  meet(1, RequestResult::kSuccess, 9);
  const BackendStatus status = state.status(clock.now());
  ASSERT_EQ(status.clusters.size(), 3U);
  EXPECT_EQ(status.clusters[0].cluster, "");
  EXPECT_EQ(status.clusters[1].cluster, "berlin");
  EXPECT_EQ(status.clusters[1].tries, (std::array<std::uint64_t, 4>{0, 6, 2, 0}));
  EXPECT_EQ(status.clusters[2].tries, (std::array<std::uint64_t, 4>{}));
  // What has no endpoint any more is counted anew when it comes back.
  state.set_endpoints(std::vector(list.begin(), list.begin() + 1), clock.now());
  EXPECT_EQ(state.status(clock.now()).clusters.size(), 1U);
}

TEST_F(BackendStateTest, ACircuitWithoutSettingsCloses) {
  configure({.health = {},
             .outlier = {},
             .max_ejection_percent = 0,
             .circuit = {.errors = 1, .interval = {}, .open_time = seconds(5), .split = false}});
  endpoints({1});
  meet(1, RequestResult::kServerError, 1);
  EXPECT_FALSE(state.circuit_closed());
  configure({});
  EXPECT_TRUE(state.circuit_closed());
}

TEST(BoundedCount, HoldsItsLimitOverThreads) {
  BoundedCount count;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count.take(3));
  EXPECT_FALSE(count.take(3));
  EXPECT_EQ(count.value(), 3u);
  EXPECT_TRUE(count.take(0)) << "no limit";
  for (int i = 0; i < 4; ++i) count.give();
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!count.take(2)) continue;
        if (count.value() > 2) over = true;
        count.give();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(over);
  EXPECT_EQ(count.value(), 0u);
}

}  // namespace
}  // namespace edge::runtime
