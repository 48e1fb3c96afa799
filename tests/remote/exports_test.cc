// What a hub keeps of the exports of its clusters, in whatever order it hears of them.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "controller/remote/traffic.h"

namespace edge::controller::remote {
namespace {

class ExportsOfClusters : public testing::Test {
 protected:
  ExportsOfClusters() {
    std::filesystem::create_directories(directory_);
    auto opened = Authority::open({.directory = directory_ + "/authority"});
    EXPECT_TRUE(opened.ok());
    if (opened.ok()) authority_ = std::move(*opened);
    traffic_ = std::make_unique<Traffic>(TrafficOptions{.file = directory_ + "/clusters.json"});
  }
  ~ExportsOfClusters() override { std::filesystem::remove_all(directory_); }

  /// The services of berlin that another cluster is told of.
  std::vector<std::string> told() const {
    NewsCursor cursor;
    std::vector<std::string> services;
    for (const Word& word : traffic_->news_for("paris", cursor, 100)) {
      const auto* const news = std::get_if<ClusterNews>(&word);
      if (news == nullptr || news->cluster != "berlin" || news->gone) continue;
      for (const auto& [service, percent] : news->exports.services) services.push_back(service);
    }
    return services;
  }

  const std::string directory_ = testing::TempDir() + "exports." + std::to_string(::getpid());
  std::unique_ptr<Authority> authority_;
  std::unique_ptr<Traffic> traffic_;
};

// A cluster that is resumed says what it exports as soon as it is let in, which may be before its terms are told.
TEST_F(ExportsOfClusters, AreKeptThoughTheyComeBeforeTheTerms) {
  const TrafficTerms terms{.namespaces = {"shop"}, .connected = true};
  const Exports exports{.services = {{"service/shop/api:80", 100}, {"service/other/api:80", 100}}};
  const std::vector<std::string> passed = {"service/shop/api:80"};
  traffic_->set_clusters({{"berlin", terms}}, *authority_);
  traffic_->take_exports("berlin", exports);
  EXPECT_EQ(told(), passed);
  traffic_->set_clusters({}, *authority_);
  EXPECT_EQ(told(), std::vector<std::string>{}) << "it is suspended";
  traffic_->take_exports("berlin", exports);
  EXPECT_EQ(told(), std::vector<std::string>{});
  traffic_->set_clusters({{"berlin", terms}}, *authority_);
  EXPECT_EQ(told(), passed);
}

// Agents of a controller that does not lead call other clusters as those of the leader do.
TEST_F(ExportsOfClusters, AreThoseOfTheLeaderForItsFollowers) {
  std::string said;
  const std::string file = directory_ + "/clusters.json";
  Traffic leader({.file = file, .shared = true});
  Traffic follower(
      {.file = file, .shared = true, .changed = [&](std::string directory) { said = std::move(directory); }});
  follower.begin();
  leader.set_clusters({{"berlin", {.namespaces = {"shop"}, .connected = true}}}, *authority_);
  leader.take_exports("berlin", {.gateways = {"198.51.100.7:15443"}, .services = {{"service/shop/api:80", 100}}});
  follower.follow();
  EXPECT_NE(said.find("service/shop/api:80"), std::string::npos) << said;
  // What it finds itself is not written over what the leader has kept.
  follower.set_own({.services = {{"service/shop/own:80", 100}}});
  leader.set_clusters({}, *authority_);
  follower.follow();
  EXPECT_EQ(said.find("service/shop/api:80"), std::string::npos) << said;
  // It leads, and goes on from what the leader before kept.
  leader.set_clusters({{"berlin", {.namespaces = {"shop"}, .connected = true}}}, *authority_);
  leader.take_exports("berlin", {.gateways = {"198.51.100.7:15443"}, .services = {{"service/shop/api:80", 100}}});
  follower.follow();
  follower.set_clusters({{"berlin", {.namespaces = {"shop"}}}}, *authority_);
  EXPECT_NE(said.find("service/shop/api:80"), std::string::npos) << said;
}

}  // namespace
}  // namespace edge::controller::remote
