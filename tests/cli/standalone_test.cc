// edge-standalone as a user runs it: files, a real backend, curl, signals.
#include <sys/socket.h>

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Standalone : public testing::Test {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TempDir dir_;
};

TEST_F(Standalone, ServesFollowsTheFilesAndDrains) {
  Backend backend("one");
  dir_.put("config/base.yaml", base_config(backend.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  ProxyProcess proxy(command());
  const std::string first = proxy.wait_ready();
  ASSERT_EQ(first.size(), 64u) << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
  EXPECT_THAT(curl(proxy.port, "/b"), StartsWith("404 "));
  EXPECT_EQ(curl(proxy.health_port, "/readyz"), "200 ready program=" + first);
  EXPECT_EQ(curl(proxy.health_port, "/healthz"), "200 ok");
  EXPECT_THAT(curl(proxy.metrics_port, "/metrics"),
              testing::AllOf(HasSubstr("edge_requests_begun_total 2\n"),
                             HasSubstr("edge_program_info{hash=\"" + first + "\"} 1"),
                             HasSubstr("edge_responses_total{class=\"4xx\"} 1\n")));

  dir_.put("config/b.yaml", route_config("b", "/b"));
  const std::string second = proxy.wait_programmed();
  EXPECT_EQ(second.size(), 64u);
  EXPECT_NE(second, first);
  EXPECT_EQ(curl(proxy.port, "/b"), "200 one got GET /b");

  proxy.process.send_signal(SIGTERM);
  EXPECT_TRUE(proxy.process.wait_err("draining"));
  EXPECT_EQ(proxy.process.wait_exit(), 0) << proxy.process.err_text();
}

TEST_F(Standalone, ABrokenFileKeepsWhatWorksAndSaysSo) {
  Backend backend("one");
  dir_.put("config/base.yaml", base_config(backend.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();

  dir_.put("config/a.yaml", "kind: [broken\n");
  EXPECT_TRUE(proxy.process.wait_err("error["));
  EXPECT_TRUE(proxy.process.wait_err("stays in force"));
  EXPECT_TRUE(proxy.process.wait_err("correct the errors"));
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");

  dir_.put("config/b.yaml", route_config("b", "/b"));
  EXPECT_NE(proxy.wait_programmed(), "");
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
  EXPECT_EQ(curl(proxy.port, "/b"), "200 one got GET /b");

  dir_.put("config/a.yaml", route_config("a", "/mended"));
  EXPECT_NE(proxy.wait_programmed(), "");
  EXPECT_EQ(curl(proxy.port, "/mended"), "200 one got GET /mended");
  EXPECT_THAT(curl(proxy.port, "/a"), StartsWith("404 "));
}

TEST_F(Standalone, FollowsAConfigMapVolume) {
  Backend backend("one");
  const auto all = [&](const std::string& path) {
    return base_config(backend.port) + "---\n" + route_config("a", path);
  };
  dir_.put("config/..first/all.yaml", all("/first"));
  dir_.put("config/..second/all.yaml", all("/second"));
  std::filesystem::create_directory_symlink("..first", dir_ / "config/..data");
  std::filesystem::create_symlink("..data/all.yaml", dir_ / "config/all.yaml");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/first"), "200 one got GET /first");

  std::filesystem::create_directory_symlink("..second", dir_ / "config/..data_tmp");
  std::filesystem::rename(dir_ / "config/..data_tmp", dir_ / "config/..data");
  EXPECT_NE(proxy.wait_programmed(), "");
  EXPECT_EQ(curl(proxy.port, "/second"), "200 one got GET /second");
  EXPECT_THAT(curl(proxy.port, "/first"), StartsWith("404 "));
}

TEST_F(Standalone, StartsWithTheLastSoundProgramWhenTheFilesAreBroken) {
  Backend backend("one");
  dir_.put("config/base.yaml", base_config(backend.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  std::string hash;
  {
    ProxyProcess proxy(command());
    hash = proxy.wait_ready();
    ASSERT_NE(hash, "") << proxy.process.err_text();
    proxy.process.send_signal(SIGTERM);
    EXPECT_EQ(proxy.process.wait_exit(), 0) << proxy.process.err_text();
  }
  const auto key = std::filesystem::status(dir_ / "data/signing.key");
  EXPECT_EQ(key.permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  dir_.put("config/a.yaml", "kind: [broken\n");
  ProxyProcess proxy(command());
  EXPECT_EQ(proxy.wait_ready(), hash) << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
  dir_.put("config/a.yaml", route_config("a", "/new"));
  EXPECT_NE(proxy.wait_programmed(), "");
  EXPECT_EQ(curl(proxy.port, "/new"), "200 one got GET /new");
}

TEST_F(Standalone, DrainsTheRequestInFlight) {
  ListeningSocket upstream;
  dir_.put("config/all.yaml", base_config(upstream.port) + "---\n" + route_config("a", "/a"));
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  auto answer = std::async(std::launch::async, [&] { return curl(proxy.port, "/a"); });
  const int connection = upstream.accept_one();
  char buffer[4096];
  ASSERT_GT(::recv(connection, buffer, sizeof(buffer), 0), 0);

  proxy.process.send_signal(SIGTERM);
  ASSERT_TRUE(proxy.process.wait_err("draining"));
  const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate";
  ASSERT_EQ(::send(connection, reply.data(), reply.size(), MSG_NOSIGNAL), static_cast<ssize_t>(reply.size()));
  EXPECT_EQ(answer.get(), "200 late");
  EXPECT_EQ(proxy.process.wait_exit(), 0) << proxy.process.err_text();
  ::close(connection);
}

TEST_F(Standalone, ASecondSignalEndsItAtOnce) {
  ListeningSocket upstream;
  dir_.put("config/all.yaml", base_config(upstream.port) + "---\n" + route_config("a", "/a"));
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  auto answer = std::async(std::launch::async, [&] { return curl(proxy.port, "/a"); });
  const int connection = upstream.accept_one();
  proxy.process.send_signal(SIGTERM);
  ASSERT_TRUE(proxy.process.wait_err("draining"));
  proxy.process.send_signal(SIGTERM);
  EXPECT_EQ(proxy.process.wait_exit(), 128 + SIGTERM) << proxy.process.err_text();
  ::close(connection);
  answer.get();
}

TEST_F(Standalone, APortThatIsTakenIsToldAndOpenedOnceItIsFree) {
  auto taken = std::make_unique<ListeningSocket>();
  const std::string port = std::to_string(taken->port);
  dir_.put("config/all.yaml", base_config(1, taken->port));
  // Without --ephemeral-ports: the port is the one that the gateway names.
  Process proxy(
      command({"--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--api-listen", "127.0.0.1:0"}));
  const auto metrics_line = proxy.wait_err("metrics on ");
  const auto line = proxy.wait_err("health on ");
  ASSERT_TRUE(line && metrics_line);
  EXPECT_TRUE(proxy.wait_err("port " + port + ": in use by another process; it is tried again")) << proxy.err_text();
  const int health = std::stoi(line->substr(line->rfind(':') + 1));
  const int metrics = std::stoi(metrics_line->substr(metrics_line->rfind(':') + 1));
  EXPECT_TRUE(proxy.wait_err("not ready: no listener is bound: cannot listen on ")) << proxy.err_text();
  EXPECT_THAT(curl(health, "/readyz"), testing::HasSubstr("no listener is bound: cannot listen on "));
  EXPECT_THAT(curl(metrics, "/metrics"), testing::HasSubstr("edge_listeners_unbound{reason=\"port\"} 1"));
  taken.reset();
  EXPECT_TRUE(proxy.wait_err("listener http on ")) << proxy.err_text();
  // The first line there is: whoever waits for it may send requests.
  EXPECT_TRUE(proxy.wait_out("").value_or("").starts_with("ready program="));
  EXPECT_THAT(curl(health, "/readyz"), testing::HasSubstr("200 ready"));
  proxy.send_signal(SIGTERM);
  EXPECT_EQ(proxy.wait_exit(), 0) << proxy.err_text();
}

TEST_F(Standalone, IsReadyOnceSomethingServes) {
  Backend backend("one");
  dir_.put("config/all.yaml", "kind: [broken\n");
  Process proxy(command({"--metrics-listen", "off", "--health-listen", "127.0.0.1:0", "--api-listen", "127.0.0.1:0",
                         "--otlp-listen", "off", "--traces-listen", "off", "--ephemeral-ports"}));
  const auto port_of = [&](const std::string& text) {
    const std::string line = proxy.wait_err(text).value_or(":0");
    return std::stoi(line.substr(line.rfind(':') + 1));
  };
  const int health = port_of("health on ");
  EXPECT_TRUE(proxy.wait_err(" error edge-standalone: of the files:")) << proxy.err_text();
  EXPECT_TRUE(proxy.wait_err("not ready: no listener")) << proxy.err_text();
  EXPECT_THAT(curl(health, "/readyz"), StartsWith("503 no listener"));
  dir_.put("config/all.yaml", base_config(backend.port) + "---\n" + route_config("a", "/a"));
  const int port = port_of("listener http on ");
  EXPECT_TRUE(proxy.wait_out("").value_or("").starts_with("ready program=")) << proxy.err_text();
  EXPECT_EQ(curl(port, "/a"), "200 one got GET /a");
  EXPECT_THAT(proxy.err_text(), HasSubstr(dir_ / "config/all.yaml is mended"));
}

TEST_F(Standalone, AFolderWithoutFilesIsAnErrorAtTheFirstStartAndLaterServesWhatItDid) {
  Backend backend("one");
  std::filesystem::create_directories(dir_ / "config");
  const Finished empty =
      run_command(command({"--api-listen", "127.0.0.1:0", "--metrics-listen", "off", "--health-listen", "off",
                           "--otlp-listen", "off", "--traces-listen", "off"}));
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err,
              HasSubstr("--config " + (dir_ / "config: there is no *.yaml, *.yml or *.json in it; put a file there")));
  dir_.put("config/all.yaml", base_config(backend.port) + "---\n" + route_config("a", "/a"));
  {
    ProxyProcess proxy(command());
    ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
    proxy.process.send_signal(SIGTERM);
    ASSERT_EQ(proxy.process.wait_exit(), 0);
  }
  std::filesystem::remove(dir_ / "config/all.yaml");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  EXPECT_THAT(proxy.process.err_text(), HasSubstr("config: there is no *.yaml"));
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
}

TEST_F(Standalone, AFileThatCannotBeReadKeepsNoOtherOut) {
  Backend backend("one");
  dir_.put("config/base.yaml", base_config(backend.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  // A link that leads to itself, which not even root can read.
  std::filesystem::create_symlink("a.yaml", dir_ / "config/.a.yaml");
  std::filesystem::rename(dir_ / "config/.a.yaml", dir_ / "config/a.yaml");
  EXPECT_TRUE(proxy.process.wait_err("cannot read " + dir_ / "config/a.yaml")) << proxy.process.err_text();
  dir_.put("config/b.yaml", route_config("b", "/b"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
  EXPECT_EQ(curl(proxy.port, "/b"), "200 one got GET /b");
  dir_.put("config/a.yaml", route_config("a", "/mended"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/mended"), "200 one got GET /mended");
}

TEST_F(Standalone, WhatAFileDeclaresComesBackWhenItIsDeleted) {
  Backend backend("one");
  dir_.put("config/base.yaml", base_config(backend.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  dir_.put("config/other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note, namespace: notes}\n");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  const auto edgectl = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"edgectl", "--kubeconfig", dir_ / "data/kubeconfig"});
    return run_command(words);
  };
  const Finished deleted = edgectl({"delete", "route", "a"});
  ASSERT_EQ(deleted.code, 0) << deleted.err;
  EXPECT_TRUE(proxy.process.wait_err("ProxyRoute default/a was deleted and is made again: " + dir_ / "config/a.yaml"))
      << proxy.process.err_text();
  EXPECT_EQ(edgectl({"get", "route", "a"}).code, 0);
  // With everything in it, and once it has ended.
  ASSERT_EQ(edgectl({"delete", "namespace", "notes"}).code, 0);
  EXPECT_TRUE(proxy.process.wait_err("ConfigMap notes/note was deleted and is made again")) << proxy.process.err_text();
  EXPECT_EQ(edgectl({"get", "configmap", "note", "-n", "notes"}).code, 0);
  // What leaves the files is deleted, and stays so.
  std::filesystem::remove(dir_ / "config/a.yaml");
  dir_.put("config/b.yaml", route_config("b", "/b"));
  ASSERT_NE(proxy.wait_programmed(), "") << proxy.process.err_text();
  while (curl(proxy.port, "/b") != "200 one got GET /b") ASSERT_NE(proxy.wait_programmed(), "");
  EXPECT_EQ(edgectl({"get", "route", "a"}).code, 1);
}

TEST_F(Standalone, FilesOfItsOwnThatAreBrokenAreSetAsideAndTheRestServes) {
  Backend backend("one");
  dir_.put("config/all.yaml", base_config(backend.port) + "---\n" + route_config("a", "/a"));
  {
    ProxyProcess proxy(command());
    ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
    ASSERT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
    proxy.process.send_signal(SIGTERM);
    ASSERT_EQ(proxy.process.wait_exit(), 0);
  }
  for (const char* file : {"data/files.json", "data/history/index.json", "data/agent/seal.key"}) dir_.put(file, "");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/a"), "200 one got GET /a");
  for (const char* file : {"files.json", "index.json", "seal.key"}) {
    EXPECT_THAT(proxy.process.err_text(), HasSubstr(std::string(file) + ".broken"));
  }
}

TEST_F(Standalone, WrongUsageIsToldBeforeAnythingStarts) {
  const auto code = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--api-listen", "127.0.0.1:0"});
    return run_command(command(more)).code;
  };
  dir_.put("config/all.yaml", base_config(1));
  EXPECT_EQ(code({"--threads", "many"}), 2);
  EXPECT_EQ(code({"--metrics-listen", "nowhere"}), 2);
  EXPECT_EQ(code({"--drain-timeout", "5"}), 2);
  EXPECT_EQ(code({"--buffer-dir", dir_ / "none"}), 1);
  EXPECT_EQ(code({"--api-listen", "nowhere"}), 2);
  const auto start = [&](const std::string& config, const std::string& data) {
    return run_command({"edge-standalone", "--config", dir_ / config, "--data-dir", dir_ / data, "--api-listen",
                        "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
                        "--otlp-listen", "off", "--traces-listen", "off"});
  };
  const Finished nowhere = start("none", "data");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--config " + (dir_ / "none") + ": no such file or directory"));
  const Finished no_directory = start("config", "config/all.yaml");
  EXPECT_EQ(no_directory.code, 1);
  EXPECT_THAT(no_directory.err, HasSubstr("--data-dir " + (dir_ / "config/all.yaml") + ": it is no directory"));
}

TEST_F(Standalone, SaysThatAnotherProcessHasTheDirectory) {
  dir_.put("config/all.yaml", base_config(1));
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  const Finished second =
      run_command(command({"--api-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--health-listen",
                           "127.0.0.1:0", "--otlp-listen", "off", "--traces-listen", "off"}));
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("another process serves from this directory; stop it, or name another --data-dir"));
}

}  // namespace
}  // namespace edge::test
