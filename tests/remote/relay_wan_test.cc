// A hub, a relay and fifty agents in one process, with a slow line between the first two: what the line carries, and
// how long a change is on its way.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "controller/authority/remote_identity.h"
#include "controller/distribute/distributor.h"
#include "controller/distribute/hub.h"
#include "controller/distribute/relay/streams.h"
#include "controller/relay/relay.h"
#include "controller/relay/relay_metrics.h"
#include "controller/remote/remote_clusters.h"
#include "controller/remote/remote_service.h"
#include "program/read.h"
#include "program/sign.h"
#include "tests/agents/light_agent.h"
#include "tests/agents/sectioned_program.h"
#include "tests/remote/slow_line.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::LightAgent;
using test::SlowLine;
using Bytes = program::sample::Bytes;
using test::sectioned_program;

constexpr auto kPatience = 120s;
constexpr std::uint64_t kTenMegabits = 10'000'000;

template <typename Condition>
bool comes(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

using program::sample::hash_of;

Bytes small_program(unsigned changed) { return sectioned_program(changed, 20, 1000); }

class RelayWanTest : public testing::Test {
 protected:
  RelayWanTest() {
    std::string pattern = (fs::temp_directory_path() / "wan.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_ + "/hub";
    options.program_key = key_->public_pem();
    options.group_label = "edgeproxy.io/group";
    options.further = [this](Hub& hub) -> std::vector<std::shared_ptr<grpc::Service>> {
      authority_ = &hub.authority();
      clusters_.set_authority(*authority_);
      return {
          remote::make_remote_service(clusters_, tunnels_, questions_, *authority_),
          make_relay_service(hub, [this](const std::string& cluster) { return clusters_.relayed_groups(cluster); })};
    };
    fs::create_directories(options.data_dir);
    fs::create_directories(directory_ + "/site");
    auto started = Distributor::start(std::move(options));
    EXPECT_TRUE(started) << started.error().text;
    hub_ = std::move(*started);
    clusters_.put("default", "berlin",
                  {.heartbeat = {200ms, 20s}, .suspended = false, .created = "2026", .agent_groups = {"default"}});
    clusters_.synced();
  }
  ~RelayWanTest() override {
    agents_.clear();
    relay_.reset();
    line_.reset();
    clusters_.stop();
    hub_.reset();
    fs::remove_all(directory_);
  }

  void start_line(test::LineQuality quality) {
    line_ = std::make_unique<SlowLine>(hub_->port(), quality);
    const auto pair = authority_->invite_remote("berlin", std::chrono::hours(1));
    ASSERT_TRUE(pair);
    const std::string text = text_of({.hub = line_->address(),
                                      .cluster = "berlin",
                                      .certificate = pair->certificate,
                                      .key = pair->key,
                                      .authorities = authority_->roots(),
                                      .program_key = key_->public_pem()});
    ASSERT_TRUE(write_file(directory_ + "/join", std::string_view(text), FileAccess::kOwnerOnly));
  }
  void start_relay(std::uint64_t most_section_bytes = std::uint64_t{1} << 30) {
    relay::RelayOptions options;
    options.most_section_bytes = most_section_bytes;
    options.data_dir = directory_ + "/site";
    options.hub_join = directory_ + "/join";
    options.listen = "127.0.0.1:0";
    options.group_label = "edgeproxy.io/group";
    auto started = relay::Relay::start(std::move(options));
    ASSERT_TRUE(started) << started.error().text;
    relay_ = std::move(*started);
  }
  void start_agent(const std::string& name) {
    const std::string controller = "127.0.0.1:" + std::to_string(relay_->agents().port());
    const auto identity = LightAgent::join(controller, relay_->agents().join_file(), name);
    ASSERT_FALSE(identity.certificate.empty());
    agents_.push_back(
        std::make_unique<LightAgent>(test::LightAgentOptions{.controller = controller, .name = name}, identity));
  }
  bool all_run(const Bytes& program) {
    const std::string hash = hash_of(program);
    for (const auto& agent : agents_) {
      if (!agent->reaches([&](const std::string& runs, std::uint32_t) { return runs == hash; })) return false;
    }
    return true;
  }
  void publish(const Bytes& program) { hub_->publish({.program = program, .values = program::ValueSet{}}); }

  std::string directory_;
  Result<program::SigningKey> key_ = program::SigningKey::generate();
  remote::RemoteClusters clusters_{{.cluster_uid = std::string(32, 'a'), .version = "1.0.0"}};
  remote::Tunnels tunnels_;
  remote::SpokeQuestions questions_;
  Authority* authority_ = nullptr;
  std::unique_ptr<Distributor> hub_;
  std::unique_ptr<SlowLine> line_;
  std::unique_ptr<relay::Relay> relay_;
  std::vector<std::unique_ptr<LightAgent>> agents_;
};

TEST_F(RelayWanTest, ALargeProgramCrossesTheLineOnceForFiftyAgents) {
  const Bytes program = sectioned_program(1, 200, 50'000);
  publish(program);
  start_line({.delay = 40ms, .rate = kTenMegabits});
  start_relay();
  for (int i = 0; i < 50; ++i) start_agent("till-" + std::to_string(i));
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(all_run(program));
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double ratio = static_cast<double>(line_->down()) / static_cast<double>(program->size());
  EXPECT_GT(ratio, 0.99);
  EXPECT_LT(ratio, 1.1);
  std::printf("50 agents, program of %.1f MB at 10 Mbit/s and 80 ms: %.3f times its size from the hub, %.1f s\n",
              static_cast<double>(program->size()) / 1e6, ratio, took);
  // They are told one by one, and gathered.
  EXPECT_TRUE(comes([&] {
    const auto agents = hub_->agents();
    return agents.size() == 50 && std::ranges::all_of(agents, [&](const AgentState& agent) {
             return agent.connected && agent.name.starts_with("berlin:till-") && agent.program == hash_of(program);
           });
  }));
  // One section of two hundred.
  const std::uint64_t before = line_->down();
  const Bytes next = sectioned_program(2, 200, 50'000);
  publish(next);
  ASSERT_TRUE(all_run(next));
  EXPECT_LT(line_->down() - before, 120'000U);
  EXPECT_GT(relay_->figures().store.sections, 200U);
  metrics::Exposition out(metrics::Format::kText);
  relay::write_figures(out, relay_->figures());
  const std::string text = out.finish();
  for (const char* line : {"edge_relay_in_session 1\n", "edge_relay_sessions_total 1\n", "edge_relay_groups 1\n",
                           "edge_relay_groups_without_program 0\n", "edge_relay_groups_without_secrets 0\n",
                           "edge_relay_programs_total 2\n", "edge_relay_section_received_bytes_total 10",
                           "edge_relay_sections 20", "edge_relay_section_bytes 10",
                           "edge_relay_sections_evicted_total 0\n", "edge_relay_sections_corrupt_total 0\n"}) {
    EXPECT_NE(text.find("\n" + std::string(line)), std::string::npos) << line;
  }
}

TEST_F(RelayWanTest, SectionsOfEarlierProgramsAreEvictedAndThoseInUseAreThereWithoutTheHub) {
  constexpr std::uint64_t kMostBytes = 30'000;
  constexpr unsigned kChanges = 40;
  publish(small_program(0));
  start_line({});
  start_relay(kMostBytes);
  start_agent("till");
  for (unsigned change = 1; change <= kChanges; ++change) {
    publish(small_program(change));
    ASSERT_TRUE(all_run(small_program(change)));
    ASSERT_LE(relay_->figures().store.bytes, kMostBytes);
  }
  EXPECT_GT(relay_->figures().store.evicted, 20U);
  // Of the newest nothing was: a relay that starts alone gives it to an agent that is new.
  agents_.clear();
  relay_.reset();
  line_.reset();
  clusters_.stop();
  hub_.reset();
  start_relay(kMostBytes);
  start_agent("fresh");
  EXPECT_TRUE(all_run(small_program(kChanges)));
  EXPECT_EQ(relay_->figures().store.corrupt, 0U);
}

TEST_F(RelayWanTest, TheCertificateOfTheJoinFileIsReplacedAtOnceAndIsNobodysAfterwards) {
  publish(small_program(1));
  start_line({});
  const auto text = read_file(directory_ + "/join", 64 << 10);
  ASSERT_TRUE(text);
  const auto first = read_remote_identity(*text);
  ASSERT_TRUE(first);
  start_relay();
  start_agent("till");
  ASSERT_TRUE(all_run(small_program(1)));
  // A copy of the file is worth nothing from then on, and the site goes on by the certificate that came after it.
  ASSERT_TRUE(comes([&] { return !authority_->identify(first->certificate).ok(); }));
  EXPECT_GT(relay_->figures().spoke.certificate_until, std::chrono::system_clock::now() + std::chrono::hours(24 * 20));
  publish(small_program(2));
  ASSERT_TRUE(all_run(small_program(2)));
  EXPECT_TRUE(comes([&] { return relay_->figures().in_session; }));
}

TEST_F(RelayWanTest, AChangeIsOnItsWayForLittleMoreThanTheLineTakes) {
  publish(sectioned_program(1, 100, 1000));
  start_line({.delay = 80ms, .rate = 0});
  start_relay();
  start_agent("till");
  ASSERT_TRUE(all_run(sectioned_program(1, 100, 1000)));
  ASSERT_TRUE(comes([&] { return hub_->agent("berlin:till").has_value(); }));
  double longest = 0;
  for (unsigned change = 2; change < 12; ++change) {
    const Bytes next = sectioned_program(change, 100, 1000);
    const auto began = std::chrono::steady_clock::now();
    publish(next);
    ASSERT_TRUE(all_run(next));
    longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    // Until the hub knows that the site has it.
    ASSERT_TRUE(comes([&] { return hub_->agent("berlin:till")->program == hash_of(next); }));
  }
  std::printf("a change over a line of 80 ms each way: at the agent after %.0f ms at most\n", longest * 1000);
}

TEST_F(RelayWanTest, ATransferThatIsCutOffGoesOnWhereItEnded) {
  const Bytes program = sectioned_program(1, 200, 20'000);
  publish(program);
  start_line({.delay = 5ms, .rate = kTenMegabits});
  start_relay();
  start_agent("till");
  ASSERT_TRUE(comes([&] { return relay_->figures().received_bytes > program->size() / 2; }));
  line_->cut();
  ASSERT_TRUE(comes([&] { return !relay_->figures().in_session; }));
  line_->mend();
  ASSERT_TRUE(all_run(program));
  EXPECT_LT(line_->down(), program->size() * 12 / 10);
  EXPECT_GE(relay_->figures().sessions, 2U);
}

TEST_F(RelayWanTest, ASectionThatIsDamagedOnDiskIsFetchedAgainAlone) {
  const Bytes program = sectioned_program(1, 50, 10'000);
  publish(program);
  start_line({});
  start_relay();
  start_agent("till");
  ASSERT_TRUE(all_run(program));
  agents_.clear();
  relay_.reset();
  std::size_t damaged = 0;
  for (const auto& file : fs::recursive_directory_iterator(directory_ + "/site/relay/sections")) {
    if (!file.is_regular_file() || file.file_size() != 10'000 || damaged == 3) continue;
    fs::resize_file(file.path(), 10'000 - damaged);
    if (damaged == 0) ASSERT_TRUE(write_file(file.path(), std::string(10'000, 'x'), FileAccess::kOwnerOnly));
    ++damaged;
  }
  ASSERT_EQ(damaged, 3U);
  const std::uint64_t before = line_->down();
  start_relay();
  start_agent("other");
  ASSERT_TRUE(all_run(program));
  EXPECT_LT(line_->down() - before, 150'000U);
  EXPECT_GE(relay_->figures().store.corrupt, 1U);
}

TEST_F(RelayWanTest, WithoutTheHubOnlyAgentsThatRunNothingAreGivenWhatTheDiskHas) {
  const Bytes program = sectioned_program(1, 5, 1000);
  publish(program);
  start_line({});
  start_relay();
  start_agent("till");
  ASSERT_TRUE(all_run(program));
  agents_.clear();
  relay_.reset();
  line_->cut();
  start_relay();
  EXPECT_EQ(relay_->figures().incomplete, 1U);
  start_agent("new");
  ASSERT_TRUE(all_run(program));
  EXPECT_FALSE(relay_->figures().in_session);
  const Bytes next = sectioned_program(2, 5, 1000);
  publish(next);
  line_->mend();
  ASSERT_TRUE(all_run(next));
  EXPECT_TRUE(comes([&] { return relay_->figures().incomplete == 0; }));
}

TEST_F(RelayWanTest, GroupsThatTheSiteMayNotHaveStayAtTheHub) {
  const Bytes program = sectioned_program(1, 5, 1000);
  hub_->publish({.program = program, .values = program::ValueSet{}, .group = "vault"});
  publish(sectioned_program(2, 5, 1000));
  start_line({});
  start_relay();
  const std::string controller = "127.0.0.1:" + std::to_string(relay_->agents().port());
  const auto identity = LightAgent::join(controller, relay_->agents().join_file(), "thief");
  const LightAgent thief({.controller = controller, .name = "thief", .labels = {{"edgeproxy.io/group", "vault"}}},
                         identity);
  start_agent("till");
  ASSERT_TRUE(all_run(sectioned_program(2, 5, 1000)));
  EXPECT_TRUE(comes([&] { return hub_->agent("berlin:thief").has_value(); }));
  EXPECT_EQ(hub_->agent("berlin:thief")->program, "");
  EXPECT_EQ(relay_->figures().programs, 1U);
  // Its object says otherwise from now on.
  clusters_.put(
      "default", "berlin",
      {.heartbeat = {200ms, 20s}, .suspended = false, .created = "2026", .agent_groups = {"default", "vault"}});
  EXPECT_TRUE(comes([&] { return hub_->agent("berlin:thief")->program == hash_of(program); }));
}

TEST_F(RelayWanTest, ASiteThatIsRevokedIsGivenNothing) {
  publish(sectioned_program(1, 5, 1000));
  start_line({});
  start_relay();
  start_agent("till");
  ASSERT_TRUE(all_run(sectioned_program(1, 5, 1000)));
  ASSERT_TRUE(comes([&] { return hub_->agents().size() == 1 && hub_->agents()[0].connected; }));
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_TRUE(comes([&] { return !relay_->figures().in_session && !hub_->agents()[0].connected; }));
  const std::uint64_t sessions = relay_->figures().sessions;
  publish(sectioned_program(2, 5, 1000));
  EXPECT_TRUE(comes([&] { return relay_->figures().spoke.phase.phase == remote::Phase::kFailed; }));
  EXPECT_EQ(relay_->figures().sessions, sessions);
  EXPECT_FALSE(relay_->figures().programs_taken > 1);
}

}  // namespace
}  // namespace edge::controller
