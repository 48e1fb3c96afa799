// Who an agent and a controller are to each other: tokens, keys, certificates, authorities.
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "agent/sync/agent_store.h"
#include "base/os/file.h"
#include "tests/agents/sync_world.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using controller::AgentState;
using controller::WallTime;
using std::chrono::hours;
using std::chrono::seconds;

using Bytes = SyncBytes;

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
  const auto until = std::chrono::steady_clock::now() + kSyncPatience;
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
    const auto until = std::chrono::steady_clock::now() + kSyncPatience;
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

}  // namespace
}  // namespace edge::test
