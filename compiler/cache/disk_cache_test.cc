#include "compiler/cache/disk_cache.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "program/sha256.h"

namespace edge::compiler {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<std::byte> bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

program::Hash key(std::string_view text) { return program::sha256(bytes(text)); }

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "edge-cache-XXXXXX";
    root_ = mkdtemp(pattern.data());
    directory_ = root_ + "/a/b";
  }
  void TearDown() override { fs::remove_all(root_); }

  DiskCache open(std::uint64_t max_bytes = 1 << 20) {
    auto cache = DiskCache::open(directory_, max_bytes);
    EXPECT_TRUE(cache.ok()) << cache.error().text;
    return std::move(*cache);
  }
  fs::path file(std::string_view name) const { return fs::path(directory_) / program::to_hex(key(name)); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  std::string read(std::string_view name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::string_view name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary | std::ios::trunc) << content;
  }

  std::string root_;
  std::string directory_;
};

TEST_F(DiskCacheTest, FindsWhatAnotherRunPut) {
  open().put(key("a"), bytes("value"));
  DiskCache cache = open();
  EXPECT_EQ(cache.find(key("a")), bytes("value"));
  EXPECT_EQ(cache.find(key("b")), std::nullopt);
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
}

TEST_F(DiskCacheTest, BelievesNoByteThatChanged) {
  DiskCache cache = open();
  cache.put(key("a"), bytes("some value"));
  const std::string whole = read("a");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write("a", changed);
    EXPECT_EQ(cache.find(key("a")), std::nullopt) << "byte " << i;
    EXPECT_FALSE(fs::exists(file("a"))) << "what is not believed is removed";
  }
  write("a", whole);
  fs::permissions(file("a"), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(cache.find(key("a")), bytes("some value"));
}

TEST_F(DiskCacheTest, BelievesNoEntryOfAnotherLengthOrName) {
  DiskCache cache = open();
  cache.put(key("a"), bytes("some value"));
  const std::string whole = read("a");
  for (const std::string& content :
       {std::string(), whole.substr(0, 40), whole.substr(0, whole.size() - 1), whole + "x"}) {
    write("a", content);
    EXPECT_EQ(cache.find(key("a")), std::nullopt) << content.size() << " bytes";
  }
  write("b", whole);
  EXPECT_EQ(cache.find(key("b")), std::nullopt);
}

TEST_F(DiskCacheTest, FollowsNoLinkAndWaitsForNoPipe) {
  DiskCache cache = open();
  cache.put(key("a"), bytes("value"));
  fs::rename(file("a"), root_ + "/elsewhere");
  fs::create_symlink(root_ + "/elsewhere", file("a"));
  EXPECT_EQ(cache.find(key("a")), std::nullopt);
  fs::remove(file("a"));
  ASSERT_EQ(mkfifo(file("a").c_str(), 0600), 0);
  EXPECT_EQ(cache.find(key("a")), std::nullopt);
}

TEST_F(DiskCacheTest, BelievesNoEntryThatOthersMayWrite) {
  DiskCache cache = open();
  cache.put(key("a"), bytes("value"));
  ASSERT_EQ(chmod(file("a").c_str(), 0666), 0);
  EXPECT_EQ(cache.find(key("a")), std::nullopt);
}

TEST_F(DiskCacheTest, UsesNoDirectoryThatOthersMayEnter) {
  fs::create_directories(directory_);
  ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  const auto cache = DiskCache::open(directory_);
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(cache.error().text, HasSubstr("chmod 700"));
}

TEST_F(DiskCacheTest, UsesNoDirectoryOfAnotherUserAndNoLinkToOne) {
  ASSERT_EQ(mkdir((root_ + "/real").c_str(), 0700), 0);
  fs::create_directory_symlink(root_ + "/real", root_ + "/link");
  EXPECT_FALSE(DiskCache::open(root_ + "/link").ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(chown((root_ + "/real").c_str(), 12345, 12345), 0);
  const auto cache = DiskCache::open(root_ + "/real");
  ASSERT_FALSE(cache.ok());
  EXPECT_THAT(cache.error().text, HasSubstr("another user"));
}

TEST_F(DiskCacheTest, ForgetsWhatWasNotUsedForLongest) {
  DiskCache cache = open(10'000);
  const std::vector<std::byte> value(1900);
  const auto used_at = [&](std::string_view name, std::time_t second) {
    const timespec times[2] = {{second, 0}, {second, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file(name).c_str(), times, 0), 0);
  };
  for (const std::string_view name : {"a", "b", "c", "d", "e"}) cache.put(key(name), value);
  used_at("a", 100);
  used_at("b", 50);
  used_at("c", 200);
  used_at("d", 300);
  used_at("e", 400);
  EXPECT_TRUE(cache.find(key("a"))) << "which makes it the one used last";
  cache.put(key("f"), value);
  for (const std::string_view name : {"b", "c", "d"}) EXPECT_FALSE(fs::exists(file(name))) << name;
  for (const std::string_view name : {"a", "e", "f"}) EXPECT_TRUE(cache.find(key(name))) << name;
}

TEST_F(DiskCacheTest, KeepsNoValueThatWouldPushOutAllOthers) {
  DiskCache cache = open(10'000);
  cache.put(key("large"), std::vector<std::byte>(2501));
  EXPECT_EQ(files(), 0u);
}

TEST_F(DiskCacheTest, RemovesWhatADeadProcessLeftHalfWritten) {
  open();
  const std::string old = directory_ + "/tmp-1-1";
  const std::string fresh = directory_ + "/tmp-2-2";
  std::ofstream(old) << "x";
  std::ofstream(fresh) << "x";
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, old.c_str(), times, 0), 0);
  open();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "a process may be writing it";
}

TEST_F(DiskCacheTest, TwoMayShareADirectory) {
  DiskCache one = open();
  DiskCache other = open();
  one.put(key("a"), bytes("value"));
  other.put(key("a"), bytes("value"));
  EXPECT_EQ(one.find(key("a")), bytes("value"));
  fs::remove(file("a"));
  EXPECT_EQ(other.find(key("a")), std::nullopt);
}

}  // namespace
}  // namespace edge::compiler
