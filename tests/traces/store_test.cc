// The file of traces: what is written is found again, within bounds, whatever becomes of the process or the disk.
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/test_log.h"
#include "controller/traces/trace_reader.h"
#include "controller/traces/trace_writer.h"
#include "tests/traces/sample.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::StartsWith;
using traces::TraceFile;
using traces::TraceReader;
using traces::TraceWriter;

constexpr std::int64_t kHour = 3'600'000'000;

otlp::TraceId trace_id(std::uint64_t number) { return incoming(number, 1).trace; }

class Store : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(directory_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/traces.db"; }
  std::unique_ptr<TraceFile> open(traces::TraceLimits limits = {}) {
    auto file = TraceFile::open(path(), limits);
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().text);
    return file.ok() ? std::move(*file) : nullptr;
  }
  std::unique_ptr<TraceReader> reader(traces::ReadLimits limits = {}) {
    auto reader = TraceReader::open(path(), limits);
    EXPECT_TRUE(reader.ok());
    return reader.ok() ? std::move(*reader) : nullptr;
  }

  std::string directory_ = (std::filesystem::temp_directory_path() / "edge-traces-XXXXXX").string();
};

TEST_F(Store, FindsWhatWasWritten) {
  const auto file = open();
  const std::vector<traces::IncomingSpan> spans = {incoming(1, 1), incoming(1, 2), incoming(2, 1, 0, "cart"),
                                                   incoming(3, 1)};
  ASSERT_TRUE(file->write(spans, kHour).ok());
  // The same again, as from a sender that did not hear the answer.
  ASSERT_TRUE(file->write(spans, kHour + 1).ok());
  EXPECT_EQ(file->traces(), 3u);
  const auto read = reader();
  EXPECT_THAT(*read->services(), ElementsAre("cart", "edge"));
  ASSERT_EQ(read->operations("edge", "")->size(), 1u);
  EXPECT_EQ(read->operations("edge", "server")->at(0).name, "work");
  EXPECT_TRUE(read->operations("edge", "client")->empty());
  EXPECT_THAT(*read->find({}), ElementsAre(trace_id(3), trace_id(2), trace_id(1)));
  EXPECT_THAT(*read->find({.limit = 2}), ElementsAre(trace_id(3), trace_id(2)));
  EXPECT_THAT(*read->find({.service = "edge"}), ElementsAre(trace_id(3), trace_id(1)));
  EXPECT_THAT(*read->find({.service = "edge", .operation = "work", .end_us = 2}), ElementsAre(trace_id(1)));
  EXPECT_THAT(*read->find({.service = "edge", .operation = "other"}), ElementsAre());
  EXPECT_THAT(*read->find({.start_us = 2, .end_us = 2}), ElementsAre(trace_id(2)));
  EXPECT_THAT(*read->find({.least_us = 6}), ElementsAre());
  EXPECT_THAT(*read->find({.least_us = 5, .most_us = 5, .limit = 1}), ElementsAre(trace_id(3)));
  EXPECT_THAT(*read->find({.tags = {{"span.kind", "server"}}, .limit = 1}), ElementsAre(trace_id(3)));
  EXPECT_THAT(*read->find({.tags = {{"span.kind", "client"}}}), ElementsAre());
  const auto trace = read->load(trace_id(1));
  ASSERT_TRUE(trace.ok() && trace->has_value());
  EXPECT_EQ((*trace)->spans.size(), 2u);
  EXPECT_EQ((*trace)->sources.at(0).service, "edge");
  EXPECT_FALSE(read->load(trace_id(9))->has_value());
  struct stat status{};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Store, GivesOutNoMoreSpansThanItMay) {
  const auto file = open();
  std::vector<traces::IncomingSpan> spans;
  for (std::uint64_t i = 1; i <= 11; ++i) spans.push_back(incoming(1, i));
  ASSERT_TRUE(file->write(spans, kHour).ok());
  for (const std::size_t most : {10u, 11u, 12u}) {
    const auto trace = reader({.spans = most})->load(trace_id(1));
    ASSERT_TRUE(trace.ok() && trace->has_value());
    EXPECT_EQ((*trace)->spans.size(), std::min<std::size_t>(most, 11));
    EXPECT_EQ((*trace)->cut, most < 11);
  }
}

TEST_F(Store, GivesOutNoMoreBytesThanItMay) {
  const auto file = open();
  ASSERT_TRUE(file->write(std::vector{incoming(1, 1, 5'000), incoming(1, 2, 5'000)}, kHour).ok());
  const std::size_t whole = (*reader()->load(trace_id(1)))->bytes;
  EXPECT_GT(whole, 10'000u);
  for (const auto& [most, spans] : {std::pair{whole, 2u}, {whole - 5'000, 2u}, {whole - 8'000, 1u}, {1u, 1u}}) {
    const auto trace = reader({.bytes = most})->load(trace_id(1));
    ASSERT_TRUE(trace.ok() && trace->has_value());
    EXPECT_EQ((*trace)->spans.size(), spans) << most;
    EXPECT_EQ((*trace)->cut, spans < 2) << most;
  }
  ASSERT_TRUE(file->write(std::vector{incoming(2, 1, 0, "a"), incoming(3, 1, 0, "b")}, kHour).ok());
  EXPECT_THAT(*reader({.name_bytes = 1})->services(), ElementsAre("a"));
  EXPECT_THAT(*reader({.name_bytes = 2})->services(), ElementsAre("a", "b"));
}

TEST_F(Store, ForgetsByAge) {
  const auto file = open({.age_us = kHour});
  const std::vector<traces::IncomingSpan> first = {incoming(1, 1, 0, "old")};
  const std::vector<traces::IncomingSpan> second = {incoming(2, 1)};
  ASSERT_TRUE(file->write(first, 10 * kHour).ok());
  ASSERT_TRUE(file->write(second, 10 * kHour + 1).ok());
  ASSERT_TRUE(file->expire(11 * kHour).ok());
  EXPECT_EQ(file->traces(), 2u);
  ASSERT_TRUE(file->expire(11 * kHour + 1).ok());
  EXPECT_EQ(file->traces(), 1u);
  const auto read = reader();
  EXPECT_THAT(*read->find({}), ElementsAre(trace_id(2)));
  // Names go with the last span that had them.
  EXPECT_THAT(*read->services(), ElementsAre("edge"));
}

TEST_F(Store, KeepsNamesWhenTheClockIsSetBack) {
  const auto file = open({.age_us = kHour});
  ASSERT_TRUE(file->write(std::vector{incoming(1, 1)}, 10 * kHour).ok());
  ASSERT_TRUE(file->write(std::vector{incoming(2, 1, 0, "cart")}, 2 * kHour).ok());
  ASSERT_TRUE(file->expire(11 * kHour).ok());
  EXPECT_THAT(*reader()->services(), ElementsAre("cart", "edge"));
}

TEST_F(Store, WhatCameByAClockThatRanAheadIsKeptNoLonger) {
  auto file = open({.age_us = kHour});
  ASSERT_TRUE(file->write(std::vector{incoming(1, 1)}, 2 * kHour).ok());
  ASSERT_TRUE(file->write(std::vector{incoming(2, 1, 0, "ahead")}, 100 * kHour).ok());
  // Set back while we were not looking.
  file = open({.age_us = kHour});
  ASSERT_TRUE(file->expire(2 * kHour + 1).ok());
  ASSERT_TRUE(file->write(std::vector{incoming(3, 1, 0, "cart")}, 2 * kHour + 2).ok());
  EXPECT_EQ(file->traces(), 3u) << "nothing goes before its time";
  EXPECT_THAT(*reader()->services(), ElementsAre("ahead", "cart", "edge"));
  ASSERT_TRUE(file->expire(3 * kHour + 2).ok());
  EXPECT_THAT(*reader()->find({}), ElementsAre(trace_id(3)));
  EXPECT_THAT(*reader()->services(), ElementsAre("cart"));
  ASSERT_TRUE(file->expire(3 * kHour + 3).ok());
  EXPECT_EQ(file->traces(), 0u);
}

TEST_F(Store, AClockThatIsSetBackALittleIsWaitedFor) {
  const auto file = open({.age_us = kHour});
  ASSERT_TRUE(file->write(std::vector{incoming(1, 1)}, 2 * kHour).ok());
  ASSERT_TRUE(file->expire(2 * kHour - 1'000'000).ok());
  ASSERT_TRUE(file->expire(3 * kHour).ok());
  EXPECT_EQ(file->traces(), 1u) << "it came when it came";
}

TEST_F(Store, StaysWithinItsSize) {
  constexpr std::uint64_t kLimit = traces::kLeastTraceBytes;
  {
    const auto file = open({.bytes = kLimit});
    for (std::uint64_t i = 1; i <= 60; ++i) {
      std::vector<traces::IncomingSpan> spans;
      for (std::uint64_t k = 0; k < 8; ++k) spans.push_back(incoming(i * 8 + k, 1, 40'000));
      ASSERT_TRUE(file->write(spans, static_cast<std::int64_t>(i)).ok()) << i;
      ASSERT_LE(file->bytes(), kLimit);
      ASSERT_LE(std::filesystem::file_size(path()), kLimit);
    }
    // 19 MB came; the newest are there and the oldest are not.
    const auto read = reader();
    EXPECT_TRUE(read->load(trace_id(60 * 8))->has_value());
    EXPECT_FALSE(read->load(trace_id(8))->has_value());
    EXPECT_GT(file->traces(), 80u);
  }
  // Another start with a larger one, then with the least again: the file becomes smaller.
  {
    const auto file = open({.bytes = 4 * kLimit});
    for (std::uint64_t i = 100; i < 160; ++i) {
      std::vector<traces::IncomingSpan> spans;
      for (std::uint64_t k = 0; k < 8; ++k) spans.push_back(incoming(i * 8 + k, 1, 40'000));
      ASSERT_TRUE(file->write(spans, static_cast<std::int64_t>(i)).ok());
    }
    EXPECT_GT(file->bytes(), 2 * kLimit);
  }
  const auto file = open({.bytes = kLimit});
  EXPECT_LE(file->bytes(), kLimit);
  ASSERT_TRUE(file->write(std::vector{incoming(7, 7)}, 1000).ok());
}

TEST_F(Store, OneTraceLargerThanTheStoreGoesWhole) {
  const auto file = open({.bytes = traces::kLeastTraceBytes});
  for (std::uint64_t i = 1; i <= 60; ++i) {
    std::vector<traces::IncomingSpan> spans;
    for (std::uint64_t k = 0; k < 8; ++k) spans.push_back(incoming(1, i * 8 + k, 40'000));
    ASSERT_TRUE(file->write(spans, static_cast<std::int64_t>(i)).ok()) << i;
    ASSERT_LE(file->bytes(), traces::kLeastTraceBytes);
  }
}

TEST_F(Store, MakesRoomForWhatTakesMoreThanItsBytes) {
  // Resources that are a little too long for a page of the index take one of their own each.
  const auto file = open({.bytes = traces::kLeastTraceBytes});
  for (std::uint64_t i = 1; i <= 12; ++i) {
    std::vector<traces::IncomingSpan> spans;
    for (std::uint64_t k = 0; k < 350; ++k) {
      traces::IncomingSpan span = incoming(i * 1000 + k, 1, 0, std::to_string(i * 1000 + k) + std::string(1100, 's'));
      span.source =
          std::make_shared<const traces::IncomingSource>(traces::IncomingSource{"edge", span.source->resource, ""});
      span.source_bytes = sizeof(traces::IncomingSource) + span.source->resource.size();
      spans.push_back(std::move(span));
    }
    ASSERT_TRUE(file->write(spans, static_cast<std::int64_t>(i)).ok()) << i;
    ASSERT_LE(file->bytes(), traces::kLeastTraceBytes);
  }
  EXPECT_TRUE(reader()->load(trace_id(12'349))->has_value());
}

TEST_F(Store, RefusesAnothersFileAndPutsABrokenOneAside) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "CREATE TABLE mine(a)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_EQ(TraceFile::open(path(), {}).error().code, ErrorCode::kFailedPrecondition);
  std::filesystem::remove(path());
  std::ofstream(path()) << std::string(8192, '?');
  TestLog log;
  auto writer = TraceWriter::start({.path = path(), .log = log.logger()});
  ASSERT_TRUE(writer.ok()) << writer.error().text;
  EXPECT_THAT(log.lines(),
              ElementsAre("warn the file is not a database of traces; it is renamed to *.broken file=" + path()));
  EXPECT_TRUE(std::filesystem::exists(path() + ".broken"));
}

TEST_F(Store, ASlowDiskDropsAndCounts) {
  TestLog log;
  auto writer = TraceWriter::start({.path = path(), .queue_bytes = 200'000, .log = log.logger()});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->wait_until_idle(20s));
  // Whoever holds the file's lock is a disk that answers nobody.
  sqlite3* blocker = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &blocker), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(blocker, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::size_t dropped = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    std::vector<traces::IncomingSpan> spans;
    spans.push_back(incoming(i, 1, 10'000));
    dropped += (*writer)->offer(std::move(spans));
  }
  EXPECT_GE(dropped, 80u);
  ASSERT_TRUE((*writer)->wait_until_idle(30s));
  const traces::TraceCounts counts = (*writer)->counts();
  EXPECT_EQ(counts.spans_taken, 0u);
  EXPECT_EQ(counts.spans_dropped, 100u);
  sqlite3_exec(blocker, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(blocker);
  std::vector<traces::IncomingSpan> spans;
  spans.push_back(incoming(7, 1));
  EXPECT_EQ((*writer)->offer(std::move(spans)), 0u);
  ASSERT_TRUE((*writer)->wait_until_idle(20s));
  EXPECT_EQ((*writer)->counts().spans_taken, 1u);
  EXPECT_EQ((*writer)->counts().traces, 1u);
  EXPECT_THAT(log.lines(), ElementsAre(StartsWith("warn traces are dropped reason="), "info traces are stored again"));
}

TEST_F(Store, WhatComesMakesRoomForItself) {
  auto writer = TraceWriter::start({.path = path(), .limits = {.bytes = traces::kLeastTraceBytes}});
  ASSERT_TRUE(writer.ok());
  // 60 requests of 2 MB would fill it fifteen times.
  for (std::uint64_t i = 1; i <= 60; ++i) {
    std::vector<traces::IncomingSpan> spans;
    for (std::uint64_t k = 0; k < 40; ++k) spans.push_back(incoming(i, k + 1, 50'000));
    (*writer)->offer(std::move(spans));
    ASSERT_TRUE((*writer)->wait_until_idle(20s));
  }
  const traces::TraceCounts counts = (*writer)->counts();
  EXPECT_EQ(counts.spans_taken, 60u * 40u);
  EXPECT_EQ(counts.spans_dropped, 0u);
  EXPECT_LE(counts.bytes, traces::kLeastTraceBytes);
}

TEST_F(Store, SurvivesBeingKilledWhileItWrites) {
  std::mt19937 random(1);
  std::uint64_t most = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto file = TraceFile::open(path(), {.bytes = traces::kLeastTraceBytes});
      if (!file) ::_exit(2);
      for (std::uint64_t i = most + 1;; ++i) {
        const std::vector<traces::IncomingSpan> spans = {incoming(i, 1, 30'000), incoming(i, 2, 30'000)};
        if (!(*file)->write(spans, static_cast<std::int64_t>(i))) ::_exit(3);
        if (::write(ends[1], &i, sizeof i) != sizeof i) ::_exit(4);
      }
    }
    ::close(ends[1]);
    const unsigned lives = 1 + random() % 60;
    std::uint64_t acknowledged = 0;
    for (unsigned i = 0; i < lives; ++i) ASSERT_EQ(::read(ends[0], &acknowledged, sizeof acknowledged), 8);
    ::kill(child, SIGKILL);
    while (::read(ends[0], &acknowledged, sizeof acknowledged) == 8) {
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    most = acknowledged + 1;
    const auto file = open({.bytes = traces::kLeastTraceBytes});
    ASSERT_NE(file, nullptr);
    const auto trace = reader()->load(trace_id(acknowledged));
    ASSERT_TRUE(trace.ok() && trace->has_value()) << round;
    EXPECT_EQ((*trace)->spans.size(), 2u);
    EXPECT_EQ((*trace)->sources.at(0).service, "edge");
  }
}

}  // namespace
}  // namespace edge::test
