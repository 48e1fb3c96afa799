// Meter, limits and choice together, on links whose delays and losses come from a seed: what moves, and how soon.
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/wan/choice.h"

namespace edge::agent::wan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct LinkModel {
  double loss = 0;
  double burst = 1;     ///< mean number of packets that are lost together
  double latency = 20;  ///< milliseconds
  double deviation = 2;
  bool blackhole = false;
};

class Network {
 public:
  Network(unsigned seed, const Limits& limits, const ChoiceSettings& settings, const std::vector<Candidate>& candidates)
      : links(candidates.size()), choice(settings, candidates), random_(seed) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      meters_.emplace_back(ProbeSettings{});
      fitness_.emplace_back(limits);
    }
    losing_.resize(candidates.size());
    states_.resize(candidates.size());
  }

  void run(Time duration) {
    for (const Time end = now + duration; now < end; now += milliseconds(100)) step();
  }
  /// Runs until the traffic is on `path` alone. \returns how long that took; `most` when it did not happen.
  Time until_on(std::size_t path, Time most) {
    const Time began = now;
    for (; now - began < most; now += milliseconds(100)) {
      step();
      if (choice.selection() == Selection{.paths = {path}}) return now - began;
    }
    return most;
  }

  std::vector<LinkModel> links;
  Choice choice;
  std::vector<Change> changes;
  Time now = seconds(1);

 private:
  bool loses(std::size_t link) {
    const LinkModel& model = links[link];
    // A chain of two states, whose stationary share of losses is `loss`.
    const double ends = 1 / model.burst;
    const double begins = model.loss * ends / (1 - model.loss);
    losing_[link] = std::bernoulli_distribution(losing_[link] ? 1 - ends : begins)(random_);
    return losing_[link] || model.blackhole;
  }

  void step() {
    for (std::size_t i = 0; i < links.size(); ++i) {
      const std::uint32_t number = meters_[i].sent(now);
      if (!loses(i)) {
        std::normal_distribution<double> delay(links[i].latency, links[i].deviation);
        const auto latency = std::chrono::duration_cast<Time>(
            std::chrono::duration<double, std::milli>(std::clamp(delay(random_), 0.1, 90.0)));
        meters_[i].answered({.number = number,
                             .arrived = now + latency,
                             .reflector_received = now + latency / 2,
                             .reflector_sent = now + latency / 2});
      }
      meters_[i].advance(now + milliseconds(99));
      const std::vector<Outcome> outcomes = meters_[i].take_outcomes();
      fitness_[i].add(meters_[i], outcomes);
      // Only strategies that compare paths need it often.
      if (steps_ % 1'000 == 0) quality_[i] = meters_[i].quality();
      states_[i] = path_state(meters_[i], fitness_[i], quality_[i]);
    }
    ++steps_;
    if (const auto change = choice.step(states_, now + milliseconds(99))) changes.push_back(*change);
  }

  std::mt19937 random_;
  std::vector<PathMeter> meters_;
  std::vector<Fitness> fitness_;
  std::map<std::size_t, Quality> quality_;
  std::vector<bool> losing_;
  std::vector<PathState> states_;
  std::uint64_t steps_ = 0;
};

constexpr Limits kLimits{.loss = 0.005, .latency = milliseconds(40), .jitter = milliseconds(10)};

TEST(WanSimulation, ADayOfNoiseAtTheLimitMovesTrafficTwiceAtMost) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    Network network(seed, kLimits, {}, {{}, {.backup = true}});
    network.links[0] = {.loss = 0.005, .latency = 40, .deviation = 15};
    network.run(hours(24));
    EXPECT_LE(network.changes.size(), 1U + 2U) << "seed " << seed;
  }
}

TEST(WanSimulation, ADayOfBurstsAtTheLimitMovesTrafficSeldom) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    Network network(seed, kLimits, {}, {{}, {.backup = true}});
    network.links[0] = {.loss = 0.005, .burst = 4, .latency = 40, .deviation = 15};
    network.run(hours(24));
    EXPECT_LE(network.changes.size(), 1U + 8U) << "seed " << seed;
  }
}

TEST(WanSimulation, ABlackholeIsLeftWithinHalfASecondAtTheFastestSetting) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Network network(seed, kLimits, {.after = Time::zero()}, {{}, {}});
    network.run(minutes(5));
    network.links[0].blackhole = true;
    EXPECT_LE(network.until_on(1, seconds(10)), milliseconds(400)) << "seed " << seed;
  }
}

TEST(WanSimulation, ABlackholeIsLeftAfterAfter) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Network network(seed, kLimits, {}, {{}, {}});
    network.run(minutes(5));
    network.links[0].blackhole = true;
    const Time took = network.until_on(1, seconds(10));
    EXPECT_LE(took, seconds(3) + milliseconds(300)) << "seed " << seed;
    EXPECT_GE(took, seconds(3) - milliseconds(100)) << "seed " << seed;
  }
}

TEST(WanSimulation, TrafficIsBackFromAMeteredLinkSoonAfterBackAfter) {
  const std::pair<LinkModel, std::string_view> kFaults[] = {
      {{.blackhole = true}, "a blackhole"}, {{.loss = 0.3}, "a third lost"}, {{.latency = 80}, "twice the latency"}};
  for (const auto& [fault, name] : kFaults) {
    for (unsigned seed = 0; seed < 10; ++seed) {
      Network network(seed, kLimits, {}, {{}, {.metered = true}});
      // Long enough well to be trusted.
      network.run(minutes(15));
      network.links[0] = fault;
      EXPECT_LT(network.until_on(1, seconds(20)), seconds(15)) << name << ", seed " << seed;
      network.run(minutes(2));
      network.links[0] = {};
      EXPECT_LE(network.until_on(0, minutes(5)), seconds(60 + 30)) << name << ", seed " << seed;
    }
  }
}

TEST(WanSimulation, ALinkWithABrownOutLivesAndIsAtFaultForItsLoss) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    // A fifth of the packets is lost each way: of round trips more than a third.
    Network network(seed, kLimits, {.fallback = Fallback::kDrop}, {{}, {}});
    network.run(minutes(5));
    network.links[0].loss = 0.36;
    EXPECT_LE(network.until_on(1, seconds(20)), seconds(15)) << "seed " << seed;
    EXPECT_EQ(network.changes.back().fault, Fault::kLoss) << "seed " << seed;
    network.run(minutes(10));
    // Dropped before anything was known, the start, and this.
    EXPECT_EQ(network.changes.size(), 3U) << "seed " << seed;
  }
}

TEST(WanSimulation, NothingIsDroppedThoughTheOnlyLinkHasABrownOut) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    // No limit of loss: what lives is fit.
    Network network(seed, {}, {.fallback = Fallback::kDrop}, {{}});
    network.run(minutes(1));
    const std::size_t before = network.changes.size();
    network.links[0].loss = 0.2;
    network.run(minutes(1));
    network.links[0].loss = 0.36;
    network.run(hours(1));
    EXPECT_EQ(network.changes.size(), before) << "seed " << seed;
  }
}

TEST(WanSimulation, NothingMovesForSomeLostProbes) {
  Network network(1, kLimits, {}, {{}, {}});
  network.links[0].loss = 0.003;
  network.links[1].loss = 0.003;
  network.run(hours(24));
  EXPECT_EQ(network.changes.size(), 1U);
}

}  // namespace
}  // namespace edge::agent::wan
