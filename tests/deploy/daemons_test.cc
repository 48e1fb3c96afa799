// Daemons as a service manager and an operator see them: readiness and watchdog, lines of the log, pages under /debug.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// The service manager's end of sd_notify(3). It reads at once: a socket that nobody reads takes few messages, and what
/// comes then is lost.
class ServiceManager {
 public:
  ServiceManager() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::string name = "@edge-daemons-test-" + std::to_string(::getpid());
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path + 1, name.data() + 1, name.size() - 1);
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address_), size_), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "2000000", 1);
    thread_ = std::thread([this] { run(); });
  }
  ~ServiceManager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    ::sendto(fd_, "", 0, 0, reinterpret_cast<sockaddr*>(&address_), size_);
    thread_.join();
    ::close(fd_);
  }

  /// The next message that begins so; empty when none comes.
  std::string wait_for(const std::string& begin) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    std::unique_lock lock(mutex_);
    while (came_.wait_until(lock, until, [this] { return !messages_.empty(); })) {
      const std::string message = std::move(messages_.front());
      messages_.pop_front();
      if (message.starts_with(begin)) return message;
    }
    return {};
  }

 private:
  // Until a message without a byte.
  void run() {
    char buffer[1024];
    for (ssize_t got; (got = ::recv(fd_, buffer, sizeof buffer, 0)) > 0;) {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(buffer, static_cast<std::size_t>(got));
      came_.notify_one();
    }
  }

  const int fd_;
  sockaddr_un address_{};
  socklen_t size_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> messages_;  ///< under the mutex
  std::thread thread_;
};

class Daemons : public testing::Test {
 protected:
  void compile(int listener_port = 8080) {
    dir_.put("config.yaml", base_config(1, listener_port) + "---\n" + route_config("a", "/a"));
    const Finished finished = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                           "--endpoints-out", dir_ / "endpoints.json"});
    ASSERT_EQ(finished.code, 0) << finished.err;
  }
  std::vector<std::string> agent(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {(bin_dir() / "edge-agent").string(),
                                      "--program",
                                      dir_ / "p.edgeprog",
                                      "--endpoints",
                                      dir_ / "endpoints.json",
                                      "--allow-unsigned"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// `200 body` of a page of the agent.
  static std::string page(const ProxyProcess& process, const std::string& path,
                          const std::vector<std::string>& more = {"-H", "Host: localhost"}) {
    std::vector<std::string> command = {"curl", "-s", "-m", "30", "-w", "\n%{http_code}"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back("http://127.0.0.1:" + std::to_string(process.health_port) + path);
    const std::string out = run_command(command).out;
    const std::size_t end = out.rfind('\n');
    return out.substr(end + 1) + " " + out.substr(0, end);
  }

  TempDir dir_;
};

TEST_F(Daemons, TellTheServiceManagerWhatTheyDo) {
  ServiceManager manager;
  compile();
  ProxyProcess process(agent());
  EXPECT_EQ(manager.wait_for("STATUS="), "STATUS=waits for its first program");
  const std::string hash = process.wait_ready();
  ASSERT_NE(hash, "") << process.process.err_text();
  EXPECT_EQ(manager.wait_for("READY=1"), "READY=1\nSTATUS=serves the program " + hash.substr(0, 12));
  EXPECT_EQ(manager.wait_for("WATCHDOG=1"), "WATCHDOG=1");
  EXPECT_EQ(manager.wait_for("WATCHDOG=1"), "WATCHDOG=1");
  process.process.send_signal(SIGTERM);
  EXPECT_THAT(manager.wait_for("STOPPING=1"), StartsWith("STOPPING=1\nSTATUS=draining"));
  EXPECT_EQ(process.process.wait_exit(), 0) << process.process.err_text();
}

TEST_F(Daemons, WriteJsonThatStaysJson) {
  compile();
  ProxyProcess process(agent({"--log-format", "json"}));
  // Its lines end in a quote, so that no port can be read of them here.
  ASSERT_TRUE(process.process.wait_out("ready program="));
  ASSERT_TRUE(process.process.wait_err("listener http on "));
  dir_.put("p.edgeprog", "no program\nat all");
  ASSERT_TRUE(process.process.wait_err("keeps the running program"));
  process.process.send_signal(SIGTERM);
  EXPECT_EQ(process.process.wait_exit(), 0) << process.process.err_text();
  std::istringstream lines(process.process.err_text());
  std::size_t errors = 0;
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line, nullptr, false);
    ASSERT_FALSE(record.is_discarded()) << line;
    for (const char* key : {"time", "level", "program", "seq", "msg"}) EXPECT_TRUE(record.contains(key)) << line;
    EXPECT_EQ(record["program"], "edge-agent");
    errors += record["level"] == "error" ? 1 : 0;
  }
  EXPECT_GT(errors, 0U);
}

TEST_F(Daemons, ServeAndEndThoughNobodyReadsTheirOutput) {
  compile();
  const std::string pipe = dir_ / "output";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int full = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string filling(4096, 'x');
  while (::write(full, filling.data(), filling.size()) > 0) {
  }
  ASSERT_EQ(errno, EAGAIN);
  std::string command = "exec";
  for (const std::string& word : agent({"--metrics-listen", "off", "--health-listen", "off", "--ephemeral-ports"})) {
    command += " '" + word + "'";
  }
  Process process({"sh", "-c", command + " > '" + pipe + "'"});
  EXPECT_TRUE(process.wait_err("the standard output is not read: it does not take `ready program="))
      << process.err_text();
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait_exit(), 0) << process.err_text();
  ::close(full);
}

TEST_F(Daemons, ServePagesToWhoIsOnThisMachine) {
  compile();
  ProxyProcess process(agent());
  ASSERT_NE(process.wait_ready(), "") << process.process.err_text();
  const std::string index = page(process, "/debug/");
  for (const char* path : {"/debug/config", "/debug/endpoints", "/debug/stats", "/debug/logs", "/debug/log-level",
                           "/debug/heap", "/debug/program", "/debug/pprof/profile"}) {
    EXPECT_THAT(index, HasSubstr(path));
    if (std::string_view(path) != "/debug/pprof/profile") EXPECT_THAT(page(process, path), StartsWith("200 ")) << path;
  }
  EXPECT_THAT(page(process, "/debug/config"), HasSubstr("\"listeners\": 1"));
  EXPECT_THAT(page(process, "/debug/stats"), HasSubstr("edge_program_info{"));
  EXPECT_THAT(page(process, "/debug/logs?tail=1"), HasSubstr("\"msg\":"));
  EXPECT_THAT(page(process, "/debug/log-level?level=debug", {"-X", "PUT"}), StartsWith("401 "));
  const std::string own = admin_authorization(process.health_port);
  EXPECT_EQ(page(process, "/debug/log-level", {"-X", "PUT", "-H", "Host: localhost", "-H", own}).substr(0, 3), "400");
  EXPECT_EQ(page(process, "/debug/log-level?level=debug", {"-X", "PUT", "-H", own}), "200 debug\n");
  EXPECT_EQ(page(process, "/debug/log-level"), "200 debug\n");
  EXPECT_THAT(page(process, "/debug/heap"), HasSubstr("in_use_bytes "));
}

TEST_F(Daemons, GiveTheirProgramOutPieceByPiece) {
  compile();
  ProxyProcess process(agent());
  ASSERT_NE(process.wait_ready(), "") << process.process.err_text();
  const std::string url = "http://127.0.0.1:" + std::to_string(process.health_port) + "/debug/program";
  ASSERT_EQ(run_command({"curl", "-sf", "-m", "30", "-o", dir_ / "given", url}).code, 0);
  EXPECT_EQ(dir_.get("given"), dir_.get("p.edgeprog"));
  EXPECT_THAT(run_command({"curl", "-sI", "-m", "30", url}).out,
              HasSubstr("Content-Length: " + std::to_string(dir_.get("given").size()) + "\r\n"));
}

TEST_F(Daemons, RefuseBrowsers) {
  compile();
  ProxyProcess process(agent());
  ASSERT_NE(process.wait_ready(), "") << process.process.err_text();
  EXPECT_THAT(page(process, "/debug/config", {"-H", "Host: evil.example"}), StartsWith("403 "));
  EXPECT_THAT(page(process, "/debug/log-level?level=debug", {"-X", "PUT", "-H", "Origin: https://evil.example"}),
              StartsWith("403 "));
  EXPECT_THAT(page(process, "/debug/program", {"-H", "Sec-Fetch-Site: cross-site"}), StartsWith("403 "));
  EXPECT_THAT(page(process, "/debug/pprof/profile?seconds=1", {"-H", "Host: evil.example"}), StartsWith("403 "));
  // A health check may come by any name.
  EXPECT_THAT(page(process, "/readyz", {"-H", "Host: edge.example"}), StartsWith("200 "));
}

TEST_F(Daemons, ProfileThemselvesWhileTheyServe) {
  compile();
  ProxyProcess process(agent());
  ASSERT_NE(process.wait_ready(), "") << process.process.err_text();
  const Finished profile = run_command(
      {"sh", "-c",
       "curl -s -m 30 -o " + (dir_ / "profile") + " 'http://127.0.0.1:" + std::to_string(process.health_port) +
           "/debug/pprof/profile?seconds=1' & " + "for i in 1 2 3 4 5; do curl -s -m 30 http://127.0.0.1:" +
           std::to_string(process.health_port) + "/healthz; done; wait"});
  EXPECT_EQ(profile.out, "ok\nok\nok\nok\nok\n");
  EXPECT_THAT(dir_.get("profile"), HasSubstr("/edge-agent"));
}

TEST_F(Daemons, SayWhichCapabilityAnOrdinaryUserLacks) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  compile(80);
  std::filesystem::permissions(dir_.path(), std::filesystem::perms(0755));
  for (const char* file : {"p.edgeprog", "endpoints.json"}) {
    std::filesystem::permissions(dir_ / file, std::filesystem::perms(0644));
  }
  // A network of its own: there the kernel's default says which ports are privileged.
  std::vector<std::string> command = {"unshare",       "--net",          "setpriv",         "--reuid=65534",
                                      "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"};
  if (run_command({"unshare", "--net", "true"}).code != 0) GTEST_SKIP() << "no network namespaces here";
  const std::vector<std::string> words = agent({"--metrics-listen", "off", "--health-listen", "off", "--threads", "1"});
  command.insert(command.end(), words.begin(), words.end());
  Process process(command);
  EXPECT_TRUE(process.wait_err("warn edge-agent: lacks CAP_NET_BIND_SERVICE, which listening on 80 takes"))
      << process.err_text();
  EXPECT_THAT(process.err_text(), HasSubstr("cannot listen on :: port 80: Permission denied"));
}

TEST_F(Daemons, ServeTheControllersPagesToo) {
  dir_.put(
      "kubeconfig",
      "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "
      "'http://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n");
  ServiceManager manager;
  Process process({(bin_dir() / "edge-controller").string(), "--data-dir", dir_ / "data", "--kubeconfig",
                   dir_ / "kubeconfig", "--agents-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
                   "--otlp-listen", "127.0.0.1:0", "--traces-listen", "127.0.0.1:0", "--log-level", "debug"});
  const auto line = process.wait_err("metrics on ");
  ASSERT_TRUE(line) << process.err_text();
  const std::string port = line->substr(line->rfind(':') + 1);
  EXPECT_EQ(manager.wait_for("READY=1"), "READY=1\nSTATUS=gives programs to agents");
  EXPECT_EQ(manager.wait_for("WATCHDOG=1"), "WATCHDOG=1");
  const auto get = [&](const std::string& path) {
    return run_command({"curl", "-s", "-m", "30", "http://127.0.0.1:" + port + path}).out;
  };
  EXPECT_THAT(get("/debug/"), HasSubstr("/debug/pprof/profile"));
  EXPECT_EQ(get("/debug/log-level"), "debug\n");
  EXPECT_THAT(get("/debug/logs"), HasSubstr("\"msg\":\"agents on port "));
  EXPECT_THAT(get("/metrics"), HasSubstr("edge_controller_leader"));
  EXPECT_EQ(get("/healthz"), "ok\n");
  process.send_signal(SIGTERM);
  EXPECT_THAT(manager.wait_for("STOPPING=1"), StartsWith("STOPPING=1"));
  EXPECT_EQ(process.wait_exit(), 0) << process.err_text();
}

}  // namespace
}  // namespace edge::test
