#include "agent/access_watch.h"

#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/capabilities.h"
#include "base/test_log.h"
#include "runtime/policy/test_mmdb.h"

namespace edge::agent {
namespace {

using runtime::AccessFiles;
using runtime::testing::TestMmdb;

class AccessWatchTest : public testing::Test {
 protected:
  AccessWatchTest() : root_(testing::TempDir() + "access-watch-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/lists");
  }
  ~AccessWatchTest() override {
    watch_.reset();
    std::filesystem::remove_all(root_);
  }

  /// By a new file that takes the old one's place.
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(root_ + "/" + name + ".new", std::ios::binary) << bytes;
    std::filesystem::rename(root_ + "/" + name + ".new", root_ + "/" + name);
  }
  Status start() {
    auto watch = AccessWatch::start({.lists = root_ + "/lists", .countries = root_ + "/country.mmdb", .systems = {}},
                                    log_.logger(), [this](auto files) {
                                      const std::lock_guard lock(mutex_);
                                      files_ = std::move(files);
                                      given_.notify_all();
                                    });
    if (!watch) return watch.error();
    watch_ = std::move(*watch);
    return {};
  }
  /// Waits until what was given last is as it should be.
  template <typename Condition>
  bool becomes(Condition condition) {
    std::unique_lock lock(mutex_);
    return given_.wait_for(lock, std::chrono::minutes(1), [&] { return files_ != nullptr && condition(*files_); });
  }
  static bool has(const AccessFiles& files, const std::string& name, std::string_view address) {
    const auto list = files.lists.find(name);
    return list != files.lists.end() && list->second != nullptr && list->second->contains(*parse_ip(address));
  }
  std::string metrics() const {
    metrics::Exposition out(metrics::Format::kText);
    watch_->write_metrics(out);
    return out.finish();
  }

  const std::string root_;
  TestLog log_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::shared_ptr<const AccessFiles> files_;
  std::unique_ptr<AccessWatch> watch_;
};

TEST_F(AccessWatchTest, ReadsFilesAndFollowsThem) {
  put("lists/blocked.txt", "10.0.0.0/8\n");
  put("lists/.hidden", "11.0.0.0/8\n");
  put("country.mmdb", TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").bytes());
  ASSERT_TRUE(start().ok());
  EXPECT_TRUE(has(*files_, "blocked.txt", "10.1.1.1")) << "read before anything is served";
  EXPECT_EQ(files_->lists.size(), 1U);
  ASSERT_NE(files_->countries, nullptr);
  EXPECT_EQ(files_->systems, nullptr);
  EXPECT_NE(metrics().find("edge_address_list_networks{file=\"blocked.txt\"} 1\n"), std::string::npos) << metrics();
  EXPECT_NE(metrics().find("edge_geoip_database_usable{database=\"country\"} 1\n"), std::string::npos);
  EXPECT_NE(metrics().find("edge_geoip_database_build_timestamp_seconds{database=\"country\"} 1764115200\n"),
            std::string::npos);

  const auto before = files_->lists.at("blocked.txt");
  put("lists/more.txt", "192.0.2.1\n");
  EXPECT_TRUE(becomes([](const AccessFiles& files) { return has(files, "more.txt", "192.0.2.1"); }));
  EXPECT_EQ(files_->lists.at("blocked.txt"), before) << "a list that has not changed is not read again";

  put("lists/blocked.txt", "172.16.0.0/12\n");
  EXPECT_TRUE(becomes([](const AccessFiles& files) {
    return has(files, "blocked.txt", "172.16.0.1") && !has(files, "blocked.txt", "10.1.1.1");
  }));
  put("country.mmdb", TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "FR").bytes());
  EXPECT_TRUE(becomes([](const AccessFiles& files) {
    return files.countries != nullptr &&
           files.countries->find(*parse_ip("10.0.0.1")).value == runtime::country_number("FR");
  }));
}

TEST_F(AccessWatchTest, WhatIsAtFaultOrGoneCannotBeUsed) {
  put("lists/blocked.txt", "10.0.0.0/8\nnobody\n");
  ASSERT_TRUE(start().ok());
  ASSERT_TRUE(files_->lists.contains("blocked.txt"));
  EXPECT_EQ(files_->lists.at("blocked.txt"), nullptr);
  EXPECT_EQ(files_->countries, nullptr);
  EXPECT_NE(metrics().find("edge_address_list_usable{file=\"blocked.txt\"} 0\n"), std::string::npos) << metrics();
  EXPECT_NE(metrics().find("edge_geoip_database_usable{database=\"country\"} 0\n"), std::string::npos);

  put("lists/blocked.txt", "10.0.0.0/8\n");
  put("country.mmdb", TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").bytes());
  EXPECT_TRUE(becomes(
      [](const AccessFiles& files) { return has(files, "blocked.txt", "10.0.0.1") && files.countries != nullptr; }));
  // As a start with the files as they are now would have it.
  put("country.mmdb", "cut short");
  EXPECT_TRUE(becomes([](const AccessFiles& files) { return files.countries == nullptr; }));
  std::filesystem::remove(root_ + "/lists/blocked.txt");
  EXPECT_TRUE(becomes([](const AccessFiles& files) { return files.lists.empty(); }));
}

/// Rights that come later change neither what the file holds nor when it was written.
TEST_F(AccessWatchTest, WhatMayBeReadLaterIsReadThen) {
  put("lists/blocked.txt", "10.0.0.0/8\n");
  put("country.mmdb", TestMmdb("GeoLite2-Country").country("10.0.0.0/8", "DE").bytes());
  for (const char* name : {"/lists/blocked.txt", "/country.mmdb"}) ASSERT_EQ(::chmod((root_ + name).c_str(), 0), 0);
  // Root reads what it has no right to, unless it gives that up: this thread, and those that it starts.
  std::thread([this] {
    ASSERT_TRUE(keep_capabilities(0));
    ASSERT_TRUE(start().ok());
  }).join();
  ASSERT_TRUE(becomes([](const AccessFiles& files) { return files.lists.contains("blocked.txt"); }));
  ASSERT_EQ(files_->lists.at("blocked.txt"), nullptr);
  ASSERT_EQ(files_->countries, nullptr);
  for (const char* name : {"/lists/blocked.txt", "/country.mmdb"}) ASSERT_EQ(::chmod((root_ + name).c_str(), 0400), 0);
  EXPECT_TRUE(becomes(
      [](const AccessFiles& files) { return has(files, "blocked.txt", "10.0.0.1") && files.countries != nullptr; }));
}

TEST_F(AccessWatchTest, ADirectoryMayComeLater) {
  std::filesystem::remove_all(root_ + "/lists");
  ASSERT_TRUE(start().ok());
  EXPECT_TRUE(files_->lists.empty());
  std::filesystem::create_directories(root_ + "/lists.new");
  std::ofstream(root_ + "/lists.new/blocked.txt") << "10.0.0.0/8\n";
  std::filesystem::rename(root_ + "/lists.new", root_ + "/lists");
  EXPECT_TRUE(becomes([](const AccessFiles& files) { return has(files, "blocked.txt", "10.0.0.1"); }));
}

}  // namespace
}  // namespace edge::agent
