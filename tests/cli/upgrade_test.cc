// A process takes over from another while clients go on asking: not one request fails.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"
#include "tests/support/connection.h"

namespace edge::test {
namespace {

using ::testing::HasSubstr;

/// Asks on and on until it is told to stop. A request that gets no answer counts as failed; so does a connection that
/// is refused or reset.
class Load {
 public:
  enum class Kind { kConnectionEach, kKeepAlive };

  Load(int port, Kind kind, std::string path = "/a")
      : port_(port), kind_(kind), path_(std::move(path)), thread_([this] { run(); }) {}
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void stop() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int answered() const { return answered_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  std::string request() const {
    return "GET " + path_ + " HTTP/1.1\r\nHost: shop.example\r\n" +
           (kind_ == Kind::kConnectionEach ? "Connection: close\r\n\r\n" : "\r\n");
  }

  void run() {
    while (!ending_ && failures_.size() < 10) {
      if (Status asked = connection(); !asked) failures_.push_back(asked.error().text);
    }
  }

  /// One connection, until it may not be used again.
  Status connection() {
    const auto fd = test::Connection::dial(static_cast<std::uint16_t>(port_));
    if (!fd) return fd.error();
    test::Connection connection(*fd, {std::chrono::steady_clock::now() + std::chrono::seconds(120), nullptr});
    for (int served = 0;; ++served) {
      if (Status sent = connection.send(request()); !sent) return served == 0 ? sent : Status();
      const auto head = connection.receive_head();
      // An idle connection may end just as it is used again, and the request with it (RFC 9112 §9.3.1): it goes to the
      // next connection, which may not.
      if (!head) return served == 0 ? Status(head.error()) : Status();
      if (!head->start_line.starts_with("HTTP/1.1 200")) return Error{ErrorCode::kAborted, head->start_line};
      const auto body = connection.receive_body(*head);
      if (!body) return body.error();
      ++answered_;
      if (ending_ || head->values("Connection") == std::vector<std::string>{"close"}) return {};
    }
  }

  int port_;
  Kind kind_;
  std::string path_;
  std::atomic<bool> ending_ = false;
  std::atomic<int> answered_ = 0;
  std::vector<std::string> failures_;
  std::thread thread_;
};

class Upgrade : public testing::Test {
 protected:
  void SetUp() override {
    dir_.put("config.yaml", base_config(backend_.port) + "---\n" + route_config("a", "/a"));
    const Finished finished = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                           "--endpoints-out", dir_ / "endpoints.json"});
    ASSERT_EQ(finished.code, 0) << finished.err;
  }

  std::unique_ptr<ProxyProcess> agent(const std::string& socket = "upgrade.sock", int health_port = 0) {
    return std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints", dir_ / "endpoints.json",
                                 "--allow-unsigned", "--upgrade-socket", dir_ / socket, "--drain-timeout", "20s",
                                 "--health-listen", "127.0.0.1:" + std::to_string(health_port)});
  }
  // Without traces: a process that takes over opens them after its other ports, and wait_ready reads lines in their
  // order.
  std::unique_ptr<ProxyProcess> standalone(const std::string& data) {
    return std::make_unique<ProxyProcess>(std::vector<std::string>{
        "edge-standalone", "--config", dir_ / "config.yaml", "--data-dir", dir_ / data, "--upgrade-socket",
        dir_ / "upgrade.sock", "--otlp-listen", "off", "--traces-listen", "off"});
  }

  TempDir dir_;
  Backend backend_{"one"};
};

TEST_F(Upgrade, LosesNoRequest) {
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  const int port = running->port;
  std::vector<std::unique_ptr<Load>> loads;
  for (int i = 0; i < 2; ++i) {
    loads.push_back(std::make_unique<Load>(port, Load::Kind::kConnectionEach));
    loads.push_back(std::make_unique<Load>(port, Load::Kind::kKeepAlive));
  }
  for (int i = 0; i < 4; ++i) {
    auto next = agent();
    ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
    EXPECT_EQ(next->port, port);
    EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
    EXPECT_THAT(running->process.err_text(), HasSubstr("another process has taken over"));
    running = std::move(next);
    EXPECT_EQ(curl(running->port, "/a"), "200 one got GET /a");
  }
  for (const auto& load : loads) {
    load->stop();
    EXPECT_THAT(load->failures(), testing::IsEmpty());
    EXPECT_GT(load->answered(), 10);
  }
}

TEST_F(Upgrade, TheHealthPortAnswersAllTheTime) {
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  const int port = running->health_port;
  Load load(port, Load::Kind::kConnectionEach, "/readyz");
  for (int i = 0; i < 3; ++i) {
    auto next = agent("upgrade.sock", port);
    ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
    EXPECT_EQ(next->health_port, port);
    EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
    running = std::move(next);
  }
  load.stop();
  EXPECT_THAT(load.failures(), testing::IsEmpty());
  EXPECT_GT(load.answered(), 10);
}

TEST_F(Upgrade, StandaloneTakesOverFromStandalone) {
  auto running = standalone("one");
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  Load load(running->port, Load::Kind::kConnectionEach);
  auto next = standalone("two");
  ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
  EXPECT_EQ(next->port, running->port);
  EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
  load.stop();
  EXPECT_THAT(load.failures(), testing::IsEmpty());
}

TEST_F(Upgrade, StandaloneTakesOverWithTheDirectoryOfTheOther) {
  auto running = standalone("data");
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  const int port = running->port;
  std::vector<std::unique_ptr<Load>> loads;
  loads.push_back(std::make_unique<Load>(port, Load::Kind::kConnectionEach));
  loads.push_back(std::make_unique<Load>(port, Load::Kind::kKeepAlive));
  for (int i = 0; i < 3; ++i) {
    auto next = standalone("data");
    ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
    EXPECT_EQ(next->port, port);
    EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
    running = std::move(next);
    // It has the store, and follows the files.
    const std::string path = "/of-" + std::to_string(i);
    dir_.put("config.yaml",
             base_config(backend_.port) + "---\n" + route_config("a", "/a") + "---\n" + route_config("b", path));
    ASSERT_NE(running->wait_programmed(), "") << running->process.err_text();
    EXPECT_EQ(curl(port, path), "200 one got GET " + path);
    const Finished listed =
        run_command({"edgectl", "--kubeconfig", dir_ / "data/kubeconfig", "get", "routes", "-A", "-o", "name"});
    EXPECT_THAT(listed.out, HasSubstr("/b")) << listed.err;
  }
  for (const auto& load : loads) {
    load->stop();
    EXPECT_THAT(load->failures(), testing::IsEmpty());
    EXPECT_GT(load->answered(), 10);
  }
}

TEST_F(Upgrade, AStandaloneThatCannotTakeOverChangesNothing) {
  auto running = standalone("data");
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  const std::vector<std::string> command = {"edge-standalone", "--config",         dir_ / "none",        "--data-dir",
                                            dir_ / "data",     "--upgrade-socket", dir_ / "upgrade.sock"};
  ProxyProcess without_files(command);
  EXPECT_EQ(without_files.process.wait_exit(), 1);
  EXPECT_THAT(without_files.process.err_text(), HasSubstr((dir_ / "none") + ": No such file or directory"));
  std::filesystem::rename(dir_ / "data/agent", dir_ / "data/away");
  auto without_program = standalone("data");
  EXPECT_EQ(without_program->process.wait_exit(), 1);
  EXPECT_THAT(without_program->process.err_text(), HasSubstr("has no program that this version can serve"));
  EXPECT_EQ(curl(running->port, "/a"), "200 one got GET /a");
  EXPECT_EQ(curl(running->health_port, "/readyz").substr(0, 9), "200 ready");
}

TEST_F(Upgrade, WhatIsInFlightEndsWithTheOldProcess) {
  const ListeningSocket slow;
  dir_.put("config.yaml", base_config(slow.port) + "---\n" + route_config("a", "/a"));
  ASSERT_EQ(run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog", "--endpoints-out",
                         dir_ / "endpoints.json"})
                .code,
            0);
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "");
  const test::Deadline deadline{std::chrono::steady_clock::now() + std::chrono::seconds(120), nullptr};
  test::Connection client(*test::Connection::dial(static_cast<std::uint16_t>(running->port)), deadline);
  ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n").ok());
  test::Connection backend(slow.accept_one(), deadline);
  ASSERT_TRUE(backend.receive_until("\r\n\r\n").ok());
  ASSERT_TRUE(backend.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n").ok());
  ASSERT_TRUE(client.receive_until("one\r\n").ok());

  auto next = agent();
  ASSERT_NE(next->wait_ready(), "");
  ASSERT_TRUE(running->process.wait_err("draining"));
  ASSERT_TRUE(backend.send("3\r\ntwo\r\n0\r\n\r\n").ok());
  const auto rest = client.receive_until("0\r\n\r\n");
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(*rest, HasSubstr("two"));
  EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
}

TEST_F(Upgrade, ASuccessorOfOneThatDrainsDoesNotCutItShort) {
  const ListeningSocket slow;
  dir_.put("config.yaml", base_config(slow.port) + "---\n" + route_config("a", "/a"));
  ASSERT_EQ(run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog", "--endpoints-out",
                         dir_ / "endpoints.json"})
                .code,
            0);
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "");
  const test::Deadline deadline{std::chrono::steady_clock::now() + std::chrono::seconds(120), nullptr};
  test::Connection client(*test::Connection::dial(static_cast<std::uint16_t>(running->port)), deadline);
  ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n").ok());
  test::Connection backend(slow.accept_one(), deadline);
  ASSERT_TRUE(backend.receive_until("\r\n\r\n").ok());
  running->process.send_signal(SIGTERM);
  ASSERT_TRUE(running->process.wait_err("draining"));

  auto next = agent();
  ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
  ASSERT_TRUE(running->process.wait_err("another process has taken over"));
  ASSERT_TRUE(backend.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none").ok());
  EXPECT_TRUE(client.receive_until("one").ok());
  EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
}

/// A socket for datagrams, on a port of its own.
class Datagrams {
 public:
  Datagrams() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own = loopback(0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    const timeval patience{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Datagrams() { ::close(fd_); }
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;

  int port() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
  }
  void send(int to, const std::string& text) const {
    const sockaddr_in peer = loopback(to);
    ::sendto(fd_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&peer), sizeof peer);
  }
  /// The text of the next one, and the port that it came from.
  std::pair<std::string, int> receive() const {
    char text[64];
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const ssize_t got = ::recvfrom(fd_, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&peer), &size);
    return {std::string(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))), ntohs(peer.sin_port)};
  }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }

  int fd_;
};

TEST_F(Upgrade, AFlowOfDatagramsKeepsItsSocketToTheEndpoint) {
  const Datagrams endpoint;
  const Datagrams client;
  dir_.put("config.yaml", base_config(backend_.port) + "---\n" + route_config("a", "/a") +
                              "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\n"
                              "metadata: {name: datagrams, namespace: demo}\n"
                              "spec: {listeners: [{name: names, port: 5300, protocol: UDP}]}\n"
                              "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\n"
                              "metadata: {name: names, namespace: demo}\n"
                              "spec: {parentRefs: [{name: datagrams}], rules: [{backendRef: {name: names}}]}\n"
                              "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
                              "metadata: {name: names, namespace: demo}\n"
                              "spec: {protocol: UDP, endpoints: [{address: '127.0.0.1:" +
                              std::to_string(endpoint.port()) + "'}]}\n");
  const Finished finished = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                         "--endpoints-out", dir_ / "endpoints.json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "") << running->process.err_text();
  const std::string told = running->process.err_text();
  const std::size_t line = told.find("listener names on ");
  ASSERT_NE(line, std::string::npos) << told;
  const int port = std::atoi(told.c_str() + told.rfind(':', told.find('\n', line)) + 1);
  client.send(port, "1");
  const auto [first, proxy] = endpoint.receive();
  EXPECT_EQ(first, "1");
  for (int i = 0; i < 2; ++i) {
    auto next = agent();
    ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
    EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
    running = std::move(next);
    // What the endpoint says meanwhile reaches the client, too.
    endpoint.send(proxy, "late");
    EXPECT_EQ(client.receive(), std::pair(std::string("late"), port));
    client.send(port, "more");
    EXPECT_EQ(endpoint.receive(), std::pair(std::string("more"), proxy));
  }
}

TEST_F(Upgrade, ASuccessorThatIsKilledAsItServesGivesEverythingBack) {
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "");
  const int port = running->health_port;
  Load load(running->port, Load::Kind::kConnectionEach);
  Load health(port, Load::Kind::kConnectionEach, "/readyz");
  {
    auto next = agent("upgrade.sock", port);
    ASSERT_TRUE(running->process.wait_err("another process has taken over"));
    next->process.send_signal(SIGKILL);
    EXPECT_EQ(next->process.wait_exit(), 128 + SIGKILL);
  }
  ASSERT_TRUE(running->process.wait_err("this one keeps serving")) << running->process.err_text();
  EXPECT_EQ(curl(running->port, "/a"), "200 one got GET /a");
  EXPECT_THAT(curl(port, "/readyz"), HasSubstr("200 ready"));
  // Nor is the next one held up.
  auto next = agent("upgrade.sock", port);
  ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
  EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
  EXPECT_EQ(curl(next->port, "/a"), "200 one got GET /a");
}

TEST_F(Upgrade, ASuccessorThatFailsChangesNothing) {
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "");
  const std::string program = dir_.get("p.edgeprog");
  dir_.put("p.edgeprog", "no program");
  EXPECT_EQ(agent()->process.wait_exit(), 1);
  EXPECT_EQ(curl(running->port, "/a"), "200 one got GET /a");
  dir_.put("p.edgeprog", program);
  auto next = agent();
  ASSERT_NE(next->wait_ready(), "") << next->process.err_text();
  EXPECT_EQ(next->port, running->port);
  EXPECT_EQ(running->process.wait_exit(), 0) << running->process.err_text();
}

TEST_F(Upgrade, TheSocketIsThisUsersAlone) {
  auto running = agent();
  ASSERT_NE(running->wait_ready(), "");
  struct stat there{};
  ASSERT_EQ(::lstat((dir_ / "upgrade.sock").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0600U);
  // A socket that a process left behind when it was killed is no obstacle; a file of somebody's is left alone.
  running->process.send_signal(SIGKILL);
  EXPECT_EQ(running->process.wait_exit(), 128 + SIGKILL) << running->process.err_text();
  auto next = agent();
  EXPECT_NE(next->wait_ready(), "");
  dir_.put("file", "precious");
  auto other = agent("file");
  EXPECT_TRUE(other->process.wait_err("is not a socket") || other->process.wait_err("upgrade socket"));
  EXPECT_EQ(dir_.get("file"), "precious");
}

}  // namespace
}  // namespace edge::test
