// What controllers of one cluster tell each other of agents that are revoked, and the administrator's certificates by
// clocks that were ahead.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/operator_files.h"
#include "controller/authority/authority.h"
#include "controller/authority/certificates.h"
#include "controller/authority/lifetimes.h"
#include "controller/authority/test_request.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

class SeveralAuthoritiesTest : public testing::Test {
 protected:
  SeveralAuthoritiesTest() {
    std::string pattern = (fs::temp_directory_path() / "authorities.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    one_ = open("one");
    fs::create_directory(directory_ + "/two");
    fs::permissions(directory_ + "/two", fs::perms::owner_all);
    fs::copy_file(directory_ + "/one/ca.pem", directory_ + "/two/ca.pem");
    two_ = open("two");
    const auto issuer = Issuer::from_pem(*read_file(directory_ + "/one/ca.pem", 1 << 20));
    EXPECT_TRUE(issuer);
    issuer_ = std::make_unique<Issuer>(*issuer);
  }
  ~SeveralAuthoritiesTest() override { fs::remove_all(directory_); }

  std::unique_ptr<Authority> open(const std::string& name) {
    auto opened = Authority::open({.directory = directory_ + "/" + name, .clock = [this] { return now_; }});
    EXPECT_TRUE(opened) << opened.error().text;
    return opened ? std::move(*opened) : nullptr;
  }
  /// An agent's certificate, as either controller issues one.
  std::string certificate_of(const std::string& agent) {
    const auto pair = issuer_->issue({Role::kAgent, agent}, lasting(now_, kAgentLifetime), now_);
    EXPECT_TRUE(pair);
    return pair ? pair->certificate : std::string();
  }
  std::string administrator(const std::string& of) { return *read_file(directory_ + "/" + of + "/admin.pem", 1 << 20); }

  WallTime now_ = WallTime(hours(24 * 20000));
  std::string directory_;
  std::unique_ptr<Authority> one_, two_;
  std::unique_ptr<Issuer> issuer_;
};

TEST_F(SeveralAuthoritiesTest, AnAgentThatIsRevokedElsewhereIsRefused) {
  const std::string certificate = certificate_of("edge-1");
  const std::string other = certificate_of("edge-2");
  EXPECT_TRUE(two_->identify(certificate));
  ASSERT_TRUE(one_->revoke("edge-1"));
  ASSERT_TRUE(two_->learn_revoked_agents(one_->revoked_agents()));
  EXPECT_EQ(two_->identify(certificate).error().text, "the certificate of edge-1 is revoked");
  EXPECT_TRUE(two_->identify(other));
  EXPECT_EQ(two_->revoked_agents(), one_->revoked_agents());
  // Again, and after a restart.
  ASSERT_TRUE(two_->learn_revoked_agents(one_->revoked_agents()));
  two_ = open("two");
  EXPECT_FALSE(two_->identify(certificate));
}

TEST_F(SeveralAuthoritiesTest, AnAgentThatHasJoinedSinceKeepsItsName) {
  ASSERT_TRUE(one_->revoke("edge-1"));
  const std::string told = one_->revoked_agents();
  now_ += hours(1);
  const std::string again = certificate_of("edge-1");
  EXPECT_TRUE(two_->identify(again));
  ASSERT_TRUE(two_->learn_revoked_agents(told));
  EXPECT_TRUE(two_->identify(again));
  // An earlier revocation takes back no later one.
  ASSERT_TRUE(two_->revoke("edge-1"));
  const std::string later = two_->revoked_agents();
  ASSERT_TRUE(two_->learn_revoked_agents(told));
  EXPECT_EQ(two_->revoked_agents(), later);
  EXPECT_FALSE(two_->identify(again));
}

TEST_F(SeveralAuthoritiesTest, AnAgentThatRenewsElsewhereIsRevokedAllTheSame) {
  const std::string first = certificate_of("edge-1");
  ASSERT_TRUE(one_->identify(first));
  ASSERT_TRUE(two_->identify(first));
  now_ += hours(1);
  ASSERT_TRUE(one_->revoke("edge-1"));
  const std::string told = one_->revoked_agents();
  // Twice, each with a key of its own, and the second one after a restart.
  now_ += milliseconds(1);
  const auto renewed = two_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(renewed);
  two_.reset();
  two_ = open("two");
  now_ += hours(1);
  const auto again = two_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(again);
  ASSERT_TRUE(two_->identify(*again));
  ASSERT_TRUE(two_->learn_revoked_agents(told));
  ASSERT_TRUE(one_->learn_revoked_agents(two_->revoked_agents()));
  EXPECT_EQ(one_->revoked_agents(), two_->revoked_agents());
  for (Authority* const one : {one_.get(), two_.get()}) {
    for (const std::string& certificate : {first, *renewed, *again}) {
      EXPECT_EQ(one->identify(certificate).error().text, "the certificate of edge-1 is revoked");
    }
  }
  // The name is free, and whoever joins by it stays.
  const std::string file = *read_file(directory_ + "/two/join", 1 << 20);
  const std::size_t at = file.find("token: ") + 7;
  const auto joined = two_->join(file.substr(at, file.find('\n', at) - at), "edge-1", request_on("P-256"));
  ASSERT_TRUE(joined) << joined.error().text;
  ASSERT_TRUE(two_->learn_revoked_agents(one_->revoked_agents()));
  EXPECT_TRUE(one_->identify(*joined));
  EXPECT_TRUE(two_->identify(*joined));
}

TEST_F(SeveralAuthoritiesTest, AnAgentThatHasJoinedSinceMayRenewBeforeThatIsKnown) {
  ASSERT_TRUE(one_->revoke("edge-1"));
  const std::string told = one_->revoked_agents();
  now_ += hours(1);
  ASSERT_TRUE(two_->identify(certificate_of("edge-1")));
  now_ += hours(1);
  const auto renewed = two_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(renewed);
  ASSERT_TRUE(two_->learn_revoked_agents(told));
  EXPECT_TRUE(two_->identify(*renewed));
  EXPECT_EQ(two_->revoked_agents(), told);
}

TEST_F(SeveralAuthoritiesTest, WhatIsNoAgentsIsNotTold) {
  ASSERT_TRUE(one_->revoke("edge-1"));
  ASSERT_TRUE(one_->revoke_remote("berlin"));
  EXPECT_EQ(one_->revoked_agents().find("berlin"), std::string::npos);
  const std::string before = two_->revoked_agents();
  const std::string far =
      std::to_string(std::chrono::duration_cast<milliseconds>((now_ + hours(1)).time_since_epoch()).count());
  ASSERT_TRUE(two_->learn_revoked_agents("*administrators " + far + "\nremote/berlin " + far + "\n*forgotten " + far +
                                         "\nEdge 1\nedge-3 soon\nedge-4\n\n " + far));
  EXPECT_EQ(two_->revoked_agents(), before);
  EXPECT_EQ(two_->remote_revoked_until("berlin"), WallTime());
  EXPECT_TRUE(two_->identify(administrator("two")));
}

TEST_F(SeveralAuthoritiesTest, AReplacedAdministratorsCertificateOfAClockThatWasAheadNeverHolds) {
  // While the clock is a month ahead it is renewed for some reason, and somebody takes a copy.
  now_ += hours(24 * 300);
  ASSERT_TRUE(one_->tend());
  const std::string leaked = administrator("one");
  ASSERT_TRUE(one_->identify(leaked));
  now_ -= hours(24 * 300);
  ASSERT_TRUE(one_->tend());
  ASSERT_NE(administrator("one"), leaked);
  // Also where the controller was restarted between.
  one_ = open("one");
  std::ofstream(directory_ + "/one/" + std::string(kReplaceAdministratorFile)) << "";
  ASSERT_TRUE(one_->tend());
  const std::string next = administrator("one");
  EXPECT_TRUE(one_->identify(next));
  now_ += hours(24 * 300);
  EXPECT_EQ(one_->identify(leaked).error().text, "the certificate of edgectl is revoked");
  EXPECT_TRUE(one_->identify(next));
}

TEST_F(SeveralAuthoritiesTest, AnAdministratorsCertificateOfAnotherControllerCounts) {
  // Issued by one whose clock was ahead, and shown here.
  const auto pair =
      issuer_->issue({Role::kAdministrator, "edgectl"},
                     {now_ - kClockSkew, now_ + hours(24 * 30) + kAdministratorLifetime}, now_ + hours(24 * 30));
  ASSERT_TRUE(pair);
  ASSERT_TRUE(two_->identify(pair->certificate));
  std::ofstream(directory_ + "/two/" + std::string(kReplaceAdministratorFile)) << "";
  ASSERT_TRUE(two_->tend());
  EXPECT_FALSE(two_->identify(pair->certificate));
  EXPECT_TRUE(two_->identify(administrator("two")));
}

}  // namespace
}  // namespace edge::controller
