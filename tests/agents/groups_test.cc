// Groups of agents: which program each is given, and what of its labels is believed.
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "controller/distribute/distributor.h"
#include "controller/distribute/inspect_client.h"
#include "program/sign.h"
#include "program/test_program.h"
#include "program/values/ordered_certificates.h"
#include "tests/agents/light_agent.h"

namespace edge {
namespace {

namespace fs = std::filesystem;
using controller::Distributor;
using test::LightAgent;
using test::LightAgentOptions;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(120);
constexpr const char* kLabel = "edgeproxy.io/group";

using program::sample::Bytes;
using program::sample::hash_of;
using program::sample::numbered_program;

class GroupsOfAgents : public testing::Test {
 protected:
  GroupsOfAgents() {
    std::string pattern = (fs::temp_directory_path() / "groups.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    controller::DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_;
    options.program_key = "key";
    options.group_label = kLabel;
    options.group_came = [this](const std::string& group) {
      const std::lock_guard lock(mutex_);
      came_.push_back(group);
      changed_.notify_all();
    };
    options.wanted = [this](const std::vector<controller::WantedName>& names) {
      const std::lock_guard lock(mutex_);
      for (const controller::WantedName& one : names) wanted_.push_back(one.host);
    };
    auto started = Distributor::start(std::move(options));
    EXPECT_TRUE(started);
    distributor_ = std::move(*started);
    distributor_->on_change([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  ~GroupsOfAgents() override {
    agents_.clear();
    distributor_.reset();
    fs::remove_all(directory_);
  }

  LightAgent& connect(LightAgentOptions options) {
    options.controller = "127.0.0.1:" + std::to_string(distributor_->port());
    auto& identity = identities_[options.name];
    if (identity.certificate.empty()) {
      identity = LightAgent::join(options.controller, distributor_->join_file(), options.name);
    }
    agents_.push_back(std::make_unique<LightAgent>(options, identity));
    return *agents_.back();
  }
  bool eventually(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, holds);
  }
  bool runs(const std::string& name, const Bytes& program) {
    return eventually([&] {
      const auto state = distributor_->agent(name);
      return state && state->program == hash_of(program);
    });
  }
  void publish(const Bytes& program, const std::string& group) {
    distributor_->publish({.program = program, .values = program::ValueSet(), .group = group});
  }

  std::string directory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> came_;    ///< guarded by mutex_
  std::vector<std::string> wanted_;  ///< hosts; guarded by mutex_
  std::unique_ptr<Distributor> distributor_;
  std::map<std::string, agent::Identity> identities_;
  std::vector<std::unique_ptr<LightAgent>> agents_;
};

TEST_F(GroupsOfAgents, EachTellsOfNamesAtItsOwnListenersAlone) {
  const auto give = [this](std::uint64_t number, const std::string& group, const std::string& secret,
                           std::string_view key) {
    program::ValueSet values;
    values.secrets.push_back(std::make_shared<const program::NamedSecret>(
        program::NamedSecret{"shop", secret, {{std::string(key), std::make_shared<const std::string>("*.test\n")}}}));
    distributor_->publish({.program = numbered_program(number), .values = std::move(values), .group = group});
  };
  give(1, "default", "acme:web:https", program::kOnDemandKey);
  give(2, "canary", "acme:new:https", program::kOnDemandKey);
  give(3, "plain", "acme:plain:https", "tls.crt");
  LightAgent& old = connect({.controller = {}, .name = "old"});
  LightAgent& canary = connect({.controller = {}, .name = "new", .labels = {{kLabel, "canary"}}});
  LightAgent& plain = connect({.controller = {}, .name = "plain", .labels = {{kLabel, "plain"}}});
  ASSERT_TRUE(runs("old", numbered_program(1)));
  ASSERT_TRUE(runs("new", numbered_program(2)));
  ASSERT_TRUE(runs("plain", numbered_program(3)));
  for (LightAgent* const agent : {&old, &canary, &plain}) {
    const std::string name = agent == &old ? "old" : agent == &canary ? "new" : "plain";
    for (const char* const secret : {"acme:web:https", "acme:new:https", "acme:plain:https", "acme:nobody:https"}) {
      EXPECT_TRUE(agent->want(secret, name + "-" + std::string(secret).substr(5, 3) + ".test"));
    }
  }
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(wanted_, (std::vector<std::string>{"old-web.test", "new-new.test"}));
}

TEST_F(GroupsOfAgents, EachIsGivenItsOwnProgram) {
  const Bytes all = numbered_program(1);
  const Bytes canary = numbered_program(2);
  publish(all, "default");
  publish(canary, "canary");
  connect({.controller = {}, .name = "old"});  // tells no labels
  connect({.controller = {}, .name = "other", .labels = {{"tier", "edge"}}});
  connect({.controller = {}, .name = "new", .labels = {{kLabel, "canary"}, {"tier", "edge"}}});
  EXPECT_TRUE(runs("old", all));
  EXPECT_TRUE(runs("other", all));
  EXPECT_TRUE(runs("new", canary));
  const auto state = distributor_->agent("new");
  EXPECT_EQ(state->group, "canary");
  EXPECT_EQ(state->published, hash_of(canary));
  EXPECT_EQ(labels_text(state->labels), std::string(kLabel) + "=canary,tier=edge");
  EXPECT_EQ(distributor_->agent("old")->group, "default");

  // What one is given changes nothing for the other.
  const Bytes next = numbered_program(3);
  publish(next, "canary");
  EXPECT_TRUE(runs("new", next));
  EXPECT_EQ(distributor_->agent("old")->program, hash_of(all));
  EXPECT_EQ(distributor_->agent("old")->published, hash_of(all));
  EXPECT_EQ(distributor_->behind("old", hash_of(all)), "");
  EXPECT_EQ(distributor_->behind("new", hash_of(next)), "");

  // Told to who asks.
  auto client = controller::InspectClient::open({.controller = {}, .credentials_file = distributor_->admin_file()});
  ASSERT_TRUE(client);
  const auto reported = (*client)->agents();
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->published, hash_of(all));
  ASSERT_EQ(reported->agents.size(), 3U);
  EXPECT_EQ(reported->agents[0].name, "new");
  EXPECT_EQ(reported->agents[0].group, "canary");
  EXPECT_EQ(reported->agents[0].published, hash_of(next));
  EXPECT_EQ(reported->agents[0].labels.size(), 2U);
  EXPECT_EQ(reported->agents[2].group, "default");
}

TEST_F(GroupsOfAgents, AnAgentThatComesWithAnotherLabelIsInAnotherGroup) {
  const Bytes all = numbered_program(1);
  const Bytes canary = numbered_program(2);
  publish(all, "default");
  publish(canary, "canary");
  connect({.controller = {}, .name = "edge-1"});
  ASSERT_TRUE(runs("edge-1", all));
  connect({.controller = {}, .name = "edge-1", .labels = {{kLabel, "canary"}}, .instance = "2"});
  ASSERT_TRUE(runs("edge-1", canary));
  EXPECT_EQ(distributor_->agent("edge-1")->group, "canary");
  connect({.controller = {}, .name = "edge-1", .labels = {{kLabel, ""}}, .instance = "3"});
  ASSERT_TRUE(runs("edge-1", all));
  EXPECT_EQ(distributor_->agent("edge-1")->group, "default");
}

TEST_F(GroupsOfAgents, TheOwnerIsToldOfEachOnce) {
  publish(numbered_program(1), "default");
  connect({.controller = {}, .name = "a"});
  connect({.controller = {}, .name = "b"});
  connect({.controller = {}, .name = "c", .labels = {{kLabel, "canary"}}});
  EXPECT_TRUE(eventually([&] { return came_.size() == 2; }));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(came_, testing::UnorderedElementsAre("default", "canary"));
}

TEST_F(GroupsOfAgents, LabelsThatAreNoneAreRefused) {
  std::map<std::string, std::string> many;
  for (std::size_t i = 0; i <= kMaxLabels; ++i) many["l" + std::to_string(i)] = "";
  const std::map<std::string, std::string> bad[] = {
      {{kLabel, "../../etc"}}, {{kLabel, "a b"}}, {{kLabel, std::string(64, 'a')}}, {{"a\nb", "c"}}, many};
  int number = 0;
  for (const auto& labels : bad) {
    const std::string name = "bad-" + std::to_string(number++);
    EXPECT_EQ(connect({.controller = {}, .name = name, .labels = labels}).end().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(distributor_->agent(name));
  }
  // Others are served.
  const Bytes all = numbered_program(1);
  publish(all, "default");
  connect({.controller = {}, .name = "good"});
  EXPECT_TRUE(runs("good", all));
}

TEST_F(GroupsOfAgents, AreBounded) {
  const Bytes all = numbered_program(1);
  publish(all, "default");
  for (int i = 1; i < 64; ++i) {
    const std::string group = "g" + std::to_string(i);
    publish(all, group);
    connect({.controller = {}, .name = "a" + std::to_string(i), .labels = {{kLabel, group}}});
    ASSERT_TRUE(runs("a" + std::to_string(i), all));
  }
  const Error refused = connect({.controller = {}, .name = "last", .labels = {{kLabel, "one-too-many"}}}).end();
  EXPECT_EQ(refused.code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(refused.text, HasSubstr("more than 64 groups"));
  connect({.controller = {}, .name = "known", .labels = {{kLabel, "g1"}}});
  EXPECT_TRUE(runs("known", all));
}

}  // namespace
}  // namespace edge
