// edge-agent with artifacts of `edgectl compile`.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class AgentProcess : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_command({"edgectl", "key", "generate", "--out", dir_ / "key"}).code, 0);
    ASSERT_EQ(run_command({"edgectl", "key", "generate", "--out", dir_ / "other"}).code, 0);
  }

  void compile(const std::string& path, const std::string& key) {
    dir_.put("config.yaml", base_config(backend_.port) + "---\n" + route_config("a", path));
    std::vector<std::string> command = {"edgectl",
                                        "compile",
                                        "-f",
                                        dir_ / "config.yaml",
                                        "-o",
                                        dir_ / "p.edgeprog",
                                        "--endpoints-out",
                                        dir_ / "endpoints.json"};
    if (!key.empty()) command.insert(command.end(), {"--sign-key", dir_ / key});
    const Finished finished = run_command(command);
    ASSERT_EQ(finished.code, 0) << finished.err;
  }

  std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints",
                                      dir_ / "endpoints.json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TempDir dir_;
  Backend backend_{"one"};
};

TEST_F(AgentProcess, ServesSignedProgramsAndRefusesOthers) {
  compile("/a", "key");
  ProxyProcess agent(command({"--verify-key", dir_ / "key.pub"}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  EXPECT_EQ(curl(agent.port, "/a"), "200 one got GET /a");

  for (const char* key : {"", "other"}) {
    compile("/evil", key);
    EXPECT_TRUE(agent.process.wait_err("keeps the running program")) << key;
    EXPECT_EQ(curl(agent.port, "/a"), "200 one got GET /a");
    EXPECT_THAT(curl(agent.port, "/evil"), StartsWith("404 "));
  }
  dir_.put("p.edgeprog", "no program at all");
  EXPECT_TRUE(agent.process.wait_err("keeps the running program"));

  compile("/b", "key");
  EXPECT_NE(agent.wait_programmed(), "");
  EXPECT_EQ(curl(agent.port, "/b"), "200 one got GET /b");
  EXPECT_THAT(curl(agent.metrics_port, "/metrics"), HasSubstr("edge_program_installs_total 2\n"));
  agent.process.send_signal(SIGINT);
  EXPECT_EQ(agent.process.wait_exit(), 0) << agent.process.err_text();
}

/// A UDP socket of the test itself.
class DatagramSocket {
 public:
  DatagramSocket() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own = loopback(0);
    socklen_t size = sizeof own;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&own), size), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size), 0);
    port = ntohs(own.sin_port);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  ~DatagramSocket() { ::close(fd_); }
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  void send(const std::string& text, const sockaddr_in& to) {
    EXPECT_EQ(::sendto(fd_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(text.size()));
  }
  std::string receive(sockaddr_in& from) {
    char buffer[2048];
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(fd_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
    return got < 0 ? "nothing came" : std::string(buffer, static_cast<std::size_t>(got));
  }
  int port = 0;

 private:
  int fd_;
};

TEST_F(AgentProcess, CountsDatagrams) {
  DatagramSocket resolver;
  dir_.put("config.yaml", R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: edge}
spec: {listeners: [{name: dns, port: 53, protocol: UDP}, {name: http, port: 80, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: dns}
spec:
  parentRefs: [{name: edge, sectionName: dns}]
  rules: [{backendRef: {name: resolver}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: resolver}
spec:
  protocol: UDP
  endpoints: [{address: '127.0.0.1:)" +
                              std::to_string(resolver.port) + "'}]\n");
  const Finished compiled = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                         "--endpoints-out", dir_ / "endpoints.json"});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  ProxyProcess agent(command({"--allow-unsigned"}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  const std::string lines = agent.process.err_text();
  const std::size_t named = lines.find("listener dns on ");
  ASSERT_NE(named, std::string::npos) << lines;
  const std::string line = lines.substr(named, lines.find('\n', named) - named);
  DatagramSocket client;
  client.send("question", DatagramSocket::loopback(std::stoi(line.substr(line.rfind(':') + 1))));
  sockaddr_in from{};
  ASSERT_EQ(resolver.receive(from), "question");
  resolver.send("answer", from);
  ASSERT_EQ(client.receive(from), "answer");
  const std::string figures = curl(agent.metrics_port, "/metrics");
  for (const char* figure :
       {"edge_udp_sessions_total 1\n", "edge_udp_sessions_active 1\n", "edge_udp_sessions_evicted_total 0\n",
        "edge_udp_datagrams_total{direction=\"up\"} 1\n", "edge_udp_bytes_total{direction=\"up\"} 8\n",
        "edge_udp_bytes_total{direction=\"down\"} 6\n"}) {
    EXPECT_THAT(figures, HasSubstr(figure));
  }
  EXPECT_THAT(figures, HasSubstr("edge_udp_datagrams_dropped_total{"));
}

TEST_F(AgentProcess, TellsItsProgramToWhoIsOnThisMachine) {
  compile("/a", "key");
  ProxyProcess agent(command({"--verify-key", dir_ / "key.pub"}));
  ASSERT_NE(agent.wait_ready(), "") << agent.process.err_text();
  const std::string address = "127.0.0.1:" + std::to_string(agent.health_port);
  EXPECT_EQ(run_command({"edgectl", "diff", "http://" + address, dir_ / "config.yaml"}).out,
            "equal: no request is treated otherwise\n");
  const Finished explained = run_command({"edgectl", "explain", "--agent", address, "http://shop.example:8080/a"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("+ default/a rules[0].matches[0]: wins"));
  const int metrics = agent.metrics_port;
  const Finished refused =
      run_command({"edgectl", "diff", "http://127.0.0.1:" + std::to_string(metrics), dir_ / "config.yaml"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("answered 404"));
  const Finished gone = run_command({"edgectl", "explain", "--agent", "127.0.0.1:1", "http://shop.example:8080/a"});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, HasSubstr("Connection refused"));
}

TEST_F(AgentProcess, WillNotStartWithAProgramItCannotVerify) {
  compile("/a", "");
  const Finished unsigned_program =
      run_command(command({"--verify-key", dir_ / "key.pub", "--metrics-listen", "off", "--health-listen", "off"}));
  EXPECT_EQ(unsigned_program.code, 1);
  EXPECT_THAT(unsigned_program.err, HasSubstr("sign"));
  EXPECT_EQ(run_command(command({})).code, 2) << "a key or --allow-unsigned has to be chosen";
  ProxyProcess agent(command({"--allow-unsigned"}));
  EXPECT_NE(agent.wait_ready(), "");
}

}  // namespace
}  // namespace edge::test
