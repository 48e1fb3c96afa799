#include "controller/data_dir.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/os/file.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;

TEST(DataDirTest, WhatCannotBeLookedAtIsAnError) {
  std::string pattern = testing::TempDir() + "data-dir.XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::string loop = pattern + "/loop";
  fs::create_symlink(loop, loop);
  for (const std::string& path : {loop, loop + "/data", pattern + "/" + std::string(300, 'x')}) {
    const auto opened = DataDir::open(path, "--data-dir");
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable) << path;
    EXPECT_TRUE(opened.error().text.starts_with("--data-dir " + path)) << opened.error().text;
  }
  fs::remove_all(pattern);
}

class TakeIdentity : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "identity.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(from());
    for (const char* name : {"signing.key", "ca.pem", "join"}) write(from() + "/" + name, std::string("of ") + name);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string from() const { return root_ + "/from"; }
  std::string data() const { return root_ + "/data"; }
  static void write(const std::string& path, const std::string& text) {
    EXPECT_TRUE(write_file(path, std::string_view(text), FileAccess::kOwnerOnly).ok()) << path;
  }
  static std::string read(const std::string& path) {
    const auto text = read_file(path, 1024);
    return text ? *text : "none";
  }

  std::string root_;
};

TEST_F(TakeIdentity, BeginsADirectory) {
  const Status taken = take_identity(data(), from());
  ASSERT_TRUE(taken.ok()) << taken.error().text;
  EXPECT_EQ(read(data() + "/signing.key"), "of signing.key");
  EXPECT_EQ(read(data() + "/agents/ca.pem"), "of ca.pem");
  EXPECT_EQ(read(data() + "/agents/join"), "of join");
  for (const char* name : {"/signing.key", "/agents/ca.pem", "/agents/join"}) {
    EXPECT_EQ(fs::status(data() + name).permissions(), fs::perms::owner_read | fs::perms::owner_write) << name;
  }
  EXPECT_EQ(fs::status(data() + "/agents").permissions(), fs::perms::owner_all);
}

TEST_F(TakeIdentity, KeepsWhatIsThere) {
  ASSERT_TRUE(take_identity(data(), from()).ok());
  write(from() + "/signing.key", "another");
  write(data() + "/agents/join", "own");
  fs::remove(data() + "/agents/ca.pem");
  ASSERT_TRUE(take_identity(data(), from()).ok());
  EXPECT_EQ(read(data() + "/signing.key"), "of signing.key");
  EXPECT_EQ(read(data() + "/agents/join"), "own");
  EXPECT_EQ(read(data() + "/agents/ca.pem"), "of ca.pem");
}

TEST_F(TakeIdentity, NeedsEveryPart) {
  fs::remove(from() + "/ca.pem");
  EXPECT_FALSE(take_identity(data(), from()).ok());
  EXPECT_FALSE(take_identity(data(), root_ + "/nowhere").ok());
}

}  // namespace
}  // namespace edge::controller
