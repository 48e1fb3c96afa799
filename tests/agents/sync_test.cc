// What agents get from a controller, and what they do without one.
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "agent/sync/agent_store.h"
#include "base/hash.h"
#include "base/os/file.h"
#include "tests/agents/sync_world.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using controller::AgentState;
using std::chrono::hours;

using Bytes = SyncBytes;

program::EndpointSet endpoints(unsigned count) {
  program::EndpointSet set;
  set.backends.push_back({stable_id("ProxyBackend", "shop", "api"), "shop", "api", {}});
  for (unsigned i = 0; i < count; ++i) {
    set.backends[0].endpoints.push_back({*parse_ip("10.0.0." + std::to_string(i + 1)), 8080, true});
  }
  return set;
}

program::SecretSet secrets(const std::string& value) {
  program::SecretSet set;
  set.secrets.push_back({"shop", "cert", {{"tls.key", std::make_shared<const std::string>(value)}}});
  return set;
}

TEST_F(SyncTest, AnAgentJoinsAndRunsWhatIsPublished) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(2), secrets("k"))});
  ASSERT_TRUE(runs("edge-1", first));
  const auto state = distributor_->agent("edge-1");
  EXPECT_EQ(state->node, "node-of-edge-1");
  EXPECT_EQ(state->version, EDGE_VERSION);
  EXPECT_TRUE(state->cpu.starts_with("x86-64") || state->cpu == "aarch64");
  EXPECT_GT(state->certificate_until, now() + hours(24 * 29));

  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::value_set(endpoints(3), {})});
  EXPECT_TRUE(runs("edge-1", second));
  // Values alone.
  distributor_->publish({second, program::value_set(endpoints(5), {})});
  EXPECT_TRUE(runs("edge-1", second));
}

TEST_F(SyncTest, ValuesComeWithoutAProgramAndAProgramWithoutValues) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({.program = first});
  distributor_->publish({.values = program::value_set(endpoints(2), secrets("k"))});
  ASSERT_TRUE(runs("edge-1", first)) << "once there are both";
  const std::uint64_t before = distributor_->agent("edge-1")->values;

  distributor_->publish({.values = program::value_set(endpoints(3), {})});
  ASSERT_TRUE(
      becomes("edge-1", [&](const AgentState& state) { return state.values_current && state.values > before; }));
  EXPECT_EQ(distributor_->agent("edge-1")->program, hash_of(first));
  const std::uint64_t after = distributor_->agent("edge-1")->values;

  const Bytes second = program_of(2, *key_);
  distributor_->publish({.program = second});
  ASSERT_TRUE(runs("edge-1", second));
  EXPECT_EQ(distributor_->agent("edge-1")->values, after);

  // Who comes later gets both, and nothing of what was before.
  start_agent("edge-2");
  ASSERT_TRUE(runs("edge-2", second));
  agents_.clear();
  for (const char* name : {"edge-1", "edge-2"}) {
    const auto store = agent::AgentStore::open(directory_ + "/" + name, name, "");
    ASSERT_TRUE(store);
    std::string fault;
    const auto kept = store->last(fault);
    ASSERT_TRUE(kept) << kept.error().text;
    EXPECT_EQ(kept->endpoints, endpoints(3)) << name;
    EXPECT_TRUE(kept->secrets.secrets.empty()) << name;
  }
}

TEST_F(SyncTest, AnAgentHasValuesOnceItHasReportedThemAndNotWhenTheyArePublished) {
  start_controller();
  start_agent("edge-1");
  start_agent("edge-2");
  const Bytes first = program_of(1, *key_);
  const std::uint64_t before = distributor_->publish({first, program::value_set(endpoints(1), {})});
  ASSERT_TRUE(runs("edge-1", first));
  ASSERT_TRUE(runs("edge-2", first));
  EXPECT_TRUE(distributor_->have_values(before));

  // The server's thread is kept from what is published, as a loaded machine does.
  std::promise<void> kept_promise, released_promise;
  std::future<void> kept = kept_promise.get_future();
  std::once_flag once;
  distributor_->on_change([&] {
    std::call_once(once, [&] {
      kept_promise.set_value();
      released_promise.get_future().wait();
    });
  });
  agents_.pop_back();  // a change
  ASSERT_EQ(kept.wait_for(kSyncPatience), std::future_status::ready);
  const std::uint64_t after = distributor_->publish({.values = program::value_set(endpoints(2), {})});
  EXPECT_TRUE(distributor_->agent("edge-1")->values_current) << "with what was published before";
  EXPECT_FALSE(distributor_->have_values(after));
  released_promise.set_value();
  distributor_->on_change([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  ASSERT_TRUE(becomes("edge-1", [&](const AgentState&) { return distributor_->have_values(after); }));
  EXPECT_EQ(distributor_->agent("edge-1")->values, after);
}

TEST_F(SyncTest, AWrongSignatureIsRefusedWithTheReasonAndTheNextProgramIsTaken) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  const auto other = program::SigningKey::generate();
  const Bytes forged = program_of(2, *other);
  distributor_->publish({forged, program::ValueSet{}});
  ASSERT_TRUE(becomes("edge-1", [&](const AgentState& s) { return s.refused.program == hash_of(forged); }));
  EXPECT_EQ(distributor_->agent("edge-1")->refused.reason, "the program is signed by another key");
  EXPECT_EQ(distributor_->agent("edge-1")->program, hash_of(first));
  const Bytes third = program_of(3, *key_);
  distributor_->publish({third, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", third));
}

TEST_F(SyncTest, AProgramForAnotherCpuIsNotSent) {
  start_controller();
  start_agent("edge-1");
  EXPECT_EQ(distributor_->behind("edge-1", ""), "the controller has no program yet");
  const Bytes foreign = program_of(1, *key_, program::Target::kAarch64);
  distributor_->publish({foreign, program::ValueSet{}});
  ASSERT_TRUE(becomes("edge-1", [&](const AgentState& s) { return s.refused.program == hash_of(foreign); }));
  const std::string behind = distributor_->behind("edge-1", "");
  EXPECT_EQ(behind.find("the agent refuses " + hash_of(foreign) + ": it is made for aarch64"), 0U) << behind;
  EXPECT_EQ(distributor_->behind("edge-2", ""),
            "the agent has no connection to its controller, which has " + hash_of(foreign));
  EXPECT_NE(distributor_->agent("edge-1")->refused.reason.find("made for aarch64"), std::string::npos);
  const Bytes own = program_of(2, *key_);
  distributor_->publish({own, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", own));
  EXPECT_EQ(distributor_->behind("edge-1", hash_of(own)), "");
}

TEST_F(SyncTest, AControllerIsReachedWhereItListens) {
  for (const std::string listen : {"127.0.0.2:0", "[::1]:0", "0.0.0.0:0"}) {
    start_controller(listen);
    auto with = options("edge-1");
    with.controller = distributor_->address();
    start_agent(with);
    const Bytes first = program_of(1, *key_);
    distributor_->publish({first, program::ValueSet{}});
    EXPECT_TRUE(runs("edge-1", first)) << listen;
    agents_.clear();
    distributor_.reset();
  }
}

TEST_F(SyncTest, TheControllerGoesAndComesBack) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(1), {})});
  ASSERT_TRUE(runs("edge-1", first));
  const std::uint16_t port = distributor_->port();
  distributor_.reset();
  start_controller("127.0.0.1:" + std::to_string(port));
  distributor_->publish({first, program::value_set(endpoints(1), {})});
  EXPECT_TRUE(runs("edge-1", first));
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::value_set(endpoints(1), {})});
  EXPECT_TRUE(runs("edge-1", second));
}

TEST_F(SyncTest, WhoEndsOnPurposeIsNotTakenForLost) {
  start_controller();
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  start_agent("edge-1");
  ASSERT_TRUE(runs("edge-1", first));
  agents_.clear();
  ASSERT_TRUE(becomes("edge-1", [](const AgentState& s) { return !s.connected; }));
  EXPECT_TRUE(log_.has("info an agent has left agent=edge-1"));
  // A controller that ends, on its side.
  start_agent("edge-2");
  ASSERT_TRUE(runs("edge-2", first));
  distributor_.reset();
  EXPECT_TRUE(log_.has("info an agent has left agent=edge-2"));
  EXPECT_EQ(log_.text().find("warn"), std::string::npos) << log_.text();
}

TEST_F(SyncTest, AnAgentStartsFromDiskWithoutAController) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(3), secrets("do not tell"))});
  ASSERT_TRUE(runs("edge-1", first));
  const auto with = options("edge-1");
  agents_.clear();
  const std::string sealed = *read_file(with.data_dir + "/secrets.sealed", 1 << 20);
  EXPECT_EQ(sealed.find("do not tell"), std::string::npos);
  EXPECT_EQ(sealed.find("ZG8gbm90IHRlbGw"), std::string::npos);
  for (const auto& entry : fs::directory_iterator(with.data_dir)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
  }
  distributor_.reset();

  Agent& again = start_agent(with);
  const auto until = std::chrono::steady_clock::now() + kSyncPatience;
  while (again.service->program() != hash_of(first) && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_EQ(again.service->program(), hash_of(first));
}

/// A disk without room: what could not be written is written once it can be, without another program.
TEST_F(SyncTest, AnAgentWritesLaterWhatItCouldNotWrite) {
  start_controller();
  const auto with = options("edge-1");
  const std::string program = with.data_dir + "/program.edgeprog";
  const std::string values = with.data_dir + "/endpoints.json";
  for (const std::string& position : {program, values}) fs::create_directories(position + "/in-the-way");
  fs::permissions(with.data_dir, fs::perms::owner_all);
  start_agent(with);
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(3), {})});
  ASSERT_TRUE(runs("edge-1", first));
  const auto is_written = [](const std::string& position) {
    const auto until = std::chrono::steady_clock::now() + kSyncPatience;
    while (!fs::is_regular_file(position) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return fs::is_regular_file(position);
  };
  fs::remove_all(program);
  EXPECT_TRUE(fs::is_directory(values));
  fs::remove_all(values);
  EXPECT_TRUE(is_written(values));
  EXPECT_TRUE(is_written(program));
}

TEST_F(SyncTest, SecretsThatAProgramNamesNoMoreLeaveTheAgentsDisk) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(1), secrets("k"))});
  ASSERT_TRUE(runs("edge-1", first));
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::value_set(endpoints(1), {})});
  ASSERT_TRUE(runs("edge-1", second));
  agents_.clear();
  const auto store = agent::AgentStore::open(directory_ + "/edge-1", "edge-1", "");
  ASSERT_TRUE(store);
  std::string fault;
  const auto kept = store->last(fault);
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(fault, "");
  EXPECT_TRUE(kept->secrets.secrets.empty());
}

TEST_F(SyncTest, ASecondProcessOfANameTakesOver) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  start_agent("edge-1");
  ASSERT_TRUE(runs("edge-1", first));
  agents_.erase(agents_.begin());
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", second));
}

TEST_F(SyncTest, AFastRowOfProgramsEndsAtTheLast) {
  start_controller();
  start_agent("edge-1");
  start_agent("edge-2");
  Bytes last;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    last = program_of(i, *key_);
    distributor_->publish({last, program::value_set(endpoints(static_cast<unsigned>(i % 5)), {})});
  }
  EXPECT_TRUE(runs("edge-1", last));
  EXPECT_TRUE(runs("edge-2", last));
}

TEST_F(SyncTest, AFastRowOfValuesIsTakenInOrderAndEndsAtTheLast) {
  start_controller();
  start_agent("edge-1");
  const Bytes program = program_of(1, *key_);
  distributor_->publish({program, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", program));
  std::uint64_t before = 0;
  for (unsigned i = 1; i <= 1000; ++i) {
    distributor_->publish({.values = program::value_set(endpoints(i % 9 + 1), {})});
    const std::uint64_t now = distributor_->agent("edge-1")->values;
    EXPECT_GE(now, before);
    before = now;
  }
  const Bytes last = program_of(2, *key_);
  distributor_->publish({last, program::value_set(endpoints(12), {})});
  ASSERT_TRUE(runs("edge-1", last));
  agents_.clear();
  const auto store = agent::AgentStore::open(directory_ + "/edge-1", "edge-1", "");
  ASSERT_TRUE(store);
  std::string fault;
  EXPECT_EQ(store->last(fault)->endpoints, endpoints(12));
}

TEST_F(SyncTest, AnAdministratorAsksAndAnAgentMayNot) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  auto client = inspect();
  ASSERT_TRUE(client) << client.error().text;
  const auto agents = (*client)->agents();
  ASSERT_TRUE(agents) << agents.error().text;
  EXPECT_EQ(agents->published, hash_of(first));
  ASSERT_EQ(agents->agents.size(), 1U);
  EXPECT_EQ(agents->agents[0].name, "edge-1");
  const auto program = (*client)->program("edge-1");
  ASSERT_TRUE(program) << program.error().text;
  EXPECT_EQ(*program, *first);
  EXPECT_EQ((*client)->agent("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*client)->history().error().code, ErrorCode::kUnimplemented);
  EXPECT_EQ((*client)->progress({}).error().code, ErrorCode::kUnimplemented);

  // An agent's own credentials are not an administrator's.
  const std::string own = *read_file(directory_ + "/edge-1/agent.pem", 1 << 16);
  const std::string roots = *read_file(directory_ + "/edge-1/authorities.pem", 1 << 16);
  const std::string file = directory_ + "/as-agent.pem";
  const std::string text = "controller: 127.0.0.1:" + std::to_string(distributor_->port()) + "\n" + own + roots;
  ASSERT_TRUE(write_file(file, std::string_view(text), FileAccess::kOwnerOnly));
  auto denied = controller::InspectClient::open({.controller = {}, .credentials_file = file});
  ASSERT_TRUE(denied) << denied.error().text;
  EXPECT_EQ((*denied)->agents().error().code, ErrorCode::kPermissionDenied);
  EXPECT_TRUE(log_.has("the certificate of edge-1 is not for this call"));
}

}  // namespace
}  // namespace edge::test
