#include "base/os/file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file_watch.h"

namespace edge {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "edge-file-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  /// Whether `act` is noticed by a watch of `paths`.
  bool noticed(const std::vector<std::string>& paths, const std::function<void()>& act) {
    auto watch = FileWatch::create();
    EXPECT_TRUE(watch.ok());
    EXPECT_TRUE((*watch)->watch(paths).ok());
    auto event = std::async(std::launch::async, [&] { return (*watch)->wait(5ms); });
    act();
    const bool seen = event.wait_for(5s) == std::future_status::ready;
    (*watch)->stop();
    return seen && event.get() == FileWatch::Event::kChanged;
  }

  fs::path dir_;
};

TEST_F(Files, ReadsWhatWasWrittenAndStopsAtTheLimit) {
  const std::string path = (dir_ / "a").string();
  ASSERT_TRUE(write_file(path, std::string(1000, 'x'), FileAccess::kEveryone).ok());
  EXPECT_EQ(read_file(path, 1000).value().size(), 1000u);
  EXPECT_EQ(read_file_bytes(path, 1000).value().size(), 1000u);
  EXPECT_EQ(read_file(path, 999).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(read_file((dir_ / "none").string(), 9).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_file(dir_.string(), 9).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(Files, SecretsAreTheOwnersAlone) {
  const std::string path = (dir_ / "key").string();
  put(path, "old");
  ASSERT_TRUE(write_file(path, std::string_view("new"), FileAccess::kOwnerOnly).ok());
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(read_file(path, 9).value(), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1) << "nothing is left beside it";
}

TEST_F(Files, NoticesAWriteInPlaceAndARenameOverTheFile) {
  const fs::path path = dir_ / "a.yaml";
  put(path, "one");
  EXPECT_TRUE(noticed({path.string()}, [&] { put(path, "two"); }));
  EXPECT_TRUE(noticed({path.string()}, [&] {
    put(dir_ / ".a.yaml.swp", "three");
    fs::rename(dir_ / ".a.yaml.swp", path);
  }));
}

TEST_F(Files, NoticesAConfigMapSwap) {
  fs::create_directory(dir_ / "..one");
  fs::create_directory(dir_ / "..two");
  put(dir_ / "..one/a.yaml", "one");
  put(dir_ / "..two/a.yaml", "two");
  fs::create_symlink("..one", dir_ / "..data");
  fs::create_symlink("..data/a.yaml", dir_ / "a.yaml");
  const auto swap = [&](const char* to) {
    fs::create_symlink(to, dir_ / "..data_tmp");
    fs::rename(dir_ / "..data_tmp", dir_ / "..data");
  };
  EXPECT_TRUE(noticed({(dir_ / "a.yaml").string()}, [&] { swap("..two"); }));
  EXPECT_TRUE(noticed({dir_.string()}, [&] { swap("..one"); }));
}

TEST_F(Files, NoticesFilesThatComeAndGoBelowADirectory) {
  fs::create_directory(dir_ / "sub");
  EXPECT_TRUE(noticed({dir_.string()}, [&] { put(dir_ / "sub/new.yaml", "x"); }));
  EXPECT_TRUE(noticed({dir_.string()}, [&] { fs::remove(dir_ / "sub/new.yaml"); }));
}

TEST_F(Files, NoticesTheFilesThatLinksBelowADirectoryLeadTo) {
  fs::create_directories(dir_ / "enabled/sub");
  fs::create_directory(dir_ / "available");
  put(dir_ / "available/a.yaml", "one");
  fs::create_symlink("../available/a.yaml", dir_ / "enabled/a.yaml");
  fs::create_symlink("../../available/b.yaml", dir_ / "enabled/sub/b.yaml");
  fs::create_symlink("/nowhere/c.yaml", dir_ / "enabled/c.yaml");
  fs::create_symlink("loop.yaml", dir_ / "enabled/loop.yaml");
  fs::create_symlink("loop.yaml/below.yaml", dir_ / "enabled/below.yaml");
  const std::string enabled = (dir_ / "enabled").string();
  EXPECT_TRUE(noticed({enabled}, [&] { put(dir_ / "available/a.yaml", "two"); }));
  EXPECT_TRUE(noticed({enabled}, [&] {
    put(dir_ / "available/.a.new", "three");
    fs::rename(dir_ / "available/.a.new", dir_ / "available/a.yaml");
  }));
  EXPECT_TRUE(noticed({enabled}, [&] { put(dir_ / "available/b.yaml", "it comes later"); }));
}

TEST_F(Files, OtherFilesOfTheDirectoryDoNotMatter) {
  const fs::path path = dir_ / "a.yaml";
  put(path, "one");
  auto watch = FileWatch::create();
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->watch({path.string()}).ok());
  put(dir_ / "other", "x");
  (*watch)->stop();
  EXPECT_EQ((*watch)->wait(1ms), FileWatch::Event::kStopped);
}

TEST_F(Files, WatchingNothingIsAnError) {
  auto watch = FileWatch::create();
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ((*watch)->watch({(dir_ / "no/file").string()}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace edge
