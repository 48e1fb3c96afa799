// Rate limits of scope Cluster: agents' buckets and the controller's exchange in a simulation, against the bound that
// docs/rate-limiting.md states.
#include "runtime/policy/shared_limits.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "controller/distribute/limit_exchange.h"

namespace edge {
namespace {

using controller::LimitExchange;
using controller::LimitUse;
using runtime::Rate;
using runtime::SharedLimits;
using runtime::SharedNews;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr net::Time kStart{std::chrono::hours(24)};
constexpr auto kInterval = milliseconds(100);  ///< of an agent's words
constexpr std::uint64_t kLimit = 1;

struct Settings {
  std::uint64_t requests = 0;
  std::uint64_t burst = 0;
  std::size_t agents = 0;
  milliseconds delay{0};  ///< most, each way
};

/// Agents, each with a client that may flood it, and a network that delays words each way.
class World {
 public:
  World(const Settings& settings, std::uint64_t seed)
      : settings_(settings), rate_(settings.requests, settings.burst), random_(seed) {
    for (std::size_t i = 0; i < settings.agents; ++i) add_agent();
  }

  void add_agent() {
    auto agent = std::make_unique<Agent>();
    agent->shared.set({{kLimit, rate_}});
    agent->member = exchange_.join("agent-" + std::to_string(agents_.size()), 1 + agents_.size());
    // No two speak at the same time.
    agent->speaks_at = now_ + milliseconds(random_() % kInterval.count());
    agent->shared.apply(news_of(exchange_.take(agent->member)), now_, agent->table);
    agents_.push_back(std::move(agent));
  }
  /// Members of the exchange that have said hello and never speak.
  void add_silent(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) exchange_.join("silent-" + std::to_string(i), 1);
  }
  void cut(std::size_t agent, bool is_cut) { agents_[agent]->cut = is_cut; }

  /// Lets a millisecond pass in which `tries` requests come to each agent that is flooded.
  void step(const std::vector<bool>& flooded, unsigned tries) {
    now_ += milliseconds(1);
    deliver();
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      Agent& agent = *agents_[i];
      if (now_ >= agent.speaks_at && !agent.waits) speak(agent);
      for (unsigned n = 0; flooded[i] && n < tries; ++n) request(agent);
    }
  }

  std::uint64_t passed() const { return passed_; }
  net::Time now() const { return now_; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  struct Agent {
    runtime::RateLimitTable table{64};
    SharedLimits shared;
    LimitExchange::Member member = 0;
    net::Time speaks_at{};
    bool waits = false;
    bool cut = false;
  };
  struct Word {
    std::size_t agent = 0;
    bool up = false;
    std::vector<LimitUse> uses{};
    SharedNews news{};
  };

  static SharedNews news_of(const LimitExchange::News& from) {
    SharedNews news{.seed = from.seed, .members = from.members};
    for (const LimitUse& use : from.uses) news.uses.push_back({use.limit, use.key, use.requests});
    return news;
  }
  net::Duration delay() { return milliseconds(below(static_cast<std::uint64_t>(settings_.delay.count()) + 1)); }

  void request(Agent& agent) {
    const std::uint32_t share = agent.shared.share(now_);
    const std::uint64_t key = agent.shared.seed() << 32 | 5;
    if (!agent.table.take(share == 1 ? rate_ : rate_.part(share), key, now_).passes) return;
    ++passed_;
    agent.shared.note(kLimit, key, now_);
  }

  void speak(Agent& agent) {
    if (agent.cut) return;
    Word word{.agent = index_of(agent), .up = true};
    for (const auto& use : agent.shared.take(LimitExchange::kMostReported)) {
      word.uses.push_back({use.limit, use.key, use.requests});
    }
    agent.waits = true;
    words_.emplace(now_ + delay(), std::move(word));
  }
  std::size_t index_of(const Agent& agent) const {
    return static_cast<std::size_t>(
        std::ranges::find_if(agents_, [&](const auto& one) { return one.get() == &agent; }) - agents_.begin());
  }

  void deliver() {
    while (!words_.empty() && words_.begin()->first <= now_) {
      const Word word = std::move(words_.begin()->second);
      words_.erase(words_.begin());
      Agent& agent = *agents_[word.agent];
      if (word.up) {
        exchange_.report(agent.member, word.uses);
        words_.emplace(now_ + delay(), Word{.agent = word.agent, .news = news_of(exchange_.take(agent.member))});
      } else {
        agent.shared.apply(word.news, now_, agent.table);
        agent.waits = false;
        agent.speaks_at = now_ + kInterval;
      }
    }
  }

  const Settings settings_;
  const Rate rate_;
  std::mt19937_64 random_;
  LimitExchange exchange_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::multimap<net::Time, Word> words_;
  net::Time now_ = kStart;
  std::uint64_t passed_ = 0;
};

double in_seconds(net::Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// (N - 1) x (burst + requests x D): what the other agents let pass before it is known. D: two words and their ways,
/// each there and back.
double error_bound(const Settings& settings) {
  const double unseen = in_seconds(2 * kInterval + 4 * settings.delay + milliseconds(2));
  return static_cast<double>(settings.agents - 1) *
         (static_cast<double>(settings.burst) + static_cast<double>(settings.requests) * unseen);
}

double allowed(const Settings& settings, net::Duration time) {
  return static_cast<double>(settings.burst) + static_cast<double>(settings.requests) * in_seconds(time);
}

/// Over every window of every schedule, floods that begin and end at random.
TEST(SharedLimits, TheErrorStaysWithinItsBound) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    std::mt19937_64 random(seed);
    const Settings settings{.requests = std::uint64_t{1} << random() % 11,
                            .burst = std::uint64_t{1} << random() % 8,
                            .agents = 2 + random() % 4,
                            .delay = milliseconds(random() % 60)};
    World world(settings, seed);
    std::vector<bool> flooded(settings.agents, false);
    const unsigned tries = 1 + static_cast<unsigned>(random() % 4);
    // The most by which the passed exceed the rate from any time on, as one walk over the time: the largest rise of
    // passed - requests x time.
    double lowest = 0;
    double rise = 0;
    for (int ms = 0; ms < 3'000; ++ms) {
      if (ms % 200 == 0) {
        for (std::size_t i = 0; i < flooded.size(); ++i) flooded[i] = random() % 3 != 0;
      }
      const double before = static_cast<double>(world.passed()) -
                            static_cast<double>(settings.requests) * in_seconds(world.now() - kStart);
      lowest = std::min(lowest, before);
      world.step(flooded, tries);
      const double after = static_cast<double>(world.passed()) -
                           static_cast<double>(settings.requests) * in_seconds(world.now() - kStart);
      rise = std::max(rise, after - lowest);
    }
    const double error = rise - static_cast<double>(settings.burst);
    ASSERT_LE(error, error_bound(settings) + 1) << "seed " << seed << ", " << settings.agents << " agents, "
                                                << settings.requests << "/s, burst " << settings.burst;
    worst = std::max(worst, error / error_bound(settings));
  }
  std::printf("3,000 schedules: at worst %.0f%% of the bound\n", worst * 100);
}

/// In the long run the rate is that of one agent, however many are flooded: what was too much is owed.
TEST(SharedLimits, InTheLongRunTheRateIsExact) {
  for (const Settings& settings : {Settings{100, 100, 3, milliseconds(5)}, Settings{1'000, 1, 3, milliseconds(20)},
                                   Settings{10, 50, 5, milliseconds(50)}}) {
    World world(settings, 1);
    const std::vector<bool> all(settings.agents, true);
    constexpr auto kTime = seconds(60);
    for (int ms = 0; ms < 60'000; ++ms) world.step(all, 3);
    const double passed = static_cast<double>(world.passed());
    EXPECT_LE(passed, allowed(settings, kTime) + error_bound(settings));
    EXPECT_GE(passed, 0.95 * static_cast<double>(settings.requests) * in_seconds(kTime));
  }
}

/// A client of one agent alone has the whole limit, burst and rate: nothing is refused for the others' sake.
TEST(SharedLimits, AClientOfOneAgentHasAllOfIt) {
  const Settings settings{100, 100, 3, milliseconds(20)};
  World world(settings, 1);
  for (int ms = 0; ms < 10'000; ++ms) world.step({true, false, false}, 3);
  EXPECT_GE(static_cast<double>(world.passed()) + 1, allowed(settings, seconds(10)));
  EXPECT_LE(static_cast<double>(world.passed()), allowed(settings, seconds(10)));
}

/// The controller is away: each has its share, and all together what they had before.
TEST(SharedLimits, WithoutTheControllerAllTogetherKeepTheRate) {
  const Settings settings{90, 30, 3, milliseconds(5)};
  World world(settings, 1);
  const std::vector<bool> all(3, true);
  for (int ms = 0; ms < 2'000; ++ms) world.step(all, 3);
  for (std::size_t i = 0; i < 3; ++i) world.cut(i, true);
  const auto contact = std::chrono::duration_cast<milliseconds>(SharedLimits::kContact + 2 * kInterval);
  for (int ms = 0; ms < contact.count(); ++ms) world.step(all, 3);
  const double before = static_cast<double>(world.passed());
  for (int ms = 0; ms < 60'000; ++ms) world.step(all, 3);
  const double passed = static_cast<double>(world.passed()) - before;
  EXPECT_LE(passed, allowed(settings, seconds(60)) + 3);
  EXPECT_GE(passed, 0.95 * 90 * 60);
  // It is back: what passed meanwhile is told to nobody, and the rate holds again.
  for (std::size_t i = 0; i < 3; ++i) world.cut(i, false);
  const double back = static_cast<double>(world.passed());
  for (int ms = 0; ms < 30'000; ++ms) world.step(all, 3);
  EXPECT_LE(static_cast<double>(world.passed()) - back, allowed(settings, seconds(30)) + error_bound(settings));
}

/// A member that comes counts from its first word on, and has the seed of those that were there.
TEST(SharedLimits, AnAgentThatComesIsHeardAndHears) {
  const Settings settings{50, 50, 2, milliseconds(5)};
  World world(settings, 1);
  for (int ms = 0; ms < 5'000; ++ms) world.step({true, true}, 3);
  world.add_agent();
  const double before = static_cast<double>(world.passed());
  for (int ms = 0; ms < 20'000; ++ms) world.step({true, true, true}, 3);
  Settings three = settings;
  three.agents = 3;
  EXPECT_LE(static_cast<double>(world.passed()) - before, allowed(three, seconds(20)) + error_bound(three));
}

/// Agents that never take are none of those that share: out of contact each has its share of those that do.
TEST(SharedLimits, MembersThatNeverSpeakTakeNoShare) {
  const Settings settings{90, 30, 3, milliseconds(5)};
  World world(settings, 1);
  world.add_silent(6);
  const std::vector<bool> all(3, true);
  for (int ms = 0; ms < 120'000; ++ms) world.step(all, 1);
  for (std::size_t i = 0; i < 3; ++i) world.cut(i, true);
  const auto contact = std::chrono::duration_cast<milliseconds>(SharedLimits::kContact + 2 * kInterval);
  for (int ms = 0; ms < contact.count(); ++ms) world.step(all, 1);
  const double before = static_cast<double>(world.passed());
  for (int ms = 0; ms < 60'000; ++ms) world.step(all, 1);
  const double passed = static_cast<double>(world.passed()) - before;
  EXPECT_LE(passed, allowed(settings, seconds(60)) + 3);
  EXPECT_GE(passed, 0.95 * 90 * 60) << "not a ninth each";
}

TEST(LimitExchange, KeepsNothingForAMemberThatNeverTakes) {
  LimitExchange exchange;
  const auto speaker = exchange.join("one", 5);
  const auto idle = exchange.join("two", 6);
  const std::vector<LimitUse> uses = {{1, 1, 1}};
  for (std::uint64_t i = 0; i < 2 * LimitExchange::kMostUntaken; ++i) {
    exchange.report(speaker, uses);
    EXPECT_EQ(exchange.take(speaker).members, 2U);
  }
  exchange.report(speaker, uses);
  EXPECT_EQ(exchange.take(speaker).members, 1U);
  exchange.report(speaker, uses);
  // It has what comes after it has taken, and nothing of before.
  const auto first = exchange.take(idle);
  EXPECT_TRUE(first.uses.empty());
  EXPECT_EQ(first.members, 2U);
  exchange.report(speaker, uses);
  EXPECT_EQ(exchange.take(idle).uses, uses);
  EXPECT_EQ(exchange.take(speaker).members, 2U);
}

TEST(LimitExchange, HasOneMemberOfAName) {
  LimitExchange exchange;
  const auto other = exchange.join("other", 5);
  LimitExchange::Member last = 0;
  std::vector<LimitExchange::Member> older;
  for (int i = 0; i < 40; ++i) {
    if (last != 0) older.push_back(last);
    last = exchange.join("one", 6);
  }
  EXPECT_EQ(exchange.take(other).members, 2U);
  const std::vector<LimitUse> uses = {{1, 1, 1}};
  for (const auto member : older) {
    exchange.report(member, uses);
    EXPECT_TRUE(exchange.take(member).uses.empty());
    exchange.leave(member);
  }
  EXPECT_TRUE(exchange.take(other).uses.empty()) << "a replaced member is not heard";
  exchange.report(other, uses);
  EXPECT_EQ(exchange.take(last).uses, uses) << "it stays when those that it replaced leave";
  exchange.leave(last);
  EXPECT_EQ(exchange.take(other).members, 1U);
}

TEST(LimitExchange, IsBoundedForAMemberThatDoesNotListen) {
  LimitExchange exchange;
  const auto speaker = exchange.join("one", 5);
  const auto deaf = exchange.join("two", 6);
  std::vector<LimitUse> uses;
  for (std::uint64_t key = 0; key < LimitExchange::kMostWaiting + 10; ++key) uses.push_back({1, key, 1});
  exchange.report(speaker, uses);
  exchange.report(speaker, {{{1, 3, ~std::uint32_t{0}}}});
  std::size_t told = 0;
  for (;;) {
    const auto news = exchange.take(deaf);
    EXPECT_EQ(news.seed, 5U);
    EXPECT_EQ(news.members, 2U);
    EXPECT_LE(news.uses.size(), LimitExchange::kMostTold);
    if (news.uses.empty()) break;
    told += news.uses.size();
    for (const LimitUse& use : news.uses) EXPECT_EQ(use.requests, use.key == 3 ? ~std::uint32_t{0} : 1U);
  }
  EXPECT_EQ(told, LimitExchange::kMostWaiting);
  EXPECT_TRUE(exchange.take(speaker).uses.empty()) << "nobody hears his own";
  exchange.leave(deaf);
  EXPECT_EQ(exchange.take(speaker).members, 1U);
  exchange.leave(speaker);
  EXPECT_EQ(exchange.take(exchange.join("three", 9)).seed, 5U) << "it outlives the agents";
}

}  // namespace
}  // namespace edge
