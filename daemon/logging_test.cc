#include "daemon/logging.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::daemon {
namespace {

using testing::HasSubstr;

class LogPages : public testing::Test {
 protected:
  LogPages() : log_({.program = "edge", .descriptor = silent_}) { add_log_pages(pages_, log_); }
  ~LogPages() override { ::close(silent_); }

  AdminReply ask(std::string method, std::string path, std::string query = {}) {
    AdminRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.query = std::move(query);
    auto reply = pages_.answer(request);
    return reply ? std::move(*reply) : AdminReply{.status = 0};
  }

  const int silent_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_;
  DebugPages pages_;
};

TEST_F(LogPages, GiveRecentLinesByCursor) {
  log_.write(LogLevel::kInfo, "one");
  log_.write(LogLevel::kError, "two\nlines");
  const std::string first = ask("GET", "/debug/logs", "limit=1").body;
  EXPECT_THAT(first, HasSubstr("\"seq\":1,\"msg\":\"one\"}\n{\"next\":1,\"missed\":0}\n"));
  const std::string second = ask("GET", "/debug/logs", "after=1").body;
  EXPECT_THAT(second, HasSubstr("\"msg\":\"two\\nlines\"}\n{\"next\":2,\"missed\":0}\n"));
  EXPECT_EQ(ask("GET", "/debug/logs", "after=2").body, "{\"next\":2,\"missed\":0}\n");
  EXPECT_THAT(ask("GET", "/debug/logs", "level=error").body, testing::Not(HasSubstr("one")));
  EXPECT_THAT(ask("GET", "/debug/logs", "tail=1&since=1h").body, testing::Not(HasSubstr("one")));
}

TEST_F(LogPages, AnswerWithNoMoreThanAMegabyteAndGoOn) {
  for (int i = 0; i < 400; ++i) log_.write(LogLevel::kInfo, std::string(4000, 'x'));
  std::uint64_t lines = 0;
  for (std::string after = "0"; lines < 400;) {
    const std::string body = ask("GET", "/debug/logs", "after=" + after).body;
    EXPECT_LE(body.size(), (1U << 20) + 100);
    const auto got = static_cast<std::uint64_t>(std::ranges::count(body, '\n')) - 1;
    ASSERT_GT(got, 0U);
    lines += got;
    const std::size_t next = body.rfind("{\"next\":") + 8;
    after = body.substr(next, body.find(',', next) - next);
  }
  EXPECT_EQ(lines, 400U);
}

TEST_F(LogPages, TakeAnyTime) {
  log_.write(LogLevel::kInfo, "one");
  EXPECT_THAT(ask("GET", "/debug/logs", "since=0001-01-01T00:00:00Z").body, HasSubstr("one"));
  EXPECT_EQ(ask("GET", "/debug/logs", "since=9999-12-31T23:59:59Z").body, "{\"next\":1,\"missed\":0}\n");
}

TEST_F(LogPages, RefuseWhatMakesNoSense) {
  for (const char* query : {"level=loud", "since=yesterday", "after=x", "limit=-1", "tail=10001"}) {
    EXPECT_EQ(ask("GET", "/debug/logs", query).status, 400) << query;
  }
}

TEST_F(LogPages, ChangeTheLevel) {
  EXPECT_EQ(ask("GET", "/debug/log-level").body, "info\n");
  EXPECT_EQ(ask("PUT", "/debug/log-level", "level=error").body, "error\n");
  EXPECT_EQ(log_.level(), LogLevel::kError);
  log_.write(LogLevel::kWarn, "not told");
  EXPECT_THAT(ask("GET", "/debug/logs").body,
              HasSubstr("\"msg\":\"the log's level was changed\",\"to\":\"error\"}\n{"));
  EXPECT_EQ(ask("PUT", "/debug/log-level", "level=loud").status, 400);
  EXPECT_EQ(ask("PUT", "/debug/log-level").status, 400);
  EXPECT_EQ(ask("POST", "/debug/log-level", "level=debug").status, 405);
}

}  // namespace
}  // namespace edge::daemon
