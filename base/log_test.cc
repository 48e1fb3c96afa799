#include "base/log.h"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kSoon = seconds(20);

LogRecord record(std::string text, LogFields fields = {}) {
  LogRecord made{.number = 7, .time = std::chrono::system_clock::time_point(milliseconds(1700000000123))};
  made.text = std::move(text);
  made.fields = std::move(fields);
  return made;
}

std::string sentence(std::string text, LogFields fields = {}) {
  return log_line_text(record(std::move(text), std::move(fields)), "edge").substr(36);
}

TEST(LogLine, IsTextForPeople) {
  EXPECT_EQ(log_line_text(record("listens", {{"address", "127.0.0.1:80"}, {"by", "a b"}, {"empty", ""}}), "edge-agent"),
            "2023-11-14T22:13:20.123Z info edge-agent: listens address=127.0.0.1:80 by=\"a b\" empty=\"\"");
}

TEST(LogLine, IsJsonForMachines) {
  EXPECT_EQ(log_line_json(record("says \"so\"", {{"peer", "1.2.3.4"}}), "edge-agent"),
            R"({"time":"2023-11-14T22:13:20.123Z","level":"info","program":"edge-agent","seq":7,)"
            R"("msg":"says \"so\"","peer":"1.2.3.4"})");
}

TEST(LogLine, CarriesThePriorityForTheJournal) {
  LogRecord made = record("broken");
  made.level = LogLevel::kError;
  EXPECT_EQ(log_line_journal(made, LogFormat::kText, "edge"), "<3>broken");
  made.level = LogLevel::kDebug;
  EXPECT_THAT(log_line_journal(made, LogFormat::kJson, "edge"), testing::StartsWith("<7>{\"time\""));
}

TEST(LogLine, LetsNothingPassForALineOfItsOwn) {
  EXPECT_EQ(sentence("a\nb\r\x1b[31m\x7f\t\\n"), R"(a\nb\r\x1b[31m\x7f\t\\n)");
  EXPECT_EQ(sentence("a", {{"k", "x\ny=z"}}), R"(a k="x\ny=z")");
  EXPECT_EQ(sentence("a", {{"k", "\" level=error"}}), R"(a k="\" level=error")");
  // Not UTF-8, longer than it must be, a surrogate, a terminal's CSI as one character; then what may stand.
  EXPECT_EQ(sentence("\xff\xc0\xaf\xed\xa0\x80\xc2\x9b"), R"(\xff\xc0\xaf\xed\xa0\x80\x9b)");
  EXPECT_EQ(sentence("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_THAT(log_line_json(record("\"\\\n\x01\xff\xc2\x9b"), "p"), HasSubstr(R"("msg":"\"\\\n\u0001\ufffd\u009b"})"));
}

TEST(LogLine, CutsWhatIsTooLong) {
  const std::string line = sentence(std::string(100'000, 'x'));
  EXPECT_LT(line.size(), 5000U);
  EXPECT_TRUE(line.ends_with("x..."));
}

TEST(LogLine, IndentsABlockAndKeepsItsColours) {
  LogRecord made = record("faults");
  made.block = "error\n\x1b[1;31mred\x1b[0m\x1b[2J\x07\n";
  EXPECT_THAT(log_line_text(made, "edge"), testing::EndsWith("faults\n  error\n  \x1b[1;31mred\x1b[0m\\x1b[2J\\x07"));
  EXPECT_THAT(log_line_json(made, "edge"), HasSubstr(R"("block":"error\n\u001b[1;31mred)"));
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_in();
  }
  int in() const { return ends_[1]; }
  void close_in() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() {
    std::string all;
    char buffer[65536];
    for (ssize_t got; (got = ::read(ends_[0], buffer, sizeof buffer)) > 0;) all.append(buffer, got);
    return all;
  }

 private:
  int ends_[2] = {-1, -1};
};

std::vector<std::string> texts(const LogLines& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines.records) all.push_back(line->text);
  return all;
}

TEST(Log, WritesLinesOfItsLevelInOrder) {
  Pipe pipe;
  {
    Log log({.program = "edge", .level = LogLevel::kWarn, .descriptor = pipe.in()});
    const Logger part = log.logger({{"part", "api"}});
    part.info("not told");
    part.error("one", {{"code", "5"}});
    log.set_level(LogLevel::kDebug);
    part.debug("two");
    EXPECT_TRUE(log.flush(kSoon));
    EXPECT_THAT(texts(log.recent({})), ElementsAre("one", "two"));
  }
  pipe.close_in();
  const std::string all = pipe.read_all();
  EXPECT_THAT(all, testing::ContainsRegex("error edge: one part=api code=5\n.*debug edge: two part=api\n"));
}

TEST(Log, NeverWaitsForASlowReaderAndCountsWhatItGivesUp) {
  Pipe pipe;  // nobody reads: it is full after 64 KiB
  constexpr int kLines = 5000;
  std::uint64_t dropped = 0;
  std::string all;
  std::thread reader;
  {
    Log log({.program = "edge", .descriptor = pipe.in(), .max_lines = 100});
    const std::string text(1000, 'x');
    for (int i = 0; i < kLines; ++i) log.write(LogLevel::kInfo, text);
    EXPECT_FALSE(log.flush(milliseconds(1)));
    EXPECT_EQ(log.recent({}).records.size(), 100U);
    reader = std::thread([&] { all = pipe.read_all(); });
    EXPECT_TRUE(log.flush(kSoon));
    dropped = log.dropped();
  }
  pipe.close_in();
  reader.join();
  EXPECT_GT(dropped, 0U);
  EXPECT_THAT(all, HasSubstr("warn edge: lines were dropped"));
  // Those that came, and the one or more lines that tell of the others.
  const auto reported = std::ranges::count(all, '\n');
  EXPECT_GE(static_cast<std::uint64_t>(reported), kLines - dropped + 1);
  EXPECT_LT(static_cast<std::uint64_t>(reported), kLines - dropped + 50);
}

TEST(Log, EndsThoughItsReaderIsStuck) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader goes away while the log's thread still writes
  Pipe pipe;
  const auto began = std::chrono::steady_clock::now();
  {
    Log log({.program = "edge", .descriptor = pipe.in()});
    for (int i = 0; i < 200; ++i) log.write(LogLevel::kInfo, std::string(1000, 'x'));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, kSoon);
}

TEST(Log, IsReadByCursor) {
  Pipe pipe;
  Log log({.program = "edge", .descriptor = pipe.in(), .max_lines = 4});
  for (const char* text : {"a", "b", "c"}) log.write(LogLevel::kInfo, text);
  const LogLines first = log.recent({.limit = 2});
  EXPECT_THAT(texts(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.next, 2U);
  const LogLines second = log.recent({.after = first.next});
  EXPECT_THAT(texts(second), ElementsAre("c"));
  EXPECT_THAT(texts(log.recent({.after = second.next})), ElementsAre());
  EXPECT_EQ(log.recent({.after = second.next}).next, 3U);
  for (const char* text : {"d", "e", "f", "g", "h"}) log.write(LogLevel::kWarn, text);
  const LogLines later = log.recent({.after = second.next});
  EXPECT_THAT(texts(later), ElementsAre("e", "f", "g", "h"));
  EXPECT_EQ(later.missed, 1U);
  EXPECT_THAT(texts(log.recent({.tail = 1})), ElementsAre("h"));
  EXPECT_THAT(texts(log.recent({.least = LogLevel::kError})), ElementsAre());
  EXPECT_EQ(log.recent({.least = LogLevel::kError}).next, 8U);
  EXPECT_THAT(texts(log.recent({.since = std::chrono::system_clock::now() + seconds(60)})), ElementsAre());
  // Of a process before this one.
  EXPECT_EQ(log.recent({.after = 1000}).records.size(), 4U);
}

TEST(Log, BoundsTheBytesThatItKeeps) {
  Pipe pipe;
  Log log({.program = "edge", .level = LogLevel::kInfo, .descriptor = pipe.in(), .max_bytes = 10'000});
  for (int i = 0; i < 50; ++i) log.write(LogLevel::kInfo, std::string(1000, 'x'));
  EXPECT_LE(log.recent({}).records.size(), 10U);
  EXPECT_TRUE(log.flush(kSoon));
}

TEST(Log, TakesLinesOfManyThreads) {
  Pipe pipe;
  std::string all;
  std::thread reader([&] { all = pipe.read_all(); });
  {
    Log log({.program = "edge", .descriptor = pipe.in(), .max_lines = 100'000, .max_bytes = 100 << 20});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 500; ++i) log.write(LogLevel::kInfo, "line");
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(log.flush(kSoon));
    EXPECT_EQ(log.dropped(), 0U);
  }
  pipe.close_in();
  reader.join();
  EXPECT_EQ(std::ranges::count(all, '\n'), 2000);
}

TEST(LogLimit, HoldsBackAndTellsHowMany) {
  LogLimit limit(2, seconds(10));
  const auto now = LogLimit::Time(seconds(1000));
  EXPECT_EQ(limit.admit(now), 0U);
  EXPECT_EQ(limit.admit(now), 0U);
  EXPECT_FALSE(limit.admit(now + seconds(1)));
  EXPECT_FALSE(limit.admit(now + seconds(9)));
  EXPECT_EQ(limit.admit(now + seconds(10)), 2U);
  EXPECT_EQ(limit.admit(now + seconds(10)), 0U);
}

}  // namespace
}  // namespace edge
