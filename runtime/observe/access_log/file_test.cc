#include "runtime/observe/access_log/file.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::runtime {
namespace {

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "log-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  LogFile opened(LogFileOptions options) {
    LogFile file(std::move(options), [this](const std::string& text) { told_.push_back(text); });
    const Status status = file.open();
    EXPECT_TRUE(status) << status.error().text;
    return file;
  }
  /// All of it, as the writer's thread does.
  static bool write_all(LogFile& file, std::string_view lines) {
    while (!lines.empty()) {
      const LogFile::Wrote wrote = file.write(lines);
      if (wrote.bytes == 0 || wrote.lost) return false;
      lines.remove_prefix(wrote.bytes);
    }
    return true;
  }

  std::string directory_;
  std::vector<std::string> told_;
};

TEST_F(LogFileTest, LinesGoToTheEndOfAFile) {
  std::ofstream(path("log")) << "before\n";
  LogFile file = opened({.path = path("log")});
  EXPECT_TRUE(write_all(file, "one\ntwo\n"));
  EXPECT_EQ(content(path("log")), "before\none\ntwo\n");
}

TEST_F(LogFileTest, OthersMayNotReadIt) {
  LogFile file = opened({.path = path("log")});
  struct stat about{};
  ASSERT_EQ(::stat(path("log").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07, 0U);
}

TEST_F(LogFileTest, APathThatCannotBeOpenedIsAFault) {
  LogFile file({.path = path("no/such/log")}, {});
  const Status status = file.open();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text.find("no/such/log"), std::string::npos);
}

TEST_F(LogFileTest, RotatesBySizeAtALinesEnd) {
  LogFile file = opened({.path = path("log"), .max_size = 10, .keep = 2});
  EXPECT_TRUE(write_all(file, "aaaa\nbbbb\ncccc\ndddd\neeee\nffff\ngggg\n"));
  EXPECT_EQ(content(path("log")), "gggg\n");
  EXPECT_EQ(content(path("log.1")), "eeee\nffff\n");
  EXPECT_EQ(content(path("log.2")), "cccc\ndddd\n");
  EXPECT_FALSE(std::filesystem::exists(path("log.3")));
  EXPECT_TRUE(told_.empty());
}

TEST_F(LogFileTest, ALineThatIsLargerThanTheFileIsWrittenWhole) {
  LogFile file = opened({.path = path("log"), .max_size = 4, .keep = 1});
  EXPECT_TRUE(write_all(file, "a\nlonger than that\nb\n"));
  EXPECT_EQ(content(path("log.1")), "a\nlonger than that\n");
  EXPECT_EQ(content(path("log")), "b\n");
}

TEST_F(LogFileTest, KeepsNoneWhereNoneIsWanted) {
  LogFile file = opened({.path = path("log"), .max_size = 4, .keep = 0});
  EXPECT_TRUE(write_all(file, "aaaa\nbbbb\n"));
  EXPECT_EQ(content(path("log")), "bbbb\n");
  EXPECT_FALSE(std::filesystem::exists(path("log.1")));
}

// Something else has the name of the oldest.
TEST_F(LogFileTest, WhatCannotBeMovedAwayIsNotWrittenOver) {
  LogFile file = opened({.path = path("log"), .max_size = 5, .keep = 2});
  EXPECT_TRUE(write_all(file, "aaaa\nbbbb\n"));
  std::filesystem::create_directories(path("log.2"));
  EXPECT_TRUE(write_all(file, "cccc\ndddd\n"));
  EXPECT_EQ(content(path("log.1")), "aaaa\n");
  EXPECT_EQ(content(path("log")), "bbbb\ncccc\ndddd\n");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("cannot rotate"), std::string::npos) << told_[0];
  std::filesystem::remove_all(path("log.2"));
  EXPECT_TRUE(write_all(file, "eeee\n"));
  EXPECT_EQ(content(path("log.2")), "aaaa\n");
  EXPECT_EQ(content(path("log")), "eeee\n");
}

// One agent takes over from another, with the same flags.
TEST_F(LogFileTest, WhatAnotherHasRotatedIsNotRotatedAgain) {
  LogFile one = opened({.path = path("log"), .max_size = 10, .keep = 2});
  LogFile other = opened({.path = path("log"), .max_size = 10, .keep = 2});
  EXPECT_TRUE(write_all(other, "aaaa\nbbbb\n"));
  EXPECT_TRUE(write_all(one, "cccc\ndddd\neeee\n"));
  EXPECT_EQ(content(path("log.1")), "aaaa\nbbbb\ncccc\ndddd\n");
  EXPECT_TRUE(write_all(other, "ffff\n"));
  EXPECT_EQ(content(path("log")), "eeee\nffff\n");
  EXPECT_FALSE(std::filesystem::exists(path("log.2")));
}

TEST_F(LogFileTest, WhileAnotherMovesTheFileLinesGoOn) {
  LogFile file = opened({.path = path("log"), .max_size = 10, .keep = 2});
  const int mover = ::open(path("log").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(mover, LOCK_EX), 0);
  EXPECT_TRUE(write_all(file, "aaaa\nbbbb\ncccc\n"));
  EXPECT_EQ(content(path("log")), "aaaa\nbbbb\ncccc\n");
  ::close(mover);
  EXPECT_TRUE(write_all(file, "dddd\n"));
  EXPECT_EQ(content(path("log.1")), "aaaa\nbbbb\ncccc\n");
  EXPECT_EQ(content(path("log")), "dddd\n");
}

TEST_F(LogFileTest, OpensAnewWhatWasRenamed) {
  LogFile file = opened({.path = path("log")});
  EXPECT_TRUE(write_all(file, "one\n"));
  std::filesystem::rename(path("log"), path("old"));
  EXPECT_TRUE(write_all(file, "two\n"));
  file.reopen();
  EXPECT_TRUE(write_all(file, "three\n"));
  EXPECT_EQ(content(path("old")), "one\ntwo\n");
  EXPECT_EQ(content(path("log")), "three\n");
}

TEST_F(LogFileTest, AFullDiskLosesLinesAndSaysSoOnce) {
  LogFile file = opened({.path = "/dev/full"});
  for (int i = 0; i < 3; ++i) {
    const LogFile::Wrote wrote = file.write("one\ntwo\n");
    EXPECT_TRUE(wrote.lost);
    EXPECT_EQ(wrote.bytes, 8U);
  }
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("/dev/full loses lines"), std::string::npos) << told_[0];
}

// The end of a line is lost, and many lines with it, before there is room again: what comes then begins a line.
TEST_F(LogFileTest, ALineThatWasTornEndsWhereThereIsRoomAgain) {
  const auto may_grow_to = [](rlim_t size) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = std::min(size, limit.rlim_max);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  };
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  LogFile file = opened({.path = path("log")});
  may_grow_to(8);
  EXPECT_EQ(file.write("one\ntwo, and more\n").bytes, 8U);
  EXPECT_TRUE(file.write(" and more\n").lost);
  EXPECT_TRUE(file.write("three\n").lost);
  EXPECT_TRUE(file.write("four\n").lost);
  may_grow_to(RLIM_INFINITY);
  EXPECT_TRUE(write_all(file, "five\n"));
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(content(path("log")), "one\ntwo,\nfive\n");
}

TEST_F(LogFileTest, AFifoThatNobodyReadsHoldsNobody) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  LogFile file = opened({.path = path("fifo")});
  EXPECT_TRUE(file.write("lost\n").lost);

  const net::Fd reader(::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.valid());
  file.reopen();
  EXPECT_TRUE(write_all(file, "one\n"));
  char text[16];
  EXPECT_EQ(::read(reader.get(), text, sizeof(text)), 4);

  // Full: what does not go in stays with whoever writes.
  const std::string line(1023, 'x');
  std::size_t lines = 0;
  while (file.write(line + "\n").bytes != 0) ++lines;
  EXPECT_GT(lines, 1U);
  EXPECT_LT(lines, 10'000U);
}

TEST_F(LogFileTest, NothingIsWrittenWhereNoPathIs) {
  LogFile file = opened({.path = ""});
  EXPECT_EQ(file.fd(), -1);
  EXPECT_TRUE(write_all(file, "one\n"));
}

}  // namespace
}  // namespace edge::runtime
