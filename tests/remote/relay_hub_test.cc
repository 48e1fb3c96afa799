// The hub's side of relays, by real streams of relays that say what they like, and by a thousand sites at once.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "controller/distribute/distributor.h"
#include "controller/distribute/hub.h"
#include "controller/distribute/relay/site_programs.h"
#include "controller/distribute/relay/streams.h"
#include "program/values/ordered_certificates.h"
#include "schemas/relay.grpc.pb.h"
#include "tests/agents/sectioned_program.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
namespace v1 = edge::relay::v1;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Bytes = program::sample::Bytes;

constexpr auto kPatience = 120s;

template <typename Condition>
bool comes(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string directory_of(const char* pattern) {
  std::string path = (fs::temp_directory_path() / pattern).string();
  return ::mkdtemp(path.data());
}

v1::AgentsUp change_of(const std::string& name, bool connected = true) {
  v1::AgentsUp up;
  auto& state = *up.add_agents()->mutable_state();
  state.set_name(name);
  state.set_connected(connected);
  return up;
}

/// A relay's stream of agents; what it says is the test's.
class Talker {
 public:
  Talker(std::uint16_t port, const KeyPair& pair, const std::string& roots) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = roots;
    options.pem_private_key = pair.key;
    options.pem_cert_chain = pair.certificate;
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("edge-controller");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::Relays::NewStub(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::SslCredentials(options), arguments));
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    stream_ = stub_->Agents(&context_);
  }
  bool say(const v1::AgentsUp& up) { return stream_->Write(up); }
  bool read(v1::AgentsDown& down) { return stream_->Read(&down); }
  /// Once the hub has ended it.
  grpc::Status end() {
    v1::AgentsDown down;
    while (stream_->Read(&down)) {
    }
    return stream_->Finish();
  }

 private:
  std::unique_ptr<v1::Relays::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentsUp, v1::AgentsDown>> stream_;
};

class RelayHubTest : public testing::Test {
 protected:
  RelayHubTest() {
    DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_;
    options.wanted = [this](std::vector<WantedName> names) {
      const std::lock_guard lock(wanted_mutex_);
      wanted_.insert(wanted_.end(), names.begin(), names.end());
    };
    options.further = [this](Hub& hub) -> std::vector<std::shared_ptr<grpc::Service>> {
      authority_ = &hub.authority();
      return {make_relay_service(hub, [](const std::string&) -> Result<std::vector<std::string>> {
        return std::vector<std::string>{"default"};
      })};
    };
    auto started = Distributor::start(std::move(options));
    EXPECT_TRUE(started) << started.error().text;
    distributor_ = std::move(*started);
  }
  ~RelayHubTest() override {
    distributor_.reset();
    fs::remove_all(directory_);
  }
  KeyPair invited(const std::string& site) {
    auto pair = authority_->invite_remote(site, std::chrono::hours(1));
    EXPECT_TRUE(pair) << (pair ? "" : pair.error().text);
    return pair ? *pair : KeyPair();
  }
  std::unique_ptr<Talker> relay_of(const std::string& site) {
    return std::make_unique<Talker>(distributor_->port(), invited(site), authority_->roots());
  }
  bool knows(const std::string& agent, bool connected = true) {
    return comes([&] {
      const auto state = distributor_->agent(agent);
      return state && state->connected == connected;
    });
  }
  std::size_t connected_of(const std::string& site) const {
    const auto agents = distributor_->agents();
    return static_cast<std::size_t>(std::ranges::count_if(
        agents, [&](const AgentState& agent) { return agent.connected && agent.name.starts_with(site + ":"); }));
  }

  std::vector<WantedName> wanted() {
    const std::lock_guard lock(wanted_mutex_);
    return wanted_;
  }
  /// A listener whose names are ordered on demand, or are not, for the agents of a group.
  void give(const std::string& group, const std::string& secret, std::string_view key) {
    program::ValueSet values;
    values.secrets.push_back(std::make_shared<const program::NamedSecret>(
        program::NamedSecret{"shop", secret, {{std::string(key), std::make_shared<const std::string>("*.test\n")}}}));
    distributor_->publish(
        {.program = test::sectioned_program(1), .values = std::move(values), .group = group, .lacks_secrets = false});
  }

  const std::string directory_ = directory_of("relay_hub.XXXXXX");
  std::mutex wanted_mutex_;
  std::vector<WantedName> wanted_;  ///< guarded by the mutex
  Authority* authority_ = nullptr;
  std::unique_ptr<Distributor> distributor_;
};

TEST_F(RelayHubTest, ASiteThatFloodsTheHubWithChangesIsCutOffAndNoOther) {
  const auto quiet = relay_of("paris");
  ASSERT_TRUE(quiet->say(change_of("till-1")));
  ASSERT_TRUE(knows("paris:till-1"));
  const auto flood = relay_of("berlin");
  // More at once than a relay may say in seconds.
  v1::AgentsUp many;
  for (int i = 0; i < 1000; ++i) *many.add_agents() = change_of("till-" + std::to_string(i % 10)).agents(0);
  bool taken = true;
  for (int i = 0; i < 1000 && taken; ++i) taken = flood->say(many);
  EXPECT_FALSE(taken);
  const grpc::Status end = flood->end();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << end.error_message();
  EXPECT_THAT(end.error_message(), HasSubstr("says too much"));
  EXPECT_TRUE(knows("berlin:till-0", /*connected=*/false));
  // The other one is heard as before, and may still be asked.
  ASSERT_TRUE(quiet->say(change_of("till-2")));
  EXPECT_TRUE(knows("paris:till-2"));
  EXPECT_EQ(connected_of("paris"), 2U);
}

TEST_F(RelayHubTest, ASiteHasAThousandAgentsAndTakesNoRoomOfOthers) {
  const auto other = relay_of("paris");
  ASSERT_TRUE(other->say(change_of("gone")));
  ASSERT_TRUE(knows("paris:gone"));
  ASSERT_TRUE(other->say(change_of("gone", /*connected=*/false)));
  ASSERT_TRUE(knows("paris:gone", /*connected=*/false));
  const auto large = relay_of("berlin");
  const auto say_batch = [&](const std::string& prefix, int count, bool connected) {
    v1::AgentsUp up;
    for (int i = 0; i < count; ++i) *up.add_agents() = change_of(prefix + std::to_string(i), connected).agents(0);
    return large->say(up);
  };
  ASSERT_TRUE(say_batch("first-", 1000, true));
  ASSERT_TRUE(comes([&] { return connected_of("berlin") == 1000; }));
  ASSERT_TRUE(say_batch("first-", 1000, false));
  ASSERT_TRUE(comes([&] { return connected_of("berlin") == 0; }));
  // Names that it makes up anew take the room of its own, not of another site's agent that went away.
  ASSERT_TRUE(say_batch("second-", 1000, true));
  ASSERT_TRUE(comes([&] { return connected_of("berlin") == 1000; }));
  const auto agents = distributor_->agents();
  EXPECT_EQ(std::ranges::count_if(agents, [](const AgentState& one) { return one.name.starts_with("berlin:"); }),
            static_cast<std::ptrdiff_t>(AgentRegistry::kMaxSiteAgents));
  EXPECT_TRUE(knows("paris:gone", /*connected=*/false));
  ASSERT_TRUE(large->say(change_of("one-too-many")));
  const grpc::Status end = large->end();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(end.error_message(), HasSubstr("more than 1,000 agents"));
  ASSERT_TRUE(comes([&] { return connected_of("berlin") == 0; }));
}

TEST_F(RelayHubTest, ARelaySpeaksOfItsSiteAlone) {
  const auto victim = relay_of("paris");
  ASSERT_TRUE(victim->say(change_of("till-1")));
  ASSERT_TRUE(knows("paris:till-1"));
  for (const char* name : {"paris:till-1", "", "Till", "a/b"}) {
    const auto liar = relay_of("berlin");
    ASSERT_TRUE(liar->say(change_of(name)));
    EXPECT_EQ(liar->end().error_code(), grpc::StatusCode::INVALID_ARGUMENT) << name;
  }
  EXPECT_TRUE(knows("paris:till-1"));
  EXPECT_EQ(distributor_->agents().size(), 1U);
}

TEST_F(RelayHubTest, ASiteTellsOfNamesAtListenersThatItIsGivenAndOfSoMany) {
  give("default", "acme:web:https", program::kOnDemandKey);
  give("admins", "acme:admin:https", program::kOnDemandKey);
  const auto relay = relay_of("berlin");
  v1::AgentsUp up;
  const auto add = [&up](const std::string& space, const std::string& secret, const std::string& host) {
    auto& name = *up.add_wanted();
    name.set_namespace_(space);
    name.set_secret(secret);
    name.set_host(host);
  };
  add("shop", "acme:admin:https", "of-another-group.test");
  add("desk", "acme:web:https", "of-another-namespace.test");
  add("shop", "acme:nobody:https", "of-nobody.test");
  for (const char* const no : {"*.test", "UPPER.test", "192.0.2.1", "", "a b"}) add("shop", "acme:web:https", no);
  add("shop", "acme:web:https", "a.test");
  ASSERT_TRUE(relay->say(up));
  ASSERT_TRUE(comes([this] { return !wanted().empty(); }));
  EXPECT_EQ(wanted(), (std::vector<WantedName>{{"shop", "acme:web:https", "a.test", false}}));
  // A message beyond its bound is cut, and so is what comes beyond that of a minute; the site is not.
  up.Clear();
  for (int i = 0; i < 1000; ++i) add("shop", "acme:web:https", "n" + std::to_string(i) + ".test");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(relay->say(up));
  ASSERT_TRUE(relay->say(change_of("till-1")));
  ASSERT_TRUE(knows("berlin:till-1"));
  // The bound is of what is told: three names did not count.
  EXPECT_GE(wanted().size() + 3, 60 * static_cast<std::size_t>(WantedRate::kOfRelay));
  EXPECT_LE(wanted().size(), 100 * kMostWantedNames / 2);
  // What is told of what is no listener on demand any more is not passed on.
  give("default", "acme:web:https", "tls.crt");
  const std::size_t before = wanted().size();
  up.Clear();
  add("shop", "acme:web:https", "late.test");
  ASSERT_TRUE(relay->say(up));
  ASSERT_TRUE(relay->say(change_of("till-2")));
  ASSERT_TRUE(knows("berlin:till-2"));
  EXPECT_EQ(wanted().size(), before);
}

TEST_F(RelayHubTest, QuestionsToAgentsOfASiteThatAnswersNoneAreBounded) {
  const auto mute = relay_of("berlin");
  ASSERT_TRUE(mute->say(change_of("till-1")));
  ASSERT_TRUE(knows("berlin:till-1"));
  const auto other = relay_of("paris");
  ASSERT_TRUE(other->say(change_of("till-1")));
  ASSERT_TRUE(knows("paris:till-1"));
  std::mutex mutex;
  std::vector<ErrorCode> refused;
  for (int i = 0; i < 80; ++i) {
    distributor_->ask("berlin:till-1", {.method = "GET", .target = "/metrics"}, [&](Result<AgentAnswer> answer) {
      const std::lock_guard lock(mutex);
      if (!answer) refused.push_back(answer.error().code);
    });
  }
  {
    // At once, not after a wait for the others.
    const std::lock_guard lock(mutex);
    EXPECT_EQ(refused.size(), 16U);
    EXPECT_THAT(refused, testing::Each(ErrorCode::kResourceExhausted));
  }
  // Those to another site are asked and answered.
  bool answered = false;
  distributor_->ask("paris:till-1", {.method = "GET", .target = "/metrics"}, [&](Result<AgentAnswer> answer) {
    const std::lock_guard lock(mutex);
    answered = answer.ok() && answer->body == "fine";
  });
  v1::AgentsDown question;
  ASSERT_TRUE(other->read(question));
  EXPECT_EQ(question.agent(), "till-1");
  v1::AgentsUp up;
  up.mutable_answer()->mutable_part()->set_question(question.question().question());
  up.mutable_answer()->mutable_part()->set_status(200);
  up.mutable_answer()->mutable_part()->set_bytes("fine");
  up.mutable_answer()->mutable_part()->set_last(true);
  ASSERT_TRUE(other->say(up));
  EXPECT_TRUE(comes([&] {
    const std::lock_guard lock(mutex);
    return answered;
  }));
  // Whoever waits for the mute one is told when it goes.
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  distributor_->stop();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(refused.size(), 80U);
}

/// A site, as far as the hub sees it: what it has of programs, and what it was sent.
struct Site {
  explicit Site(Hub& hub) : programs(hub, {"default"}) {}
  SitePrograms programs;
  std::string has;          ///< program, as the site says it; empty: none
  std::uint64_t bytes = 0;  ///< of parts
  std::size_t taken = 0;    ///< programs

  void greet(const std::string& program) {
    v1::ProgramsUp up;
    up.mutable_hello()->set_protocol(1);
    up.mutable_hello()->set_oldest_protocol(1);
    EXPECT_TRUE(programs.hear(up));
    up.Clear();
    up.mutable_wanted()->set_group("default");
    up.mutable_wanted()->set_program(program);
    EXPECT_TRUE(programs.hear(up));
  }
  /// Takes all that is to be said; answers where a program is whole. False: there was nothing.
  bool take(const std::string& newest) {
    bool any = false;
    v1::ProgramsDown down;
    for (; programs.next(down); down.Clear()) {
      any = any || down.has_part();
      if (down.has_part()) bytes += down.part().ByteSizeLong();
      if (!programs.waits_for_answer()) continue;
      v1::ProgramsUp up;
      if (down.tell_holdings()) {
        up.mutable_holdings()->set_last(true);
      } else {
        up.mutable_taken()->set_group("default");
        up.mutable_taken()->set_program(newest);
        ++taken;
        has = newest;
      }
      EXPECT_TRUE(programs.hear(up));
    }
    return any;
  }
};

/// `changed` is in one section of fifty.
Bytes program_of(unsigned changed) { return test::sectioned_program(changed, 50, 2000); }

/// The hub of a simulation, without a port.
class SimulatedHub {
 public:
  SimulatedHub() {
    auto authority = Authority::open({.directory = directory_ + "/agents"});
    EXPECT_TRUE(authority);
    hub_ = std::make_unique<Hub>(options_, std::move(*authority));
    EXPECT_TRUE(hub_->enter_group("default"));
  }
  ~SimulatedHub() {
    hub_.reset();
    fs::remove_all(directory_);
  }
  Hub& operator*() { return *hub_; }
  /// Waits until it is what streams are sent. \returns its hash, as sites say it.
  std::string publish(const Bytes& program) {
    const auto outline = outline_of(*program);
    EXPECT_TRUE(outline);
    const program::Hash hash = (*outline)->program;
    hub_->publish({.program = program, .values = program::ValueSet{}});
    EXPECT_TRUE(comes([&] {
      const auto current = hub_->current("default").program;
      return current != nullptr && current->outline().program == hash;
    }));
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
  }

 private:
  const std::string directory_ = directory_of("relay_sites.XXXXXX");
  DistributorOptions options_;
  std::unique_ptr<Hub> hub_;
};

TEST(RelaySites, AThousandOfThemAreSentEachChangeOnceWhateverSomeOfThemDo) {
  constexpr std::size_t kSites = 1024;
  constexpr unsigned kChanges = 12;
  SimulatedHub hub;
  const Bytes first = program_of(0);
  std::string newest = hub.publish(first);
  std::vector<std::unique_ptr<Site>> sites;
  for (std::size_t i = 0; i < kSites; ++i) {
    sites.push_back(std::make_unique<Site>(*hub));
    sites.back()->greet({});
  }
  for (const auto& site : sites) ASSERT_TRUE(site->take(newest));
  for (const auto& site : sites) {
    EXPECT_EQ(site->has, newest);
    EXPECT_GE(site->bytes, first->size() * 9 / 10);
    EXPECT_LE(site->bytes, first->size() * 11 / 10) << "a site without anything is sent the program once";
    site->bytes = 0;
  }
  // Every fifth reads nothing for a while, every seventh is connected anew, every eleventh has lost its disk by then.
  std::uint64_t seed = 1;
  for (unsigned change = 1; change <= kChanges; ++change) {
    newest = hub.publish(program_of(change));
    for (std::size_t i = 0; i < kSites; ++i) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const std::uint64_t lot = seed >> 33;
      if (lot % 5 == 0) continue;
      if (lot % 7 == 0) {
        const std::string has = lot % 11 == 0 ? std::string() : sites[i]->has;
        auto again = std::make_unique<Site>(*hub);
        again->bytes = sites[i]->bytes;
        again->taken = sites[i]->taken;
        again->has = has;
        again->greet(has);
        sites[i] = std::move(again);
      }
      sites[i]->take(newest);
      EXPECT_EQ(sites[i]->has, newest);
    }
  }
  std::uint64_t all = 0;
  for (const auto& site : sites) {
    site->take(newest);
    EXPECT_EQ(site->has, newest) << "whoever was behind has the newest";
    EXPECT_FALSE(site->take(newest)) << "and is sent nothing more";
    EXPECT_LE(site->taken, kChanges + 1U);
    all += site->bytes;
  }
  // A change is one section of fifty; the rest of it are those that lost everything.
  const std::uint64_t whole = static_cast<std::uint64_t>(kSites) * kChanges * first->size();
  EXPECT_LT(all, whole / 8);
}

/// A program that is 8 publications old is not known any more: the relay says which sections it has.
TEST(RelaySites, OneThatWasAwayForLongIsSentWhatItLacksAlone) {
  SimulatedHub hub;
  std::string newest = hub.publish(program_of(0));
  Site site(*hub);
  site.greet({});
  ASSERT_TRUE(site.take(newest));
  for (unsigned change = 1; change <= Hub::kRememberedOutlines + 2; ++change) newest = hub.publish(program_of(change));
  Site again(*hub);
  v1::ProgramsUp up;
  up.mutable_hello()->set_protocol(1);
  up.mutable_hello()->set_oldest_protocol(1);
  ASSERT_TRUE(again.programs.hear(up));
  up.Clear();
  up.mutable_wanted()->set_group("default");
  up.mutable_wanted()->set_program(site.has);
  ASSERT_TRUE(again.programs.hear(up));
  v1::ProgramsDown down;
  ASSERT_TRUE(again.programs.next(down));
  EXPECT_TRUE(down.has_welcome());
  down.Clear();
  ASSERT_TRUE(again.programs.next(down));
  EXPECT_TRUE(down.tell_holdings());
  EXPECT_FALSE(again.programs.next(down)) << "the answer is waited for";
  up.Clear();
  const auto outline = outline_of(*program_of(0));
  ASSERT_TRUE(outline);
  for (const program::SectionEntry& entry : (*outline)->entries) {
    up.mutable_holdings()->add_sections(entry.sha256, sizeof entry.sha256);
  }
  up.mutable_holdings()->set_last(true);
  ASSERT_TRUE(again.programs.hear(up));
  EXPECT_FALSE(again.programs.hear(up)) << "which is said once";
  ASSERT_TRUE(again.take(newest));
  EXPECT_EQ(again.has, newest);
  EXPECT_LT(again.bytes, program_of(0)->size() / 8);
}

TEST(RelaySites, TheBackendsThatOneReportsAreBoundedForAllOfItsAgents) {
  AgentRegistry registry;
  const WallTime now(std::chrono::hours(1));
  const auto report = [&](const std::string& agent, std::size_t backends, std::size_t endpoints) {
    AgentRegistry::Relayed change;
    change.state.name = agent;
    change.state.connected = true;
    for (std::size_t i = 0; i < backends; ++i) {
      BackendHealth backend;
      backend.name_space = "shop";
      backend.name = std::to_string(i);
      backend.endpoints.resize(endpoints);
      change.backends.push_back(std::move(backend));
    }
    ASSERT_TRUE(registry.relayed(std::move(change), 1, now));
  };
  const auto has = [&](const std::string& agent) {
    const auto state = registry.agent(agent);
    return state ? state->backends.size() : 0;
  };
  for (int i = 0; i < 5; ++i) report("berlin:a" + std::to_string(i), 1000, 90);
  // Four have 90,000 endpoints each, the fifth what is left of the site's 400,000.
  EXPECT_EQ(has("berlin:a3"), 1000U);
  EXPECT_EQ(has("berlin:a4"), 444U);
  report("paris:a0", 1000, 90);
  EXPECT_EQ(has("paris:a0"), 1000U) << "another site has its own";
  // What goes makes room.
  ASSERT_TRUE(registry.lost("berlin:a0", 1, now));
  report("berlin:a4", 1000, 90);
  EXPECT_EQ(has("berlin:a4"), 1000U);
}

}  // namespace
}  // namespace edge::controller
