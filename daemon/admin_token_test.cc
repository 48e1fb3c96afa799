#include "daemon/admin_token.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/os/file.h"

namespace edge::daemon {
namespace {

namespace fs = std::filesystem;

class AdminTokenTest : public testing::Test {
 protected:
  AdminTokenTest() {
    std::string pattern = (fs::temp_directory_path() / "admin-token.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~AdminTokenTest() override { fs::remove_all(directory_); }

  static int asked(const AdminToken& token, const std::string& method, const std::string& authorization = {}) {
    AdminRequest request;
    request.method = method;
    request.path = "/debug/log-level";
    if (!authorization.empty()) request.fields.emplace_back("Authorization", authorization);
    const auto refused = token.refuse(request);
    return refused ? refused->status : 0;
  }
  static std::string written(const AdminToken& token) {
    std::string text = *read_file(token.path(), 1 << 10);
    text.pop_back();
    return text;
  }

  std::string directory_;
};

TEST_F(AdminTokenTest, IsAskedForByWhateverChanges) {
  const auto token = AdminToken::open(directory_ + "/data/token");
  ASSERT_TRUE(token) << token.error().text;
  const std::string text = written(*token);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "FROB"}) {
    EXPECT_EQ(asked(*token, method), 401) << method;
    EXPECT_EQ(asked(*token, method, "Bearer " + text), 0) << method;
  }
  for (const char* method : {"GET", "HEAD"}) EXPECT_EQ(asked(*token, method), 0) << method;
  EXPECT_EQ(asked(*token, "PUT", "bearer " + text), 0);
  for (const std::string& wrong :
       {text, "Basic " + text, "Bearer " + text + "x", "Bearer " + text.substr(1), std::string("Bearer ")}) {
    EXPECT_EQ(asked(*token, "PUT", wrong), 401) << wrong;
  }
  EXPECT_EQ(asked(AdminToken(), "PUT", "Bearer "), 401) << "nobody has one that is not there";
}

TEST_F(AdminTokenTest, IsItsOwnersAndStays) {
  const std::string path = directory_ + "/token";
  const auto first = AdminToken::open(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const std::string text = written(*first);
  const auto second = AdminToken::open(path);
  ASSERT_TRUE(second);
  EXPECT_EQ(asked(*second, "PUT", "Bearer " + text), 0) << "a process that takes over";
  // What others may have read is no secret, and what is none is none.
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  EXPECT_EQ(asked(*AdminToken::open(path), "PUT", "Bearer " + text), 401);
  std::ofstream(path) << "edge-admin-\n";
  EXPECT_EQ(asked(*AdminToken::open(path), "PUT", "Bearer edge-admin-"), 401);
}

TEST_F(AdminTokenTest, WithoutAPathGoesWithItsProcess) {
  std::string path;
  {
    const auto token = AdminToken::open({});
    ASSERT_TRUE(token) << token.error().text;
    path = token->path();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(fs::path(path).parent_path()));
  ASSERT_EQ(::setenv("RUNTIME_DIRECTORY", directory_.c_str(), 1), 0);
  const auto given = AdminToken::open({});
  ::unsetenv("RUNTIME_DIRECTORY");
  ASSERT_TRUE(given);
  EXPECT_EQ(given->path(), directory_ + "/admin-token");
}

}  // namespace
}  // namespace edge::daemon
