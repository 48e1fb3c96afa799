// What the disk does to the API: nothing acknowledged is lost, nothing refused is half there.
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "controller/resource_api/storage/wal_check.h"
#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatabaseTest : public ApiTest {
 protected:
  std::string path() const { return dir_ + "/resources.db"; }
  void run(sqlite3* file, const char* text) {
    ASSERT_EQ(sqlite3_exec(file, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(file);
  }
};

TEST_F(DatabaseTest, ALockedDatabaseAnswers503AndLosesNothing) {
  create(kMaps, config_map("a", {{"k", "1"}}));
  const auto version = api_->resource_version();
  const auto stream = watch(kMaps + "?watch=true&resourceVersion=" + std::to_string(version));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  run(other, "BEGIN IMMEDIATE");
  const Answer refused = create(kMaps, config_map("b"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body["reason"], "ServiceUnavailable");
  EXPECT_EQ(refused.field("Retry-After"), "1");
  EXPECT_EQ(patch(kMaps + "/a", {{"data", {{"k", "2"}}}}).status, 503);
  EXPECT_EQ(remove(kMaps + "/a").status, 503);
  EXPECT_EQ(get(kMaps + "/a").body["data"]["k"], "1") << "reads go on, and show what is durable";
  EXPECT_EQ(get(kMaps + "/b").status, 404);
  EXPECT_EQ(api_->resource_version(), version);
  EXPECT_THAT(events(*stream), IsEmpty());
  run(other, "ROLLBACK");
  sqlite3_close(other);
  EXPECT_EQ(create(kMaps, config_map("b")).status, 201);
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
}

TEST_F(DatabaseTest, AKindThatCouldNotBeWrittenIsNotThere) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  run(other, "BEGIN IMMEDIATE");
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  EXPECT_EQ(remove(crds + "/proxyroutes.edgeproxy.io").status, 503);
  api_->work();
  run(other, "ROLLBACK");
  sqlite3_close(other);
  work();
  EXPECT_EQ(get("/apis/edgeproxy.io/v1alpha1/proxyroutes").status, 200);
}

TEST_F(DatabaseTest, AFullDiskRefusesAndLosesNothing) {
  create(kMaps, config_map("a"));
  // What a process may write is bounded instead of the disk: SQLite sees the same failing write.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &bound), 0);
  const Answer refused = create(kMaps, config_map("b", {{"k", std::string(100'000, 'x')}}));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(refused.status, testing::AnyOf(500, 503));
  EXPECT_EQ(refused.body["kind"], "Status");
  EXPECT_THAT(names(get(kMaps).body), ElementsAre("a"));
  EXPECT_EQ(create(kMaps, config_map("c")).status, 201);
  start();
  EXPECT_THAT(names(get(kMaps).body), ElementsAre("a", "c"));
}

TEST_F(DatabaseTest, ALogThatIsDamagedInTheMiddleIsToldAndKept) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) create(kMaps, config_map(name));
  // As a crash leaves it: closed in order, SQLite would have no log any more.
  const std::filesystem::path crashed = dir_ + "/crashed";
  std::filesystem::create_directories(crashed);
  for (const char* file : {"/resources.db", "/resources.db-wal"}) {
    std::filesystem::copy_file(dir_ + file, crashed.string() + file);
  }
  const auto open = [&](TestLog& log) {
    auto options = options_;
    options.data_dir = crashed.string();
    options.log = log.logger();
    return Api::open(options);
  };
  const std::filesystem::path wal = crashed / "resources.db-wal";
  const auto size = std::filesystem::file_size(wal);
  {
    std::fstream damaged(wal, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(size / 2));
    damaged << "damage";
  }
  TestLog log;
  ASSERT_TRUE(open(log).ok());
  EXPECT_THAT(log.text(), HasSubstr("damaged in the middle"));
  EXPECT_THAT(log.text(), HasSubstr("changes_lost="));
  EXPECT_EQ(std::filesystem::file_size(crashed / "resources.db.damaged-wal"), size);
  // Told once, of each damage.
  TestLog again;
  ASSERT_TRUE(open(again).ok());
  EXPECT_EQ(again.text().find("damaged"), std::string::npos) << again.text();
}

TEST_F(DatabaseTest, ATransactionThatACrashCutShortIsNoDamage) {
  for (const char* name : {"a", "b", "c"}) create(kMaps, config_map(name));
  const std::string whole = dir_ + "/resources.db-wal";
  const std::string torn = dir_ + "/torn-wal";
  std::filesystem::copy_file(whole, torn);
  EXPECT_EQ(check_wal(torn)->lost, 0U);
  const auto kept = check_wal(torn)->kept;
  EXPECT_GE(kept, 3U);
  std::filesystem::resize_file(torn, std::filesystem::file_size(torn) - 100);
  EXPECT_EQ(check_wal(torn)->lost, 0U);
  EXPECT_EQ(check_wal(torn)->kept, kept - 1);
  EXPECT_EQ(check_wal(dir_ + "/none")->lost, 0U);
}

TEST_F(DatabaseTest, ANewerVersionsDatabaseIsRefusedWithAWord) {
  api_.reset();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  run(other, "PRAGMA user_version=99");
  sqlite3_close(other);
  const auto refused = Api::open(options_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(refused.error().text, HasSubstr("written by a newer version"));
}

TEST_F(DatabaseTest, WhatIsNoDatabaseOfOursIsRefused) {
  api_.reset();
  std::filesystem::remove(path());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  run(other, "CREATE TABLE t(x)");
  sqlite3_close(other);
  EXPECT_EQ(Api::open(options_).error().code, ErrorCode::kFailedPrecondition);
  std::filesystem::remove(path());
  std::ofstream(path()) << std::string(8192, 'x');
  EXPECT_EQ(Api::open(options_).error().code, ErrorCode::kDataLoss);
}

TEST_F(DatabaseTest, NobodyElseReadsIt) {
  create(kMaps, config_map("a"));
  for (const char* file : {"/resources.db", "/resources.db-wal"}) {
    EXPECT_EQ(std::filesystem::status(dir_ + file).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << file;
  }
}

TEST_F(DatabaseTest, ARowThatIsNoObjectIsLeftOutAndTold) {
  create(kMaps, config_map("a"));
  create(kMaps, config_map("b"));
  api_.reset();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  run(other, "UPDATE objects SET text='{' WHERE name='a' AND collection='/configmaps'");
  sqlite3_close(other);
  start();
  EXPECT_THAT(names(get(kMaps).body), ElementsAre("b"));
  EXPECT_THAT(log_.lines(),
              testing::Contains("warn resource api: the database contains an invalid object; it is left out "
                                "collection=/configmaps name=default/a"));
}

TEST_F(DatabaseTest, TheHistoryOnTheDiskIsBounded) {
  options_.limits.history_events = 10;
  start();
  create(kMaps, config_map("a"));
  for (int i = 0; i < 50; ++i) patch(kMaps + "/a", {{"data", {{"k", std::to_string(i)}}}});
  api_.reset();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_stmt* count = nullptr;
  sqlite3_prepare_v2(other, "SELECT count(*) FROM history WHERE collection='/configmaps'", -1, &count, nullptr);
  ASSERT_EQ(sqlite3_step(count), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int(count, 0), 10);
  sqlite3_finalize(count);
  sqlite3_close(other);
}

}  // namespace
}  // namespace edge::resource_api
