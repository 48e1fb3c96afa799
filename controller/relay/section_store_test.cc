// What a relay keeps on its disk: bounded, whole, and no more in use than is there.
#include "controller/relay/section_store.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_log.h"
#include "program/sha256.h"

namespace edge::controller::relay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSize = 1000;

class SectionStoreTest : public testing::Test {
 protected:
  SectionStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "sections.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    open();
  }
  ~SectionStoreTest() override {
    store_.reset();
    fs::remove_all(directory_);
  }
  /// Anew, as after a restart. Room for five sections.
  void open() {
    store_.reset();
    auto opened = SectionStore::open(directory_ + "/sections", 5 * kSize, log_.logger());
    ASSERT_TRUE(opened) << opened.error().text;
    store_ = std::move(*opened);
  }
  static std::vector<std::byte> section(int number) { return std::vector<std::byte>(kSize, std::byte(number)); }
  static program::Hash hash(int number) { return program::sha256(std::span<const std::byte>(section(number))); }
  void add(int number) { store_->came(hash(number), section(number)); }
  bool has(int number) {
    std::vector<std::byte> into(kSize);
    return store_->find(hash(number), into) && into == section(number);
  }
  fs::path file(int number) const {
    const std::string hex = program::to_hex(hash(number));
    return fs::path(directory_) / "sections" / hex.substr(0, 2) / hex;
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
  }

  std::string directory_;
  TestLog log_;
  std::unique_ptr<SectionStore> store_;
};

TEST_F(SectionStoreTest, KeepsTheBoundHoweverManyComeAndEvictsTheLongestUnused) {
  for (int i = 0; i < 5; ++i) add(i);
  EXPECT_TRUE(has(0));  // used last from now on
  for (int i = 5; i < 8; ++i) add(i);
  EXPECT_TRUE(has(0));
  for (const int gone : {1, 2, 3}) EXPECT_FALSE(has(gone)) << gone;
  EXPECT_EQ(store_->figures().evicted, 3U);
  for (int i = 8; i < 200; ++i) {
    add(i);
    ASSERT_LE(bytes_on_disk(), 5 * kSize);
  }
  EXPECT_EQ(store_->figures().sections, 5U);
  EXPECT_EQ(store_->figures().bytes, 5 * kSize);
}

TEST_F(SectionStoreTest, WhatAProgramInUseNeedsStaysBeyondTheBoundAndGoesAfterIt) {
  std::vector<program::Hash> used;
  for (int i = 0; i < 5; ++i) {
    add(i);
    used.push_back(hash(i));
  }
  store_->pin("shops", used);
  store_->pin("tills", {hash(0)});
  for (int i = 5; i < 20; ++i) add(i);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(has(i)) << i;
  // Another program of the group, of one section; the other group still needs its own.
  store_->pin("shops", {hash(1)});
  for (int i = 20; i < 25; ++i) add(i);
  EXPECT_TRUE(has(0));
  EXPECT_TRUE(has(1));
  for (const int gone : {2, 3, 4}) EXPECT_FALSE(has(gone)) << gone;
  EXPECT_LE(bytes_on_disk(), 5 * kSize);
}

TEST_F(SectionStoreTest, ARestartFindsWhatWasThereAndNothingThatIsNotWhatItsNameSays) {
  for (int i = 0; i < 3; ++i) add(i);
  // One is damaged, one is cut, and one write was broken off.
  std::ofstream(file(1), std::ios::binary) << std::string(kSize, 'x');
  fs::resize_file(file(2), kSize / 2);
  const std::string half = file(0).string() + ".new";
  std::ofstream(half) << "half";
  open();
  EXPECT_FALSE(fs::exists(half));
  EXPECT_TRUE(has(0));
  EXPECT_FALSE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_EQ(store_->figures().corrupt, 2U);
  EXPECT_FALSE(fs::exists(file(1))) << "it is fetched again";
  EXPECT_TRUE(log_.has("damaged"));
  add(1);
  EXPECT_TRUE(has(1));
  EXPECT_THAT(store_->held(), testing::SizeIs(2));
}

TEST_F(SectionStoreTest, ADirectoryThatTakesNothingIsSaidOnce) {
  fs::remove_all(fs::path(directory_) / "sections");
  std::ofstream(fs::path(directory_) / "sections") << "no directory";
  for (int i = 0; i < 3; ++i) add(i);
  EXPECT_FALSE(has(0));
  EXPECT_EQ(store_->figures().sections, 0U);
  const std::string text = log_.text();
  EXPECT_EQ(text.find("cannot be stored"), text.rfind("cannot be stored"));
  EXPECT_NE(text.find("cannot be stored"), std::string::npos);
}

}  // namespace
}  // namespace edge::controller::relay
