// Many agents on one controller, and some that behave badly.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "controller/distribute/distributor.h"
#include "program/sign.h"
#include "tests/agents/light_agent.h"
#include "tests/agents/relay.h"
#include "tests/agents/sectioned_program.h"

namespace edge {
namespace {

namespace fs = std::filesystem;
using controller::Distributor;
using test::LightAgent;
using Bytes = program::sample::Bytes;
using test::sectioned_program;

using program::sample::hash_of;

class FleetTest : public testing::Test {
 protected:
  FleetTest() {
    std::string pattern = (fs::temp_directory_path() / "fleet.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    start({});
  }
  void start(controller::DistributorOptions options) {
    distributor_.reset();
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_;
    options.program_key = "key";
    auto started = Distributor::start(std::move(options));
    ASSERT_TRUE(started) << started.error().text;
    distributor_ = std::move(*started);
    controller_ = "127.0.0.1:" + std::to_string(distributor_->port());
    distributor_->on_change([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  ~FleetTest() override {
    distributor_.reset();
    fs::remove_all(directory_);
  }

  agent::Identity join(const std::string& name) {
    auto identity = LightAgent::join(controller_, distributor_->join_file(), name);
    EXPECT_FALSE(identity.certificate.empty());
    return identity;
  }
  std::unique_ptr<LightAgent> connect(test::LightAgentOptions options) {
    options.controller = controller_;
    return std::make_unique<LightAgent>(options, join(options.name));
  }
  /// Until the controller has heard that `count` agents run the program.
  bool all_run(std::size_t count, const std::string& program) {
    std::unique_lock lock(mutex_);
    std::size_t running = 0;
    const bool all = changed_.wait_for(lock, std::chrono::seconds(300), [&] {
      const auto states = distributor_->agents();
      running = static_cast<std::size_t>(std::ranges::count(states, program, &controller::AgentState::program));
      return running == count;
    });
    EXPECT_EQ(running, count) << "of " << distributor_->agents().size();
    return all;
  }
  void publish(const Bytes& program) { distributor_->publish({program, program::ValueSet{}}); }

  std::string directory_;
  std::unique_ptr<Distributor> distributor_;
  std::string controller_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST_F(FleetTest, AChangeReachesTwoHundredAgents) {
  constexpr std::size_t kAgents = 200;
  constexpr unsigned kChanges = 10;
  // More for a measurement: docs/benchmarks.md.
  const char* const asked = std::getenv("EDGE_FLEET_SECTIONS");
  const unsigned sections = asked == nullptr ? 300 : static_cast<unsigned>(std::max(1, std::atoi(asked)));
  std::vector<std::unique_ptr<LightAgent>> agents;
  for (std::size_t i = 0; i < kAgents; ++i) {
    agents.push_back(connect({.controller = {}, .name = "edge-" + std::to_string(i)}));
  }
  const Bytes first = sectioned_program(0, sections, 500);
  publish(first);
  ASSERT_TRUE(all_run(kAgents, hash_of(first)));
  std::size_t before = 0;
  for (const auto& agent : agents) before += agent->received_bytes();
  double longest = 0;
  const double cpu = cpu_seconds();
  for (unsigned change = 1; change <= kChanges; ++change) {
    const Bytes next = sectioned_program(change, sections, 500);
    const std::string hash = hash_of(next);
    const auto began = std::chrono::steady_clock::now();
    publish(next);
    ASSERT_TRUE(all_run(kAgents, hash));
    longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::size_t after = 0;
  for (const auto& agent : agents) after += agent->received_bytes();
  // Of the whole one section of 500 bytes goes to each agent for each change, and a few lines of a table.
  EXPECT_LT(after - before, kAgents * kChanges * 2000);
  std::printf("200 agents, %u sections: slowest change %.0f ms, CPU of controller and agents %.0f ms a change\n",
              sections, longest * 1000, (cpu_seconds() - cpu) * 1000 / kChanges);
}

TEST_F(FleetTest, AnAgentThatDoesNotReadPinsOneProgramAndHarmsNoOther) {
  const auto deaf = connect({.controller = {}, .name = "deaf", .deaf = true});
  ASSERT_TRUE(deaf->reaches([](const std::string&, std::uint32_t protocol) { return protocol != 0; }));
  const auto good = connect({.controller = {}, .name = "good"});
  std::vector<std::weak_ptr<const std::vector<std::byte>>> published;
  for (unsigned i = 0; i < 20; ++i) {
    const Bytes next = sectioned_program(i, 2, 5'000'000);
    published.push_back(next);
    publish(next);
    const std::string hash = hash_of(next);
    ASSERT_TRUE(good->reaches([&](const std::string& program, std::uint32_t) { return program == hash; })) << i;
  }
  const auto alive = std::ranges::count_if(published, [](const auto& program) { return !program.expired(); });
  EXPECT_LE(alive, 2);  // what is published, and what the deaf one was being sent
}

/// Connections that stay open and carry nothing: a split that nobody is told of.
TEST_F(FleetTest, AStalledLinkPinsOneProgramHarmsNoOtherAndIsNoticed) {
  test::Relay link(distributor_->port());
  const auto identity = join("far");
  LightAgent far({.controller = link.address(), .name = "far"}, identity);
  ASSERT_TRUE(far.reaches([](const std::string&, std::uint32_t protocol) { return protocol != 0; }));
  const auto good = connect({.controller = {}, .name = "good"});
  const auto is_connected = [this](const std::string& name) {
    const auto state = distributor_->agent(name);
    return state && state->connected;
  };
  EXPECT_TRUE(is_connected("far"));
  link.stall();
  std::vector<std::weak_ptr<const std::vector<std::byte>>> published;
  for (unsigned i = 0; i < 20; ++i) {
    const Bytes next = sectioned_program(i, 2, 5'000'000);
    published.push_back(next);
    publish(next);
    const std::string hash = hash_of(next);
    ASSERT_TRUE(good->reaches([&](const std::string& program, std::uint32_t) { return program == hash; })) << i;
  }
  const auto alive = std::ranges::count_if(published, [](const auto& program) { return !program.expired(); });
  EXPECT_LE(alive, 2);
  // Pings are not answered.
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !is_connected("far"); }));
  EXPECT_TRUE(is_connected("good"));
}

TEST_F(FleetTest, SlowAgentsTogetherPinNoMoreThanIsAllowed) {
  controller::DistributorOptions options;
  options.most_pinned = 15'000'000;
  start(std::move(options));
  std::vector<std::unique_ptr<LightAgent>> deaf;
  std::vector<std::weak_ptr<const std::vector<std::byte>>> published;
  const auto is_connected = [this](const std::string& name) {
    const auto state = distributor_->agent(name);
    return state && state->connected;
  };
  const auto good = connect({.controller = {}, .name = "good"});
  for (unsigned i = 0; i < 4; ++i) {
    const Bytes next = sectioned_program(i, 2, 5'000'000);
    published.push_back(next);
    publish(next);
    const std::string hash = hash_of(next);
    ASSERT_TRUE(good->reaches([&](const std::string& program, std::uint32_t) { return program == hash; }));
    // Each is sent another one, and does not read it.
    deaf.push_back(connect({.controller = {}, .name = "deaf-" + std::to_string(i), .deaf = true}));
    ASSERT_TRUE(deaf.back()->reaches([](const std::string&, std::uint32_t protocol) { return protocol != 0; }));
  }
  // The newest is published; of the others one is still sent, as two would be too much.
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60),
                                [&] { return !is_connected("deaf-0") && !is_connected("deaf-1"); }));
  EXPECT_TRUE(is_connected("deaf-2"));
  EXPECT_TRUE(is_connected("deaf-3"));
  EXPECT_TRUE(is_connected("good"));
}

TEST_F(FleetTest, EndpointsAreCountedToWhatSlowAgentsPin) {
  controller::DistributorOptions options;
  options.most_pinned = 100'000'000;
  start(std::move(options));
  std::vector<std::unique_ptr<LightAgent>> deaf;
  const auto is_connected = [this](const std::string& name) {
    const auto state = distributor_->agent(name);
    return state && state->connected;
  };
  const auto good = connect({.controller = {}, .name = "good"});
  program::EndpointSet endpoints;
  endpoints.backends.resize(60);
  for (std::size_t i = 0; i < endpoints.backends.size(); ++i) {
    endpoints.backends[i].backend_id = i + 1;
    endpoints.backends[i].endpoints.resize(800'000 / sizeof(program::Endpoint));
  }
  for (unsigned i = 0; i < 4; ++i) {
    // All programs together have room; it is by their endpoints that two are too much.
    const Bytes next = sectioned_program(i, 2, 5'000'000);
    for (program::BackendEndpoints& backend : endpoints.backends) {
      backend.endpoints[0].port = static_cast<std::uint16_t>(1 + i);
    }
    distributor_->publish({next, program::value_set(endpoints, {})});
    const std::string hash = hash_of(next);
    ASSERT_TRUE(good->reaches([&](const std::string& program, std::uint32_t) { return program == hash; }));
    deaf.push_back(
        connect({.controller = {}, .name = "deaf-" + std::to_string(i), .deaf = true, .takes_values = true}));
    ASSERT_TRUE(deaf.back()->reaches([](const std::string&, std::uint32_t protocol) { return protocol != 0; }));
  }
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60),
                                [&] { return !is_connected("deaf-0") && !is_connected("deaf-1"); }));
  EXPECT_TRUE(is_connected("deaf-2"));
  EXPECT_TRUE(is_connected("deaf-3"));
}

/// All at once, as after a power cut: each makes its key, joins, connects and runs what is published.
TEST_F(FleetTest, AStormOfAgentsJoins) {
  constexpr std::size_t kAgents = 120;
  constexpr std::size_t kThreads = 24;
  const Bytes program = sectioned_program(1, 100, 500);
  publish(program);
  std::vector<std::unique_ptr<LightAgent>> agents(kAgents);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = thread; i < kAgents; i += kThreads) {
          agents[i] = connect({.controller = {}, .name = "edge-" + std::to_string(i)});
        }
      });
    }
  }
  EXPECT_TRUE(all_run(kAgents, hash_of(program)));
  EXPECT_EQ(distributor_->agents().size(), kAgents);
}

TEST_F(FleetTest, AFlappingAgentHarmsNoOther) {
  const auto good = connect({.controller = {}, .name = "good"});
  const auto identity = join("flap");
  std::string hash;
  const auto runs_it = [&](const std::string& program, std::uint32_t) { return program == hash; };
  for (unsigned i = 0; i < 100; ++i) {
    const LightAgent flapping({.controller = controller_, .name = "flap"}, identity);
    const Bytes next = sectioned_program(i);
    publish(next);
    hash = hash_of(next);
    ASSERT_TRUE(good->reaches(runs_it)) << i;
  }
  // It may have gone each time before the controller had heard its name; now it stays.
  LightAgent calm({.controller = controller_, .name = "flap"}, identity);
  EXPECT_TRUE(calm.reaches(runs_it));
  EXPECT_EQ(distributor_->agents().size(), 2U);
}

TEST_F(FleetTest, ANewerAgentIsUnderstoodAndOneThatIsTooOldIsTold) {
  const auto newer =
      connect({.controller = {}, .name = "newer", .protocol = 9, .oldest_protocol = 1, .unknown_words = true});
  const Bytes program = sectioned_program(1);
  publish(program);
  const std::string hash = hash_of(program);
  EXPECT_TRUE(
      newer->reaches([&](const std::string& runs, std::uint32_t protocol) { return protocol == 1 && runs == hash; }));
  const auto older = connect({.controller = {}, .name = "older", .protocol = 0, .oldest_protocol = 0});
  const Error end = older->end();
  EXPECT_EQ(end.code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(end.text, "no protocol in common: the agent speaks 0 to 0, the controller 1 to 1");
  const auto ahead = connect({.controller = {}, .name = "ahead", .protocol = 9, .oldest_protocol = 8});
  EXPECT_EQ(ahead->end().code, ErrorCode::kFailedPrecondition);
}

TEST_F(FleetTest, WithoutACertificateNobodyGetsAProgram) {
  agent::Identity nobody = join("x");
  nobody.certificate.clear();
  nobody.key.clear();
  LightAgent agent({.controller = controller_, .name = "x"}, nobody);
  EXPECT_EQ(agent.end().code, ErrorCode::kUnauthenticated);
  EXPECT_TRUE(distributor_->agents().empty());
}

}  // namespace
}  // namespace edge
