// An agent in the process of its controller: by calls, without gRPC, which starts with the first connection.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "controller/distribute/local_agent.h"
#include "net/loop.h"
#include "tests/agents/sync_world.h"

namespace edge::test {
namespace {

using controller::AgentState;
using controller::Distributor;
using controller::LocalAgent;

std::size_t threads_of_grpc() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    count += name.starts_with("grpc") || name.starts_with("event_engine") || name.starts_with("nexting") ? 1 : 0;
  }
  return count;
}

class LocalTest : public SyncTest {
 protected:
  LocalTest() : thread_([this] { loop_.run(); }) {
    auto started = Distributor::start({.listen = "127.0.0.1:0",
                                       .data_dir = directory_ + "/controller",
                                       .program_key = key_->public_pem(),
                                       .log = log_.logger(),
                                       .history = {},
                                       .accept_on = &loop_});
    EXPECT_TRUE(started) << started.error().text;
    distributor_ = std::move(*started);
    distributor_->on_change([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  ~LocalTest() override {
    own_.reset();
    agents_.clear();
    distributor_.reset();
    loop_.stop();
    thread_.join();
  }

  void start_own() {
    agent::ServiceOptions service;
    service.log = std::make_shared<edge::Log>(LogOptions{.program = "own"});
    service.server.threads = 1;
    auto started = agent::Service::start(std::move(service));
    ASSERT_TRUE(started) << started.error().text;
    own_ = std::make_unique<Agent>();
    own_->service = std::move(*started);
    auto sync = agent::Sync::open(
        {.controller = {}, .name = "own", .node = "here", .data_dir = directory_ + "/own", .without_certificate = true},
        *own_->service);
    ASSERT_TRUE(sync) << sync.error().text;
    own_->sync = std::move(*sync);
    auto key = program::VerifyKey::from_pem(key_->public_pem());
    ASSERT_TRUE(key);
    own_->sync->connect(
        [this](const std::string& hello, agent::FromLocalController from) { return connect(hello, std::move(from)); },
        std::move(*key));
  }

  Result<agent::ToLocalController> connect(const std::string& hello, agent::FromLocalController from) {
    controller::LocalAgentEvents events;
    events.program = std::move(from.program);
    events.values = std::move(from.values);
    events.addresses = std::move(from.addresses);
    events.ended = std::move(from.ended);
    events.answer = [](const controller::AgentQuestion& question) {
      return controller::AgentAnswer{200, "text/plain", question.target};
    };
    auto connected = distributor_->connect("own", hello, std::move(events));
    if (!connected) return connected.error();
    const std::shared_ptr<LocalAgent> agent = std::move(*connected);
    agent::ToLocalController to;
    to.applied = [agent](const std::string& message) { agent->applied(message); };
    to.refused = [agent](const program::Hash& program, const std::string& reason) { agent->refused(program, reason); };
    to.values_applied = [agent](std::uint64_t version) { agent->values_applied(version); };
    to.report = [agent](const std::string& message) { agent->report(message); };
    return to;
  }

  const std::size_t before_ = threads_of_grpc();  ///< of another test in this process
  net::Loop loop_;
  std::thread thread_;
  std::unique_ptr<Agent> own_;
};

TEST_F(LocalTest, ProgramsAndValuesComeAndAreAcknowledgedWithoutGrpc) {
  start_own();
  const SyncBytes first = program_of(1, *key_);
  distributor_->publish({.program = first, .values = program::ValueSet{}});
  ASSERT_TRUE(runs("own", first));
  EXPECT_EQ(distributor_->agent("own")->node, "here");
  EXPECT_EQ(distributor_->behind("own", hash_of(first)), "");
  // Refused, with the reason, and the next one is taken.
  const auto other = program::SigningKey::generate();
  const SyncBytes forged = program_of(2, *other);
  distributor_->publish({.program = forged, .values = program::ValueSet{}});
  ASSERT_TRUE(becomes("own", [&](const AgentState& state) { return state.refused.program == hash_of(forged); }));
  EXPECT_EQ(distributor_->agent("own")->refused.reason, "the program is signed by another key");
  const SyncBytes foreign = program_of(3, *key_, program::Target::kAarch64);
  distributor_->publish({.program = foreign, .values = program::ValueSet{}});
  ASSERT_TRUE(becomes("own", [&](const AgentState& state) { return state.refused.program == hash_of(foreign); }));
  const SyncBytes fourth = program_of(4, *key_);
  distributor_->publish({.program = fourth, .values = program::ValueSet{}});
  ASSERT_TRUE(runs("own", fourth));
  EXPECT_LE(threads_of_grpc(), before_);
}

TEST_F(LocalTest, ComesBackWithWhatItKeptAndAfterItWasDrivenOut) {
  start_own();
  const SyncBytes first = program_of(1, *key_);
  distributor_->publish({.program = first, .values = program::ValueSet{}});
  ASSERT_TRUE(runs("own", first));
  own_.reset();
  ASSERT_TRUE(becomes("own", [](const AgentState& state) { return !state.connected; }));
  start_own();
  ASSERT_TRUE(runs("own", first));
  auto client = inspect();
  ASSERT_TRUE(client);
  ASSERT_TRUE((*client)->revoke("own"));
  const SyncBytes second = program_of(2, *key_);
  distributor_->publish({.program = second, .values = program::ValueSet{}});
  EXPECT_TRUE(runs("own", second));
}

TEST_F(LocalTest, OtherAgentsAndAdministratorsConnectBesides) {
  start_own();
  const SyncBytes first = program_of(1, *key_);
  distributor_->publish({.program = first, .values = program::ValueSet{}});
  ASSERT_TRUE(runs("own", first));
  start_agent("edge-1");
  ASSERT_TRUE(runs("edge-1", first));
  auto client = inspect();
  ASSERT_TRUE(client) << client.error().text;
  const auto agents = (*client)->agents();
  ASSERT_TRUE(agents) << agents.error().text;
  ASSERT_EQ(agents->agents.size(), 2U);
  EXPECT_EQ(agents->agents.front().name, "edge-1");
  EXPECT_EQ(agents->agents.back().name, "own");
  const auto answer = (*client)->ask("own", {"GET", "/debug/x?y"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->body, "/debug/x?y");
  EXPECT_FALSE((*client)->join_file("own")) << "the name is given to nobody else";
}

}  // namespace
}  // namespace edge::test
