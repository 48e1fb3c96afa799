// A controller's Distributor and agents' Syncs, over loopback and real TLS.
#include "agent/sync/sync.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/service.h"
#include "agent/sync/agent_store.h"
#include "base/hash.h"
#include "base/os/file.h"
#include "base/test_log.h"
#include "controller/distribute/distributor.h"
#include "controller/distribute/inspect_client.h"
#include "program/sign.h"
#include "program/test_program.h"

namespace edge {
namespace {

namespace fs = std::filesystem;
using controller::AgentState;
using controller::Distributor;
using controller::Published;
using controller::WallTime;
using std::chrono::hours;
using std::chrono::seconds;

constexpr auto kPatience = seconds(120);

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// Programs that differ by number: they have no listeners, and one host section each besides.
Bytes program_of(std::uint64_t number, const program::SigningKey& key,
                 program::Target target = program::Target::kTablesOnly) {
  program::sample::Host host(number);
  std::vector<program::SectionInput> sections;
  sections.push_back({program::SectionKind::kHost, number, program::make_blob(std::move(host).build())});
  sections.push_back({program::SectionKind::kListeners, 0, program::make_blob(program::sample::empty_listeners())});
  sections.push_back({program::SectionKind::kBackends, 0, program::make_blob(program::sample::empty_backends())});
  sections.push_back({program::SectionKind::kPolicies, 0, program::make_blob(program::sample::empty_policies())});
  auto bytes = program::assemble(target, std::move(sections));
  EXPECT_TRUE(key.sign(bytes));
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

std::string hash_of(const Bytes& bytes) { return program::to_hex(program::read(bytes)->hash()); }

class SyncTest : public testing::Test {
 protected:
  SyncTest() {
    std::string pattern = (fs::temp_directory_path() / "sync.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SyncTest() override {
    agents_.clear();
    distributor_.reset();
    fs::remove_all(directory_);
  }

  void start_controller(const std::string& listen = "127.0.0.1:0") {
    auto started = Distributor::start({.listen = listen,
                                       .data_dir = directory_ + "/controller",
                                       .program_key = key_->public_pem(),
                                       .log = log_.logger(),
                                       .history = {},
                                       .clock = [this] { return now(); }});
    ASSERT_TRUE(started) << started.error().text;
    distributor_ = std::move(*started);
    distributor_->on_change([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }

  struct Agent {
    std::unique_ptr<agent::Service> service;
    std::unique_ptr<agent::Sync> sync;
    ~Agent() { sync.reset(); }
  };

  agent::SyncOptions options(const std::string& name) {
    return {.controller = "127.0.0.1:" + std::to_string(distributor_->port()),
            .name = name,
            .node = "node-of-" + name,
            .token_file = distributor_->join_file(),
            .data_dir = directory_ + "/" + name,
            .clock = [this] { return now(); }};
  }

  Agent& start_agent(const agent::SyncOptions& with) {
    auto made = std::make_unique<Agent>();
    agent::ServiceOptions service;
    service.log = std::make_shared<edge::Log>(LogOptions{.program = with.name});
    service.server.threads = 1;
    auto started = agent::Service::start(std::move(service));
    EXPECT_TRUE(started) << started.error().text;
    made->service = std::move(*started);
    auto sync = agent::Sync::start(with, *made->service);
    EXPECT_TRUE(sync) << sync.error().text;
    if (sync) made->sync = std::move(*sync);
    agents_.push_back(std::move(made));
    return *agents_.back();
  }
  Agent& start_agent(const std::string& name) { return start_agent(options(name)); }

  /// Waits until the agent's state is as wanted.
  bool becomes(const std::string& name, const std::function<bool(const AgentState&)>& wanted) {
    std::unique_lock lock(mutex_);
    const bool seen = changed_.wait_for(lock, kPatience, [&] {
      const auto state = distributor_->agent(name);
      return state && wanted(*state);
    });
    if (seen) return true;
    const auto state = distributor_->agent(name);
    ADD_FAILURE() << name
                  << (state ? ": runs " + state->program + ", refused: " + state->refused.reason : " is not there")
                  << "\n"
                  << log_.text();
    return false;
  }
  bool runs(const std::string& name, const Bytes& program) {
    const std::string hash = hash_of(program);
    return becomes(name, [&](const AgentState& state) {
      return state.connected && state.program == hash && state.values_current && state.refused.program.empty();
    });
  }

  WallTime now() const { return std::chrono::system_clock::now() + shift_.load(); }
  Result<std::unique_ptr<controller::InspectClient>> inspect() {
    return controller::InspectClient::open({.controller = {}, .credentials_file = distributor_->admin_file()});
  }

  std::string directory_;
  std::atomic<seconds> shift_{seconds(0)};
  Result<program::SigningKey> key_ = program::SigningKey::generate();
  TestLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Distributor> distributor_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

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

TEST_F(SyncTest, AWrongTokenIsRefusedAndLogged) {
  start_controller();
  std::string join = *read_file(distributor_->join_file(), 1 << 16);
  join[join.find("token: ") + 10] ^= 1;
  ASSERT_TRUE(write_file(directory_ + "/forged", std::string_view(join), FileAccess::kOwnerOnly));
  auto with = options("edge-1");
  with.token_file = directory_ + "/forged";
  start_agent(with);
  EXPECT_TRUE(log_.has("warn a call is refused from=127.0.0.1:"));
  EXPECT_TRUE(log_.has(" reason=the token is wrong"));
  EXPECT_FALSE(distributor_->agent("edge-1"));
  EXPECT_EQ(log_.text().find(join.substr(join.find("token: ") + 7, 20)), std::string::npos) << "the token is logged";
}

TEST_F(SyncTest, AnotherAuthoritysCertificateIsRefused) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  agents_.clear();
  // The controller begins anew, with an authority that never saw this agent.
  const std::uint16_t port = distributor_->port();
  distributor_.reset();
  fs::remove_all(directory_ + "/controller");
  start_controller("127.0.0.1:" + std::to_string(port));
  distributor_->publish({first, program::ValueSet{}});
  auto with = options("edge-1");
  with.token_file.clear();
  start_agent(with);
  start_agent("edge-2");
  ASSERT_TRUE(runs("edge-2", first));
  EXPECT_FALSE(distributor_->agent("edge-1"));
}

TEST_F(SyncTest, ANewJoinFileOfAnotherAuthorityReplacesTheCertificate) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  agents_.clear();
  distributor_.reset();
  fs::remove_all(directory_ + "/controller");
  key_ = program::SigningKey::generate();
  start_controller();
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::ValueSet{}});
  start_agent("edge-1");
  EXPECT_TRUE(runs("edge-1", second));
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
  const auto until = std::chrono::steady_clock::now() + kPatience;
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
  for (const std::string& place : {program, values}) fs::create_directories(place + "/in-the-way");
  fs::permissions(with.data_dir, fs::perms::owner_all);
  start_agent(with);
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::value_set(endpoints(3), {})});
  ASSERT_TRUE(runs("edge-1", first));
  const auto is_written = [](const std::string& place) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!fs::is_regular_file(place) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return fs::is_regular_file(place);
  };
  fs::remove_all(program);
  EXPECT_TRUE(fs::is_directory(values));
  fs::remove_all(values);
  EXPECT_TRUE(is_written(values));
  EXPECT_TRUE(is_written(program));
}

TEST_F(SyncTest, CertificatesAreRenewedAtTwoThirdsAndOldOnesEnd) {
  shift_ = -hours(24 * 20);  // what is issued now holds for ten days more by the machine's clock
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  const WallTime until = distributor_->agent("edge-1")->certificate_until;
  shift_ = seconds(10);
  ASSERT_TRUE(becomes("edge-1", [&](const AgentState& s) { return s.connected && s.certificate_until > until; }));
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", second));
}

TEST_F(SyncTest, AnAgentWhoseClockIsAheadRenewsOnceAndWaits) {
  start_controller();
  std::atomic<seconds> ahead{seconds(0)};
  auto with = options("edge-1");
  with.clock = [this, &ahead] { return now() + ahead.load(); };
  start_agent(with);
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  const auto certificate = [&] { return *read_file(with.data_dir + "/agent.pem", 1 << 16); };
  const std::string joined = certificate();
  ahead = hours(24 * 25);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (certificate() == joined && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  const std::string renewed = certificate();
  ASSERT_NE(renewed, joined);
  // A session that is to renew does so in the turn in which it takes a program, before it takes another.
  for (std::uint64_t i = 2; i <= 4; ++i) {
    const Bytes next = program_of(i, *key_);
    distributor_->publish({next, program::ValueSet{}});
    ASSERT_TRUE(runs("edge-1", next));
  }
  EXPECT_EQ(certificate(), renewed);
  agents_.clear();  // before its clock
}

TEST_F(SyncTest, OneAuthorityFollowsAnotherWithoutLosingAnAgent) {
  // Times are chosen so that all certificates hold by the machine's clock, too, which TLS goes by.
  const seconds begins = -hours(24 * 30) + std::chrono::minutes(5);
  // Four fifths of an authority's time before it is followed, and a little: not yet when the agent joins.
  shift_ = begins - hours(24 * 2920) + std::chrono::minutes(13);
  start_controller();
  distributor_.reset();
  shift_ = begins - std::chrono::minutes(1);
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  const auto roots = [&] { return *read_file(directory_ + "/controller/agents/roots.pem", 1 << 16); };
  const auto wait_for = [&](const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return condition();
  };
  const std::string one = roots();
  shift_ = begins + std::chrono::minutes(1) + seconds(1);
  ASSERT_TRUE(wait_for([&] { return roots().size() > one.size(); }));
  // The agent is told over its stream, and keeps it.
  const auto believed = [&] { return *read_file(directory_ + "/edge-1/authorities.pem", 1 << 16); };
  ASSERT_TRUE(wait_for([&] { return believed() == roots(); }));
  const WallTime until = distributor_->agent("edge-1")->certificate_until;
  shift_ = std::chrono::minutes(2);
  ASSERT_TRUE(wait_for([&] { return !roots().starts_with(one); }));
  ASSERT_TRUE(becomes("edge-1", [&](const AgentState& s) { return s.connected && s.certificate_until > until; }));
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", second));
  start_agent("edge-2");
  EXPECT_TRUE(runs("edge-2", second));
}

TEST_F(SyncTest, AnExpiredCertificateEndsTheStreamsAndIsNotTaken) {
  shift_ = -hours(24 * 40);
  start_controller();
  auto with = options("edge-1");
  // Its own clock stands still: it does not know.
  with.clock = [at = now()] { return at; };
  start_agent(with);
  // By the machine's clock the controller's certificate holds, the agent's is over.
  EXPECT_TRUE(log_.has("has joined"));
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  start_agent("edge-2");
  EXPECT_FALSE(distributor_->agent("edge-1"));
}

TEST_F(SyncTest, ARevokedAgentIsDrivenOutAtOnce) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  auto client = inspect();
  ASSERT_TRUE(client) << client.error().text;
  ASSERT_TRUE((*client)->revoke("edge-1"));
  ASSERT_TRUE(becomes("edge-1", [](const AgentState& s) { return !s.connected; }));
  EXPECT_TRUE(log_.has("the certificate of edge-1 is revoked"));
  // What an operator did, what he should look at, and what is of interest to who looks for something alone.
  EXPECT_TRUE(log_.has("info an agent's certificates are revoked agent=edge-1"));
  EXPECT_TRUE(log_.has("warn an agent is gone agent=edge-1"));
  EXPECT_TRUE(log_.has("debug an agent is connected agent=edge-1 from=127.0.0.1:"));
}

TEST_F(SyncTest, ANameThatIsTakenIsGivenToAnotherKeyByAnAdministratorAlone) {
  start_controller();
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  // Another machine, which has the join file too.
  auto other = options("edge-1");
  other.data_dir = directory_ + "/other";
  start_agent(other);
  EXPECT_TRUE(log_.has("an agent with another key has the name edge-1"));
  const Bytes second = program_of(2, *key_);
  distributor_->publish({second, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", second)) << "the one that has the name is not disturbed";
  EXPECT_EQ(agents_[1]->service->program(), "");

  auto client = inspect();
  ASSERT_TRUE(client) << client.error().text;
  const auto text = (*client)->join_file("edge-1");
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_FALSE((*client)->join_file("no name"));
  agents_.pop_back();
  other.token_file = directory_ + "/edge-1.join";
  ASSERT_TRUE(write_file(other.token_file, std::string_view(*text), FileAccess::kOwnerOnly));
  start_agent(other);
  EXPECT_TRUE(log_.has("the certificate of edge-1 is revoked")) << "whoever had it before";
  const Bytes third = program_of(3, *key_);
  distributor_->publish({third, program::ValueSet{}});
  EXPECT_TRUE(runs("edge-1", third));
  EXPECT_EQ(agents_[0]->service->program(), hash_of(second));
}

TEST_F(SyncTest, AnAgentKeepsTheKeyThatItJoinsWith) {
  start_controller();
  const auto store = agent::AgentStore::open(directory_ + "/edge-1", "edge-1", "");
  ASSERT_TRUE(store);
  // It asked once, and never heard the answer.
  const auto key = store->joining_key();
  ASSERT_TRUE(key);
  EXPECT_EQ(*store->joining_key(), *key);
  start_agent("edge-1");
  const Bytes first = program_of(1, *key_);
  distributor_->publish({first, program::ValueSet{}});
  ASSERT_TRUE(runs("edge-1", first));
  EXPECT_EQ(store->identity()->key, *key);
  EXPECT_FALSE(fs::exists(directory_ + "/edge-1/joining.key"));
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
}  // namespace edge
