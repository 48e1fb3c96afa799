#include "controller/authority/authority.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/pem.h"
#include "controller/authority/members.h"
#include "controller/authority/test_request.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

std::string token_of(const std::string& join_file) {
  const std::size_t at = join_file.find("token: ") + 7;
  return join_file.substr(at, join_file.find('\n', at) - at);
}

int certificates_in(std::string_view pem) {
  int count = 0;
  for (std::size_t at = pem.find("BEGIN CERTIFICATE"); at != std::string_view::npos;
       at = pem.find("BEGIN CERTIFICATE", at + 1)) {
    ++count;
  }
  return count;
}

class AuthorityTest : public testing::Test {
 protected:
  AuthorityTest() {
    std::string pattern = (fs::temp_directory_path() / "authority.XXXXXX").string();
    directory_ = std::string(::mkdtemp(pattern.data())) + "/agents";
    authority_ = open();
  }
  ~AuthorityTest() override { fs::remove_all(fs::path(directory_).parent_path()); }

  std::unique_ptr<Authority> open(bool replace_early = false) {
    auto opened =
        Authority::open({.directory = directory_, .clock = [this] { return now_; }, .replace_early = replace_early});
    EXPECT_TRUE(opened) << opened.error().text;
    return opened ? std::move(*opened) : nullptr;
  }
  std::string file(const std::string& name) const { return *read_file(directory_ + "/" + name, 1 << 20); }

  WallTime now_ = WallTime(hours(24 * 20000));
  std::string directory_;
  std::unique_ptr<Authority> authority_;
};

TEST_F(AuthorityTest, MakesFilesThatOnlyTheirOwnerMayRead) {
  for (const char* name : {"ca.pem", "roots.pem", "server.pem", "join", "admin.pem"}) {
    EXPECT_EQ(fs::status(directory_ + "/" + name).permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << name;
  }
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
}

TEST_F(AuthorityTest, StaysTheSameWhenItIsOpenedAgain) {
  const std::string roots = authority_->roots();
  const std::string join = file("join");
  const std::string server = file("server.pem");
  authority_ = open();
  EXPECT_EQ(authority_->roots(), roots);
  EXPECT_EQ(file("join"), join);
  EXPECT_EQ(file("server.pem"), server);
}

TEST_F(AuthorityTest, RefusesADirectoryThatOthersMayWriteTo) {
  authority_.reset();
  fs::permissions(directory_, fs::perms::all);
  const auto opened = Authority::open({.directory = directory_});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(AuthorityTest, TakesItsTokenAlone) {
  const std::string join = file("join");
  const std::size_t at = join.find("token: ") + 7;
  std::string token = join.substr(at, join.find('\n', at) - at);
  EXPECT_TRUE(authority_->is_token(token));
  EXPECT_FALSE(authority_->is_token(token + "a"));
  EXPECT_FALSE(authority_->is_token(""));
  token[0] = token[0] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(authority_->is_token(token));
}

TEST_F(AuthorityTest, SignsForANameAndKnowsItAgain) {
  const auto certificate = authority_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(certificate);
  const auto facts = authority_->identify(*certificate);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->subject, (Subject{Role::kAgent, "edge-1"}));
  EXPECT_EQ(facts->issued, now_);
  EXPECT_EQ(facts->validity.until, now_ + kAgentLifetime);
}

TEST_F(AuthorityTest, ANameIsOneKeysUntilItsCertificateIsOver) {
  const std::string first = request_on("P-256");
  const std::string other = request_on("P-256");
  const std::string token = token_of(file("join"));
  ASSERT_TRUE(authority_->join(token, "edge-1", first));
  const auto taken = authority_->join(token, "edge-1", other);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kAlreadyExists);
  EXPECT_NE(taken.error().text.find("edgectl agents token edge-1"), std::string::npos) << taken.error().text;
  EXPECT_TRUE(authority_->join(token, "edge-1", first)) << "the answer before was lost";
  EXPECT_TRUE(authority_->join(token, "edge-2", other));
  ASSERT_TRUE(authority_->tend());
  authority_ = open();
  EXPECT_FALSE(authority_->join(token, "edge-1", other)) << "it is kept over a restart";
  now_ += kAgentLifetime;
  EXPECT_TRUE(authority_->join(token, "edge-1", other));
  EXPECT_FALSE(authority_->join(token, "edge-1", first));
  // The key of a renewal is the name's.
  ASSERT_TRUE(authority_->sign("edge-1", first));
  EXPECT_TRUE(authority_->join(token, "edge-1", first));
  EXPECT_FALSE(authority_->join(token, "edge-1", other));
  // An administrator frees it, and what is issued in the same moment holds.
  ASSERT_TRUE(authority_->revoke("edge-1"));
  const auto again = authority_->join(token, "edge-1", other);
  ASSERT_TRUE(again);
  EXPECT_TRUE(authority_->identify(*again));
}

TEST_F(AuthorityTest, ANameThatAnOlderVersionGaveIsKnownByItsCertificate) {
  const auto certificate = authority_->sign("edge-1", request_on("P-256"));
  authority_.reset();
  fs::remove(directory_ + "/names");
  authority_ = open();
  ASSERT_TRUE(authority_->identify(*certificate));
  EXPECT_FALSE(authority_->join(token_of(file("join")), "edge-1", request_on("P-256")));
}

TEST_F(AuthorityTest, ATokenForANameTakesItFromALostKeyOnce) {
  const auto lost = authority_->join(token_of(file("join")), "edge-1", request_on("P-256"));
  ASSERT_TRUE(lost);
  const auto text = authority_->join_file_for("edge-1");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(authority_->roots()), std::string::npos);
  const std::string token = token_of(*text);
  EXPECT_EQ(file("tokens").find(token), std::string::npos) << "a digest of it is kept";
  const std::string request = request_on("P-256");
  EXPECT_EQ(authority_->join(token, "edge-2", request).error().code, ErrorCode::kPermissionDenied);
  authority_ = open();
  const auto found = authority_->join(token, "edge-1", request);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_TRUE(authority_->identify(*found));
  EXPECT_FALSE(authority_->identify(*lost)) << "whoever has the lost key is nobody";
  EXPECT_TRUE(authority_->join(token, "edge-1", request)) << "the answer before was lost";
  EXPECT_EQ(authority_->join(token, "edge-1", request_on("P-256")).error().code, ErrorCode::kPermissionDenied);
  now_ += kNamedTokenLifetime;
  EXPECT_EQ(authority_->join(token, "edge-1", request).error().code, ErrorCode::kUnauthenticated);
  // One that was asked for again voids the one before.
  const std::string first = token_of(*authority_->join_file_for("edge-3"));
  const std::string second = token_of(*authority_->join_file_for("edge-3"));
  EXPECT_FALSE(authority_->is_token(first));
  EXPECT_TRUE(authority_->is_token(second));
  EXPECT_FALSE(authority_->join_file_for("../x"));
}

TEST_F(AuthorityTest, NobodyHasTheNameOfTheAgentOfThisProcess) {
  const std::string token = token_of(file("join"));
  const auto before = authority_->join(token, "standalone", request_on("P-256"));
  ASSERT_TRUE(before);
  authority_->reserve("standalone");
  EXPECT_EQ(authority_->join(token, "standalone", request_on("P-256")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(authority_->sign("standalone", request_on("P-256")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(authority_->join_file_for("standalone").error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(authority_->identify(*before).error().code, ErrorCode::kUnauthenticated);
  EXPECT_TRUE(authority_->join(token, "edge-1", request_on("P-256")));
}

TEST_F(AuthorityTest, MembersFilesThatAreNoneAreNoReasonNotToStart) {
  authority_.reset();
  for (const char* name : {"names", "tokens"}) {
    std::ofstream(directory_ + "/" + name) << "\n\n  \nedge-1\nedge-1 k x\n../a k 1\n\xff\xfe 1 2 3 4 5";
  }
  authority_ = open();
  ASSERT_NE(authority_, nullptr);
  EXPECT_TRUE(authority_->join(token_of(file("join")), "edge-1", request_on("P-256")));
}

TEST_F(AuthorityTest, ReplacesTheAdministratorWhereThatIsAskedFor) {
  const std::string leaked = file("admin.pem");
  const auto agent = authority_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(authority_->identify(leaked));
  std::ofstream(directory_ + "/replace-administrator") << "";
  ASSERT_TRUE(authority_->tend());
  EXPECT_FALSE(fs::exists(directory_ + "/replace-administrator"));
  EXPECT_FALSE(authority_->identify(leaked));
  EXPECT_TRUE(authority_->identify(file("admin.pem"))) << "issued in the same moment";
  EXPECT_TRUE(authority_->identify(*agent));
  const std::string present = file("admin.pem");
  now_ += kAgentLifetime * 2;
  ASSERT_TRUE(authority_->revoke("edge-1"));
  authority_ = open();
  EXPECT_EQ(file("admin.pem"), present);
  EXPECT_FALSE(authority_->identify(leaked)) << "for as long as it would last";
  std::ofstream(directory_ + "/admin.pem") << leaked;
  authority_ = open();
  EXPECT_TRUE(authority_->identify(file("admin.pem"))) << "one of before, put back, is made anew";
}

TEST_F(AuthorityTest, RefusesNamesAndRequestsThatAreNone) {
  for (const std::string& name : {std::string(), std::string("a/b"), std::string("A"), std::string("-a"),
                                  std::string("a,URI:edge://administrator/x"), std::string(254, 'a')}) {
    EXPECT_FALSE(authority_->sign(name, request_on("P-256"))) << name;
  }
  EXPECT_FALSE(authority_->sign("a", request_on("P-384")));
  EXPECT_FALSE(authority_->sign("a", "text"));
  EXPECT_FALSE(authority_->sign("a", std::string(1 << 20, 'x')));
  EXPECT_FALSE(authority_->identify("text"));
  EXPECT_FALSE(authority_->identify(authority_->roots()));
}

TEST_F(AuthorityTest, AnAgentOfAnotherClusterIsAnotherAgent) {
  const auto own = authority_->sign("edge-1", request_on("P-256"));
  const auto foreign = authority_->sign("berlin:edge-1", request_on("P-256"));
  ASSERT_TRUE(own && foreign);
  EXPECT_EQ(authority_->identify(*own)->subject.name, "edge-1");
  EXPECT_EQ(authority_->identify(*foreign)->subject.name, "berlin:edge-1");
  ASSERT_TRUE(authority_->revoke("berlin:edge-1"));
  EXPECT_TRUE(authority_->identify(*own));
  EXPECT_FALSE(authority_->identify(*foreign));
  // Nobody joins as one.
  EXPECT_FALSE(authority_->join(token_of(file("join")), "berlin:edge-2", request_on("P-256")));
  EXPECT_FALSE(authority_->join_file_for("berlin:edge-2"));
  for (const char* name : {":edge-1", "berlin:", "ber.lin:edge-1", "a:b:edge-1", "Berlin:edge-1"}) {
    EXPECT_FALSE(authority_->sign(name, request_on("P-256"))) << name;
  }
}

TEST_F(AuthorityTest, KnowsCertificatesThatAreOverOrNotYet) {
  const auto certificate = authority_->sign("edge-1", request_on("P-256"));
  now_ += kAgentLifetime - std::chrono::seconds(1);
  EXPECT_TRUE(authority_->identify(*certificate));
  now_ += std::chrono::seconds(1);
  EXPECT_FALSE(authority_->identify(*certificate));
  now_ -= kAgentLifetime + kClockSkew + std::chrono::seconds(1);
  EXPECT_FALSE(authority_->identify(*certificate));
}

TEST_F(AuthorityTest, WhatAClockMadeThatRanAheadIsMadeAnew) {
  const std::string before = authority_->roots();
  const std::string server = file("server.pem");
  now_ -= std::chrono::minutes(50);
  authority_ = open(true);
  EXPECT_EQ(authority_->roots(), before) << "clocks differ by less than an hour";
  EXPECT_EQ(file("server.pem"), server);
  now_ -= hours(24 * 25);
  authority_ = open();
  EXPECT_EQ(authority_->roots(), before) << "others may believe it";
  EXPECT_NE(file("server.pem"), server);
  authority_ = open(true);
  EXPECT_NE(authority_->roots(), before);
  EXPECT_EQ(certificates_in(authority_->roots()), 1);
  const auto agent = authority_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(agent);
  EXPECT_TRUE(authority_->identify(*agent));
  EXPECT_TRUE(read_certificate(file("admin.pem")));
}

TEST_F(AuthorityTest, RevokesWhatWasIssuedUntilNowEvenAfterARestart) {
  const auto before = authority_->sign("edge-1", request_on("P-256"));
  const auto other = authority_->sign("edge-2", request_on("P-256"));
  ASSERT_TRUE(authority_->revoke("edge-1"));
  EXPECT_FALSE(authority_->identify(*before));
  EXPECT_TRUE(authority_->identify(*other));
  authority_ = open();
  EXPECT_FALSE(authority_->identify(*before));
  now_ += std::chrono::milliseconds(1);
  const auto after = authority_->sign("edge-1", request_on("P-256"));
  EXPECT_TRUE(authority_->identify(*after));
}

TEST_F(AuthorityTest, RevokesWhatWasIssuedWhileTheClockWasAhead) {
  const WallTime right = now_;
  now_ += hours(24 * 20);
  const auto ahead = authority_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(authority_->identify(*ahead));
  now_ = right;
  for (const char* pass : {"first", "after a revocation"}) {
    ASSERT_TRUE(authority_->revoke("edge-1")) << pass;
    const auto after = authority_->sign("edge-1", request_on("P-256"));
    EXPECT_TRUE(authority_->identify(*after)) << pass;
    // Revoked while what it was issued by is still to come.
    ASSERT_TRUE(authority_->revoke("edge-1")) << pass;
    EXPECT_FALSE(authority_->identify(*after)) << pass;
  }
  now_ += hours(24 * 21);
  EXPECT_FALSE(authority_->identify(*ahead)) << "its time has come, and it stays revoked";
  authority_ = open();
  EXPECT_FALSE(authority_->identify(*ahead));
}

TEST_F(AuthorityTest, RevokesWhatAClusterWasIssuedWhileTheClockWasAhead) {
  const WallTime right = now_;
  now_ += hours(24 * 20);
  const auto invited = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(invited);
  now_ += std::chrono::minutes(10);
  const auto shown = authority_->sign_remote("berlin", request_on("P-256"));
  ASSERT_TRUE(authority_->identify(*shown));
  now_ += std::chrono::minutes(10);
  // Nobody has shown these yet.
  const auto renewed = authority_->sign_remote("berlin", request_on("P-256"));
  const auto among_clusters = authority_->sign_cluster("berlin", request_on("P-256"));
  ASSERT_TRUE(renewed && among_clusters);
  now_ = right;
  ASSERT_TRUE(authority_->tend());
  authority_ = open();
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  const WallTime said = authority_->remote_revoked_until("berlin");
  EXPECT_EQ(said, std::chrono::ceil<std::chrono::seconds>(said)) << "as the API says it";
  const auto after = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(after);
  EXPECT_TRUE(authority_->identify(after->certificate));
  const auto later = authority_->sign_remote("berlin", request_on("P-256"));
  EXPECT_TRUE(authority_->identify(*later));
  now_ += hours(24 * 20) + std::chrono::minutes(30);
  for (const std::string& old : {invited->certificate, *shown, *renewed, *among_clusters}) {
    EXPECT_EQ(authority_->identify(old).error().text, "the certificate of berlin is revoked");
  }
  EXPECT_TRUE(authority_->identify(*later));
}

TEST_F(AuthorityTest, RenewsItsOwnCertificatesAtTwoThirds) {
  const std::string server = file("server.pem");
  const std::string admin = file("admin.pem");
  now_ += hours(24 * 59);
  ASSERT_TRUE(authority_->tend());
  EXPECT_EQ(file("server.pem"), server);
  now_ += hours(24 * 2);
  ASSERT_TRUE(authority_->tend());
  EXPECT_NE(file("server.pem"), server);
  EXPECT_EQ(file("admin.pem"), admin);
  now_ += hours(24 * 200);
  ASSERT_TRUE(authority_->tend());
  EXPECT_NE(file("admin.pem"), admin);
}

TEST_F(AuthorityTest, AnAuthorityThatIsLostTakesItsCertificatesWithIt) {
  const std::string roots = authority_->roots();
  authority_.reset();
  fs::remove(directory_ + "/ca.pem");
  authority_ = open();
  EXPECT_NE(authority_->roots(), roots);
  const auto issuer = Issuer::from_pem(file("ca.pem"));
  ASSERT_TRUE(issuer);
  EXPECT_TRUE(issuer->has_issued(file("server.pem")));
  EXPECT_TRUE(issuer->has_issued(file("admin.pem")));
  EXPECT_FALSE(issuer->has_issued("text"));
  EXPECT_TRUE(file("admin.pem").ends_with(authority_->roots()));
}

TEST_F(AuthorityTest, HandsOverToTheNextAuthorityWithTwoThatAreBelieved) {
  const std::string first = authority_->roots();
  const auto by_first = authority_->sign("edge-1", request_on("P-256"));
  ASSERT_TRUE(authority_->roll_over());
  EXPECT_EQ(certificates_in(authority_->roots()), 2);
  EXPECT_TRUE(authority_->roots().starts_with(first));
  EXPECT_EQ(certificates_in(file("join")), 2);

  now_ += kAgentLifetime;
  authority_ = open();  // the succession goes on after a restart
  EXPECT_EQ(certificates_in(authority_->roots()), 2);
  EXPECT_TRUE(authority_->roots().ends_with(first));

  now_ += kAgentLifetime;
  const auto changed = authority_->tend();
  ASSERT_TRUE(changed);
  EXPECT_TRUE(*changed);
  EXPECT_EQ(certificates_in(authority_->roots()), 1);
  EXPECT_NE(authority_->roots(), first);
  EXPECT_FALSE(*authority_->tend());
}

TEST_F(AuthorityTest, AClustersLaterCertificateTakesItsNameWhenItIsShown) {
  const auto first = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(first);
  const auto facts = authority_->identify(first->certificate);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->subject, (Subject{Role::kRemote, "berlin"}));
  const auto second = authority_->sign_remote("berlin", request_on("P-256"));
  ASSERT_TRUE(second);
  // The answer was lost on its way: the first one still holds.
  EXPECT_TRUE(authority_->identify(first->certificate));
  EXPECT_TRUE(authority_->identify(*second));
  EXPECT_EQ(authority_->identify(first->certificate).error().text,
            "the certificate of berlin was replaced by a later one");
  authority_ = open();
  EXPECT_FALSE(authority_->identify(first->certificate));
  EXPECT_TRUE(authority_->identify(*second));
}

TEST_F(AuthorityTest, ARevokedClusterComesBackByAnInvitationAlone) {
  const auto first = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(first);
  const auto facts = authority_->identify(first->certificate);
  ASSERT_TRUE(facts);
  now_ += std::chrono::seconds(1);
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_TRUE(authority_->is_revoked(*facts));
  EXPECT_EQ(authority_->identify(first->certificate).error().text, "the certificate of berlin is revoked");
  const auto again = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(again);
  EXPECT_TRUE(authority_->identify(again->certificate));
  EXPECT_FALSE(authority_->identify(first->certificate));
  EXPECT_TRUE(authority_->has_issued(again->certificate));
  const auto other = Issuer::create({now_ - hours(1), now_ + hours(24)});
  ASSERT_TRUE(other);
  EXPECT_FALSE(authority_->has_issued(other->issue({Role::kRemote, "berlin"}, other->validity(), now_)->certificate));
  // It lasts as long as was asked for.
  now_ += hours(24) + std::chrono::seconds(1);
  EXPECT_EQ(authority_->identify(again->certificate).error().text, "the certificate of berlin is over");
}

/// Which another controller of the same cluster has revoked, or this one while its clock was ahead.
TEST_F(AuthorityTest, ARevocationOfAClusterHoldsUntilTheTimeThatIsSaid) {
  const auto early = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(early);
  now_ += std::chrono::seconds(10);
  const WallTime until = now_;
  now_ += std::chrono::seconds(10);
  const auto late = authority_->sign_remote("berlin", request_on("P-256"));
  ASSERT_TRUE(late);
  ASSERT_TRUE(authority_->revoke_remote_until("berlin", until));
  EXPECT_EQ(authority_->identify(early->certificate).error().text, "the certificate of berlin is revoked");
  EXPECT_TRUE(authority_->identify(*late));
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_FALSE(authority_->identify(*late));
  WallTime said = authority_->remote_revoked_until("berlin");
  EXPECT_EQ(said, std::chrono::ceil<std::chrono::seconds>(said)) << "as the API says it";
  // Neither an earlier one nor a clock that was set back lets anybody in again.
  ASSERT_TRUE(authority_->revoke_remote_until("berlin", until));
  now_ -= hours(1);
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_GE(authority_->remote_revoked_until("berlin"), said);
  EXPECT_FALSE(authority_->identify(*late));
  // What is issued in the second of one is revoked by the next.
  const auto at_once = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(at_once);
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_FALSE(authority_->identify(at_once->certificate));
  const auto again = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(again);
  EXPECT_TRUE(authority_->identify(again->certificate));
  EXPECT_FALSE(authority_->revoke_remote_until("a/b", until));
  said = authority_->remote_revoked_until("berlin");
  authority_ = open();
  EXPECT_EQ(authority_->remote_revoked_until("berlin"), said);
}

/// Objects of clusters say it for ever.
TEST_F(AuthorityTest, WhatIsRevokedAlreadyIsNotWrittenAgain) {
  const WallTime until = now_;
  ASSERT_TRUE(authority_->revoke_remote_until("berlin", until));
  ASSERT_TRUE(authority_->revoke_remote_until("paris", until));
  now_ += kRemoteLifetime * 2;
  ASSERT_TRUE(authority_->revoke_remote_until("rome", until));
  fs::remove(directory_ + "/revoked");
  for (const char* name : {"berlin", "paris", "rome"}) {
    ASSERT_TRUE(authority_->revoke_remote_until(name, until)) << name;
    EXPECT_EQ(authority_->remote_revoked_until(name), until) << name;
    EXPECT_FALSE(fs::exists(directory_ + "/revoked")) << name;
  }
}

TEST_F(AuthorityTest, AClockThatJumpsAheadUndoesNoRevocation) {
  const auto agent = authority_->sign("edge-1", request_on("P-256"));
  const auto cluster = authority_->invite_remote("berlin", hours(24));
  ASSERT_TRUE(agent && cluster);
  ASSERT_TRUE(authority_->revoke("edge-1"));
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  const WallTime right = now_;
  now_ += kAgentLifetime * 20;
  ASSERT_TRUE(authority_->revoke("edge-2"));
  ASSERT_TRUE(authority_->revoke_remote("paris"));
  now_ = right;
  for (const char* pass : {"in this run", "after a restart"}) {
    EXPECT_FALSE(authority_->identify(*agent)) << pass;
    EXPECT_FALSE(authority_->identify(cluster->certificate)) << pass;
    authority_ = open();
  }
}

TEST(RevocationsTest, AreBoundedAndForgetOnlyWhatNobodyHasACertificateOf) {
  WallTime now(hours(24 * 20000));
  Revocations revoked;
  ASSERT_TRUE(revoked.add(kAdministrators, now - hours(1), now));
  for (std::size_t i = 1; i < Revocations::kMost; ++i) {
    ASSERT_TRUE(revoked.add("edge-" + std::to_string(i), now + std::chrono::seconds(i), now));
  }
  EXPECT_EQ(revoked.add("late", now, now).error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(revoked.add("edge-2", now + hours(1), now)) << "it is known";
  EXPECT_EQ(revoked.since("late"), std::nullopt);
  EXPECT_EQ(revoked.since("edge-1"), now + std::chrono::seconds(1));
  const WallTime oldest = now + std::chrono::seconds(1);
  const WallTime later = oldest + kAgentLifetime + std::chrono::seconds(1);
  ASSERT_TRUE(revoked.add("late", later, later));
  // What was issued to edge-1 until then is refused as before, also by a clock that is set back.
  for (const Revocations& one : {revoked, Revocations::read(revoked.text())}) {
    EXPECT_EQ(one.since("edge-1"), oldest);
    EXPECT_EQ(one.since("stranger"), oldest);
    EXPECT_EQ(one.since("late"), later);
    EXPECT_EQ(one.since("edge-2"), now + hours(1));
    EXPECT_EQ(one.since(kAdministrators), now - hours(1));
    EXPECT_EQ(one.since(""), std::nullopt) << "of a controller";
  }
  // Each that comes makes one give way: the file does not grow.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(revoked.add("more-" + std::to_string(i), later, later + hours(1)));
  EXPECT_LE(std::ranges::count(revoked.text(), '\n'), static_cast<std::ptrdiff_t>(Revocations::kMost) + 1);
  EXPECT_EQ(revoked.since("stranger"), now + std::chrono::seconds(5));
}

TEST(RevocationsTest, GiveWayInAnObjectThatIsFull) {
  const WallTime start(hours(24 * 20000));
  const WallTime later = start + kAgentLifetime + hours(2);
  Revocations all;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(all.add("old-" + std::to_string(i), start + std::chrono::seconds(i), start));
  ASSERT_TRUE(all.add("new", later, later));
  Revocations kept = all;
  const std::size_t size = all.text().size();
  ASSERT_TRUE(kept.fit(size, later));
  EXPECT_EQ(kept.text(), all.text()) << "there is room";
  // Whose certificates may not be over stay, also by a clock that is a little ahead.
  EXPECT_FALSE(kept.fit(size - 1, start + kAgentLifetime));
  EXPECT_EQ(kept.text(), all.text());
  ASSERT_TRUE(kept.fit(size - 30, later));
  EXPECT_LE(kept.text().size(), size - 30);
  EXPECT_EQ(kept.since("new"), later);
  EXPECT_EQ(kept.since("old-9"), start + std::chrono::seconds(9));
  EXPECT_GE(kept.since("old-0"), start) << "refused as before";
  // Who still has the names agrees, and brings none of them back.
  Revocations other = all;
  other.merge(kept);
  EXPECT_EQ(other.text(), kept.text());
  EXPECT_EQ(other.of_agents(later).text(), kept.text());
  EXPECT_EQ(other.of_agents(start).since("stranger"), std::nullopt) << "a time that would keep all agents out";
  EXPECT_FALSE(kept.fit(10, later)) << "there is one that stays";
}

TEST_F(AuthorityTest, AClusterAndAnAgentOfOneNameAreTwo) {
  ASSERT_TRUE(authority_->sign("berlin", request_on("P-256")));
  const auto cluster = authority_->invite_remote("berlin", hours(1));
  ASSERT_TRUE(cluster);
  EXPECT_TRUE(authority_->identify(cluster->certificate));
  ASSERT_TRUE(authority_->revoke("berlin"));
  EXPECT_TRUE(authority_->identify(cluster->certificate));
  for (const char* name : {"", "Berlin", "a.b", "a:b", "-a", "a/b"}) {
    EXPECT_FALSE(authority_->invite_remote(name, hours(1))) << name;
    EXPECT_FALSE(authority_->sign_remote(name, request_on("P-256"))) << name;
    EXPECT_FALSE(authority_->revoke_remote(name)) << name;
  }
  EXPECT_FALSE(authority_->invite_remote("berlin", hours(0)));
  EXPECT_FALSE(authority_->invite_remote("berlin", kMostInvitation + std::chrono::seconds(1)));
}

TEST(IssuerTest, IssuesForOtherSubjectsThanOurs) {
  const WallTime now = std::chrono::system_clock::now();
  const auto issuer = Issuer::create({now, now + hours(10)});
  ASSERT_TRUE(issuer);
  const auto pair = issuer->issue(PlainSubject{.use = PlainSubject::Use::kServer,
                                               .common_name = "api",
                                               .organizations = {"one", "two"},
                                               .hosts = {"localhost"},
                                               .addresses = {"127.0.0.1", "::1"}},
                                  {now, now + hours(1)}, now);
  ASSERT_TRUE(pair);
  X509* const certificate = first_in_pem<PEM_read_bio_X509>(pair->certificate);
  ASSERT_NE(certificate, nullptr);
  char subject[256];
  X509_NAME_oneline(X509_get_subject_name(certificate), subject, sizeof subject);
  EXPECT_STREQ(subject, "/CN=api/O=one/O=two");
  EXPECT_EQ(X509_check_host(certificate, "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "::1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.2", 0), 0);
  X509_free(certificate);
  const auto until = validity_of(pair->certificate);
  ASSERT_TRUE(until);
  EXPECT_LT(until->until - (now + hours(1)), std::chrono::seconds(1));
  // None of ours by its name, so it opens nothing that a Subject opens.
  EXPECT_FALSE(read_certificate(pair->certificate));
  EXPECT_FALSE(issuer->issue(PlainSubject{.common_name = "x", .hosts = {"a,IP:1.2.3.4"}}, {now, now + hours(1)}, now));
}

}  // namespace
}  // namespace edge::controller
