// What leaves the files of edge-standalone is deleted from the API: several objects at a time, and a start after a
// crash in the middle of it knows that it was not complete.
#include "standalone/applier.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using Json = nlohmann::json;
using standalone::Applier;

constexpr std::size_t kObjects = 40;
constexpr std::size_t kAtOnce = 4;
constexpr char kKinds[] =
    R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1","resources":[
  {"resource":"configmaps","responseKind":{"kind":"ConfigMap"},"scope":"Namespaced","singularResource":"configmap"},
  {"resource":"namespaces","responseKind":{"kind":"Namespace"},"scope":"Cluster","singularResource":"namespace"}]}]}]})";

std::string map_of(std::size_t number) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m" + std::to_string(number) +
         ", namespace: default}\ndata: {a: b}\n";
}

/// Answers a DELETE when kAtOnce of them are under way, or after a time that none needs who sends several.
class Deletions {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++under_way_);
    if (most_ >= kAtOnce) changed_.notify_all();
    alone_ |= !changed_.wait_for(lock, std::chrono::seconds(5), [&] { return most_ >= kAtOnce || alone_; });
    --under_way_;
  }
  std::size_t most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t under_way_ = 0;
  std::size_t most_ = 0;
  bool alone_ = false;
};

class ApplierTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(inventory_);
    auto applier = Applier::create(config_of(api_.url()), nullptr, inventory_, "edge", {});
    ASSERT_TRUE(applier.ok()) << applier.error().text;
    applier_ = std::move(*applier);
  }

  void answer(Exchange& exchange) {
    if (exchange.method == "GET" && exchange.target == "/api") return exchange.json(200, kKinds);
    if (exchange.method == "GET" && exchange.target == "/apis") {
      return exchange.json(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
    }
    if (exchange.method == "DELETE") {
      {
        const std::lock_guard lock(mutex_);
        if (noted_.empty()) noted_ = read_file(inventory_, 1 << 20).value();
      }
      deletions_.enter();
      return exchange.json(200, R"({"kind":"Status","status":"Success"})");
    }
    if (exchange.method == "PATCH") return exchange.json(200, exchange.body);
    exchange.json(200, R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}})");
  }

  Applier::ApplyResult apply(const std::string& text) {
    controller::Update update;
    update.texts["/maps.yaml"] = text;
    EXPECT_TRUE(applier_->check(update).empty());
    return applier_->apply(update);
  }

  const std::string inventory_ = testing::TempDir() + "applier_inventory.json";
  Deletions deletions_;
  std::mutex mutex_;
  std::string noted_;  ///< the inventory at the first DELETE
  FakeApi api_{[this](Exchange& exchange) { answer(exchange); }};
  std::unique_ptr<Applier> applier_;
};

TEST_F(ApplierTest, WhatLeavesTheFilesIsDeletedSeveralAtATime) {
  std::string all;
  for (std::size_t i = 0; i < kObjects; ++i) all += map_of(i) + "---\n";
  const Applier::ApplyResult before = apply(all);
  ASSERT_EQ(before.applied, kObjects) << (before.faults.empty() ? "" : before.faults.front());
  const Applier::ApplyResult after = apply(map_of(0));
  EXPECT_TRUE(after.clean);
  EXPECT_EQ(after.pruned, kObjects - 1);
  EXPECT_EQ(after.writes.size(), kObjects - 1);
  EXPECT_GE(deletions_.most(), kAtOnce) << "one after the other";
  EXPECT_EQ(Json::parse(read_file(inventory_, 1 << 20).value())["objects"].size(), 1U);
}

/// Else a start after a crash would serve routes whose policies have gone before them.
TEST_F(ApplierTest, AFileOfWhichSeveralObjectsLeaveIsNotWholeUntilTheyHaveLeft) {
  std::string all;
  for (std::size_t i = 0; i < kObjects; ++i) all += map_of(i) + "---\n";
  apply(all);
  apply(map_of(0));
  ASSERT_FALSE(noted_.empty());
  EXPECT_EQ(Json::parse(noted_)["files"]["/maps.yaml"], false);
  EXPECT_EQ(Json::parse(read_file(inventory_, 1 << 20).value())["files"]["/maps.yaml"], true);
}

}  // namespace
}  // namespace edge::test
