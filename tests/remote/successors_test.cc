// Two controllers of one hub, each with a directory of its own and one authority: what one has seen of a spoke's
// certificates the other goes by, from the object's status, when it comes to lead.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/os/file.h"
#include "controller/authority/authority.h"
#include "controller/cluster_object.h"
#include "controller/remote/remote_clusters.h"
#include "controller/status/agents_view.h"
#include "controller/status/remote_status.h"
#include "net/tls/identity.h"

namespace edge::controller::remote {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

class Silent final : public Connection {
 public:
  void say(std::vector<Word>) override {}
  void end(const Error&) override {}
};

std::string request() {
  const auto key = net::tls::make_private_key();
  EXPECT_TRUE(key);
  return *net::tls::certificate_request(*key);
}

/// One controller: an authority with the cluster's CA, and what it knows of the spokes.
class Controller {
 public:
  Controller(const std::string& directory, const std::string& authority, const WallTime& time) : time_(time) {
    fs::create_directories(directory);
    fs::permissions(directory, fs::perms::owner_all);
    if (!authority.empty()) fs::copy_file(authority, directory + "/ca.pem");
    open(directory);
  }
  void open(const std::string& directory) {
    clusters_ = nullptr;
    authority_ = nullptr;
    auto opened = Authority::open({.directory = directory, .clock = [this] { return time_; }});
    EXPECT_TRUE(opened) << opened.error().text;
    authority_ = std::move(*opened);
    clusters_ = std::make_unique<RemoteClusters>(
        RemoteClustersOptions{.cluster_uid = std::string(32, 'a'),
                              .version = "1",
                              .leads = [this] { return leads_; },
                              .clock = [this] { return time_; },
                              .steady = [] { return net::Time(std::chrono::hours(1)); }});
    clusters_->set_authority(*authority_);
  }
  Authority& authority() { return *authority_; }
  RemoteClusters& clusters() { return *clusters_; }
  void lead(bool leads) { leads_ = leads; }

  /// The object comes by the watch.
  void watch(const nlohmann::json& object) {
    const auto read = read_cluster_object(object.dump(), "");
    ASSERT_TRUE(read && *read);
    RemoteSpec spec = read_remote_spec((*read)->document);
    spec.shown = read_shown_certificate((*read)->shown_certificate);
    clusters_->put("default", "berlin", std::move(spec));
    clusters_->synced();
  }
  /// What it writes of the object.
  void write_status(nlohmann::json& object) {
    AgentsView view;
    view.remotes = clusters_->views();
    nlohmann::json status = {{"conditions", nlohmann::json::array()}};
    overlay_remote(view, "default/berlin", status);
    object["status"].update(status);
  }
  /// Whether the spoke is let in by a certificate.
  Status connect(const std::string& certificate) {
    const auto facts = authority_->identify(certificate);
    if (!facts) return facts.error();
    const Hello hello{.cluster_uid = std::string(32, 'b'), .version = "1"};
    const auto entered = clusters_->enter(connection_, *facts, hello, "127.0.0.1");
    return entered ? Status() : Status(entered.error());
  }

 private:
  const WallTime& time_;
  bool leads_ = true;
  const std::shared_ptr<Connection> connection_ = std::make_shared<Silent>();
  std::unique_ptr<Authority> authority_;
  std::unique_ptr<RemoteClusters> clusters_;
};

class SuccessorsTest : public testing::Test {
 protected:
  SuccessorsTest() {
    std::string pattern = (fs::temp_directory_path() / "successors.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    one_ = std::make_unique<Controller>(directory_ + "/one", "", time_);
    two_ = std::make_unique<Controller>(directory_ + "/two", directory_ + "/one/ca.pem", time_);
    object_ = {
        {"apiVersion", "edgeproxy.io/v1alpha1"},
        {"kind", "EdgeRemoteCluster"},
        {"metadata", {{"name", "berlin"}, {"namespace", "default"}, {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
        {"spec", {{"controllerAddress", "hub:9090"}}}};
    seen();
  }
  ~SuccessorsTest() override {
    one_.reset();
    two_.reset();
    fs::remove_all(directory_);
  }
  void seen() {
    one_->watch(object_);
    two_->watch(object_);
  }
  std::string invite(Controller& controller) {
    const auto pair = controller.authority().invite_remote("berlin", hours(24));
    EXPECT_TRUE(pair);
    const WallTime until = controller.authority().remote_revoked_until("berlin");
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until.time_since_epoch()).count();
    object_["spec"]["tls"]["revokedBefore"] = time_text(seconds);
    seen();
    return pair->certificate;
  }
  static std::string time_text(std::int64_t seconds) {
    const std::time_t time = seconds;
    std::tm broken{};
    ::gmtime_r(&time, &broken);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken)};
  }
  /// The spoke comes with its join file and has its certificate renewed.
  static std::string renew(Controller& controller, const std::string& shown) {
    EXPECT_TRUE(controller.authority().identify(shown));
    const auto renewed = controller.authority().sign_remote("berlin", request());
    EXPECT_TRUE(renewed);
    return renewed ? *renewed : std::string();
  }

  WallTime time_ = WallTime(hours(24 * 20000) + milliseconds(7));
  std::string directory_;
  std::unique_ptr<Controller> one_, two_;
  nlohmann::json object_;
};

TEST_F(SuccessorsTest, AJoinFileIsUsedOnceWhoeverLeads) {
  const std::string invitation = invite(*one_);
  const std::string renewed = renew(*one_, invitation);
  ASSERT_TRUE(one_->connect(renewed));
  one_->write_status(object_);
  seen();
  // The other one leads now. Whoever has a copy of the file comes before the spoke does.
  EXPECT_EQ(two_->connect(invitation).error().text, "the certificate of berlin was replaced by a later one");
  EXPECT_TRUE(two_->connect(renewed));
  // One that begins with an empty directory, and one that begins anew.
  Controller third(directory_ + "/three", directory_ + "/one/ca.pem", time_);
  third.watch(object_);
  EXPECT_FALSE(third.connect(invitation));
  EXPECT_TRUE(third.connect(renewed));
  two_->open(directory_ + "/two");
  EXPECT_FALSE(two_->connect(invitation));
}

TEST_F(SuccessorsTest, ASpokeThatRenewsWhileItsStatusIsWrittenIsLetIn) {
  const std::string invitation = invite(*one_);
  const std::string renewed = renew(*one_, invitation);
  // The other one leads before the spoke is back.
  one_->write_status(object_);
  seen();
  EXPECT_TRUE(two_->connect(renewed));
  EXPECT_FALSE(two_->connect(invitation));
  // Later renewals likewise, whatever the part of a second.
  time_ += hours(1) + milliseconds(500);
  const std::string next = renew(*two_, renewed);
  two_->write_status(object_);
  seen();
  EXPECT_TRUE(one_->connect(next));
}

TEST_F(SuccessorsTest, AJoinFileThatWasUsedStaysSoWhenTheClockIsSetBack) {
  const std::string invitation = invite(*one_);
  time_ += hours(20);
  const std::string renewed = renew(*one_, invitation);
  ASSERT_TRUE(one_->connect(renewed));
  one_->write_status(object_);
  time_ -= hours(20);
  seen();
  EXPECT_FALSE(two_->connect(invitation));
  time_ += hours(20);
  EXPECT_TRUE(two_->connect(renewed));
  // By a clock that is behind a renewal gains nothing, and does no harm.
  time_ -= hours(1);
  const std::string next = renew(*two_, renewed);
  time_ += hours(2);
  const std::string later = renew(*two_, renewed);
  EXPECT_FALSE(two_->connect(next).ok());
  EXPECT_TRUE(two_->connect(later));
}

TEST_F(SuccessorsTest, OfTwoWhoRenewByOneJoinFileTheFirstThatIsShownStays) {
  const std::string invitation = invite(*one_);
  const std::string spoke = renew(*one_, invitation);
  time_ += std::chrono::seconds(5);
  const std::string thief = renew(*one_, invitation);
  ASSERT_TRUE(one_->connect(spoke));
  EXPECT_EQ(one_->connect(thief).error().code, ErrorCode::kUnauthenticated);
  one_->write_status(object_);
  seen();
  EXPECT_FALSE(two_->connect(thief));
  EXPECT_TRUE(two_->connect(spoke));
  EXPECT_TRUE(two_->connect(renew(*two_, spoke)));
}

TEST_F(SuccessorsTest, ANewJoinFileIsGoodWhateverWasShownBefore) {
  const std::string renewed = renew(*one_, invite(*one_));
  ASSERT_TRUE(one_->connect(renewed));
  one_->write_status(object_);
  seen();
  time_ += hours(1);
  // By the other controller, and with the status of before, which nobody has written since.
  const std::string again = invite(*two_);
  EXPECT_FALSE(one_->connect(renewed));
  EXPECT_FALSE(two_->connect(renewed));
  EXPECT_TRUE(two_->connect(again));
  two_->write_status(object_);
  seen();
  EXPECT_TRUE(one_->connect(again));
}

TEST_F(SuccessorsTest, AStatusThatIsNoneChangesNothing) {
  const std::string invitation = invite(*one_);
  object_["status"] = {{"certificateKey", std::string(64, 'a') + "\nedge-1 x"},
                       {"certificateExpires", "2100-01-01T00:00:00Z"},
                       {"certificateShown", "2099-01-01T00:00:00Z"}};
  seen();
  EXPECT_TRUE(one_->connect(invitation));
  object_["status"]["certificateKey"] = std::string(64, 'a');
  object_["status"]["certificateShown"] = "2101-01-01T00:00:00Z";
  seen();
  EXPECT_TRUE(one_->connect(invitation));
  object_["status"].erase("certificateShown");
  seen();
  EXPECT_TRUE(one_->connect(invitation));
}

TEST_F(SuccessorsTest, OnlyTheLeaderSpeaksForTheHub) {
  const std::string invitation = invite(*one_);
  two_->lead(false);
  EXPECT_EQ(two_->clusters().may_speak().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(two_->connect(invitation).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(one_->clusters().may_speak());
}

}  // namespace
}  // namespace edge::controller::remote
