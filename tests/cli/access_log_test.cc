// The access log of a running edge-agent: its file, SIGHUP, and the page of the latest requests.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AccessLogProcess : public testing::Test {
 protected:
  void SetUp() override {
    std::string config = base_config(backend_.port);
    config.insert(config.find("listeners:"), "accessLog: {enabled: true, format: '%{status} %{target}'}, ");
    dir_.put("config.yaml", config + "---\n" + route_config("a", "/a"));
    const Finished compiled = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                           "--endpoints-out", dir_ / "endpoints.json"});
    ASSERT_EQ(compiled.code, 0) << compiled.err;
  }

  std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints", dir_ / "endpoints.json", "--allow-unsigned"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Waits until the file holds just this.
  static testing::AssertionResult comes_to_hold(const std::string& path, const std::string& text) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    std::string found;
    while (found != text && std::chrono::steady_clock::now() < until) {
      std::ostringstream out;
      out << std::ifstream(path).rdbuf();
      found = out.str();
      std::this_thread::yield();
    }
    if (found == text) return testing::AssertionSuccess();
    return testing::AssertionFailure() << path << " holds " << found;
  }

  TempDir dir_;
  Backend backend_{"one"};
};

TEST_F(AccessLogProcess, SighupOpensTheFileAnew) {
  ProxyProcess agent(command({"--access-log", dir_ / "log"}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  curl(agent.port, "/a?token=hunter2");
  EXPECT_TRUE(comes_to_hold(dir_ / "log", "200 /a?token=***\n"));
  std::filesystem::rename(dir_ / "log", dir_ / "old");
  agent.process.send_signal(SIGHUP);
  EXPECT_TRUE(comes_to_hold(dir_ / "log", ""));
  curl(agent.port, "/missing");
  EXPECT_TRUE(comes_to_hold(dir_ / "log", "404 /missing\n"));
  EXPECT_TRUE(comes_to_hold(dir_ / "old", "200 /a?token=***\n"));
  agent.process.send_signal(SIGTERM);
  EXPECT_EQ(agent.process.wait_exit(), 0) << agent.process.err_text();
  EXPECT_THAT(agent.process.err_text(), Not(HasSubstr("hunter2")));
}

TEST_F(AccessLogProcess, TheStandardOutputIsWhereItGoesElse) {
  ProxyProcess agent(command({}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  curl(agent.port, "/a");
  EXPECT_TRUE(agent.process.wait_out("200 /a"));
}

TEST_F(AccessLogProcess, TheLatestRequestsCanBeAskedFor) {
  ProxyProcess agent(command({"--access-log", "off"}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  curl(agent.port, "/a");
  curl(agent.port, "/missing?code=hunter2");
  std::string answer;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (answer.find("\"next\":2") == std::string::npos && std::chrono::steady_clock::now() < until) {
    answer = curl(agent.health_port, "/debug/access-log");
  }
  EXPECT_THAT(answer, AllOf(HasSubstr("\"seq\":1,"), HasSubstr("\"route\":\"default/a\""), HasSubstr("code=***"),
                            HasSubstr("{\"next\":2,\"missed\":0}"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(curl(agent.health_port, "/debug/access-log?status=4xx&after=0"),
              AllOf(HasSubstr("\"seq\":2,"), Not(HasSubstr("\"seq\":1,"))));
  EXPECT_THAT(curl(agent.health_port, "/debug/access-log?route=default/a"), Not(HasSubstr("\"seq\":2,")));
  EXPECT_THAT(curl(agent.health_port, "/debug/access-log?since=soon"), HasSubstr("400 "));
}

TEST_F(AccessLogProcess, AFileThatCannotBeOpenedEndsTheStart) {
  const Finished finished = run_command(command({"--access-log", dir_ / "no/such/log"}));
  EXPECT_NE(finished.code, 0);
  EXPECT_THAT(finished.err, HasSubstr("no/such/log"));
  EXPECT_EQ(run_command(command({"--access-log-keep", "many"})).code, 2);
}

}  // namespace
}  // namespace edge::test
