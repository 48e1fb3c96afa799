#include "runtime/observe/access_log/access_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/observe/access_log/destination.h"
#include "runtime/observe/access_log/test_entry.h"

namespace edge::runtime {
namespace {

std::unique_ptr<AccessLog> opened(LogFileOptions options) {
  auto log = AccessLog::open(std::move(options), {});
  EXPECT_TRUE(log) << log.error().text;
  return std::move(*log);
}

/// Waits for another thread to bring it about.
bool comes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

class AccessLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    std::string name = testing::TempDir() + "access-log-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name + "/log";
  }
  void TearDown() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }
  std::string path_;
};

TEST_F(AccessLogTest, ThreadsWriteEachLineOnce) {
  constexpr std::uint64_t kEach = 200;
  {
    auto log = opened({.path = path_});
    const LogFormat& format = log->format("%{attempts} %{status}");
    EXPECT_EQ(&log->format("%{attempts} %{status}"), &format);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        AccessLog::Pen& pen = log->add_thread();
        for (std::uint64_t i = 0; i < kEach; ++i) pen.write(sample_entry(format));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(comes_true([&] { return log->counts().written == 3 * kEach; }));
    EXPECT_EQ(log->counts().dropped_busy, 0U);
  }
  EXPECT_EQ(lines_of(content(path_)), 3 * kEach);
}

TEST_F(AccessLogTest, WhatIsThereAtTheEndIsWritten) {
  {
    auto log = opened({.path = path_});
    AccessLog::Pen& pen = log->add_thread();
    for (int i = 0; i < 100; ++i) pen.write(sample_entry(log->format("common")));
  }
  EXPECT_EQ(lines_of(content(path_)), 100U);
}

// The writer sleeps between them, so that each has to wake him.
TEST_F(AccessLogTest, NoEntryIsForgottenWhileTheWriterFallsAsleep) {
  auto log = opened({.path = path_});
  AccessLog::Pen& pen = log->add_thread();
  const LogFormat& format = log->format("json");
  for (std::uint64_t i = 1; i <= 50; ++i) {
    pen.write(sample_entry(format));
    ASSERT_TRUE(comes_true([&] { return log->counts().written == i; })) << i;
  }
}

TEST_F(AccessLogTest, AFullDiskIsCountedAndTheStreamGoesOn) {
  auto log = opened({.path = "/dev/full"});
  AccessLog::Pen& pen = log->add_thread();
  for (int i = 0; i < 10; ++i) pen.write(sample_entry(log->format("json")));
  EXPECT_TRUE(comes_true([&] { return log->counts().dropped_output == 10; }));
  EXPECT_EQ(log->counts().written, 0U);
  EXPECT_EQ(lines_of(log->recent({})), 11U);
}

TEST_F(AccessLogTest, AFifoWithoutAReaderHoldsNobody) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  auto log = opened({.path = path_});
  AccessLog::Pen& pen = log->add_thread();
  for (int i = 0; i < 10; ++i) pen.write(sample_entry(log->format("json")));
  EXPECT_TRUE(comes_true([&] { return log->counts().dropped_output == 10; }));
}

// A reader that does not read: the pipe fills, then the writer's memory, then the ring; every entry is accounted for,
// and putting one never waits.
TEST_F(AccessLogTest, AReaderThatStopsHoldsNobody) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const net::Fd reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::uint64_t put = 0;
  {
    auto log = opened({.path = path_});
    AccessLog::Pen& pen = log->add_thread();
    LogEntry entry = sample_entry(log->format("json"));
    const std::string long_text(2000, 'x');
    entry[LogText::kPath] = long_text;
    const auto dropped = [&] {
      const AccessLogCounts counts = log->counts();
      return counts.dropped_busy + counts.dropped_output;
    };
    EXPECT_TRUE(comes_true([&] {
      for (int i = 0; i < 100; ++i, ++put) pen.write(entry);
      return dropped() > 100 && log->counts().written > 0;
    }));
    // It still looks on.
    EXPECT_GT(lines_of(log->recent({})), 1U);
  }
  EXPECT_GT(put, 100U);
}

TEST_F(AccessLogTest, OpensTheFileAnewWhenAsked) {
  auto log = opened({.path = path_});
  AccessLog::Pen& pen = log->add_thread();
  pen.write(sample_entry(log->format("common")));
  ASSERT_TRUE(comes_true([&] { return log->counts().written == 1; }));
  std::filesystem::rename(path_, path_ + ".old");
  log->reopen();
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path_); }));
  pen.write(sample_entry(log->format("common")));
  ASSERT_TRUE(comes_true([&] { return log->counts().written == 2; }));
  EXPECT_EQ(lines_of(content(path_)), 1U);
  EXPECT_EQ(lines_of(content(path_ + ".old")), 1U);
}

TEST(RecentLog, AsksByNumberAndByFilter) {
  const LogFormat format("common");
  RecentLog recent;
  const auto add = [&](std::uint16_t status, std::string_view route, std::uint64_t at) {
    LogEntry entry = sample_entry(format);
    entry.facts.status = status;
    entry.facts.unix_milliseconds = at;
    const std::string destination =
        destination_text({.gateway_space = "shop", .gateway = "web", .route_space = "shop", .route = route});
    entry[LogText::kDestination] = destination;
    std::string flat(entry.flat_size(), '\0');
    entry.flatten(flat);
    const std::span<const char> one(flat);
    recent.add({&one, 1});
  };
  EXPECT_EQ(recent.find({}), "{\"next\":0,\"missed\":0}\n");
  add(200, "cart", 1000);
  add(404, "cart", 2000);
  add(503, "list", 3000);
  const auto numbers = [&](const RecentQuery& query) {
    std::string out;
    std::istringstream lines(recent.find(query));
    for (std::string line; std::getline(lines, line);) {
      const bool last = line.starts_with("{\"next\"");
      out += last ? line : line.substr(7, line.find(',') - 7) + " ";
    }
    return out;
  };
  EXPECT_EQ(numbers({}), "1 2 3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.route = "cart"}), "1 2 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.route = "shop/list"}), "3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.route = "other/list"}), "{\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.gateway = "shop/web"}), "1 2 3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.gateway = "web2"}), "{\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.status = 404}), "2 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.status = 5}), "3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.since_unix_milliseconds = 2000}), "2 3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.limit = 1}), "3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.after = 1}), "2 3 {\"next\":3,\"missed\":0}");
  EXPECT_EQ(numbers({.after = 0, .limit = 2}), "1 2 {\"next\":2,\"missed\":0}");
  EXPECT_EQ(numbers({.after = 3}), "{\"next\":3,\"missed\":0}");
  // Of a process before this one.
  EXPECT_EQ(numbers({.after = 99}), "1 2 3 {\"next\":3,\"missed\":0}");
}

TEST(RecentLog, IsBoundedAndTellsWhatWasMissed) {
  const LogFormat format("json");
  RecentLog recent;
  LogEntry entry = sample_entry(format);
  std::string flat(entry.flat_size(), '\0');
  entry.flatten(flat);
  const std::span<const char> one(flat);
  for (std::size_t i = 0; i < RecentLog::kMaxEntries + 10; ++i) recent.add({&one, 1});
  const std::string answer = recent.find({.after = 3, .limit = 1});
  EXPECT_NE(answer.find("{\"seq\":11,"), std::string::npos) << answer;
  EXPECT_NE(answer.find("{\"next\":11,\"missed\":7}"), std::string::npos) << answer;
  // However much is asked for, an answer has an end; from there the next one goes on.
  const std::string all = recent.find({.after = 0, .limit = 1'000'000});
  EXPECT_LE(all.size(), RecentLog::kMaxAnswer);
  EXPECT_GT(all.size(), RecentLog::kMaxAnswer / 2);
  EXPECT_LE(recent.find({.limit = 1'000'000}).size(), RecentLog::kMaxAnswer);
}

// Where only some go into an answer they are the last: of bytes that are no UTF-8, each takes three.
TEST(RecentLog, TheLatestAreThereHoweverLongStrangersMakeThem) {
  const LogFormat format("json");
  RecentLog recent;
  LogEntry entry = sample_entry(format);
  const std::string path(2048, '\xff');
  entry[LogText::kPath] = path;
  std::string flat(entry.flat_size(), '\0');
  entry.flatten(flat);
  const std::span<const char> one(flat);
  for (int i = 0; i < 400; ++i) recent.add({&one, 1});
  const std::string answer = recent.find({});
  EXPECT_LE(answer.size(), RecentLog::kMaxAnswer);
  EXPECT_GT(answer.size(), RecentLog::kMaxAnswer / 2);
  EXPECT_NE(answer.find("{\"seq\":400,"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("}\n{\"next\":400,\"missed\":0}\n"));
}

}  // namespace
}  // namespace edge::runtime
