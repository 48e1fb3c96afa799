// The operator behind a path that breaks each n-th call: half of them before the API has heard of it, half after.
#include <sys/socket.h>

#include <atomic>

#include <poll.h>

#include "tests/kube/bench.h"
#include "tests/operator/small_cluster.h"

namespace edge::test {
namespace {

class BrokenPath : public SmallCluster {
 protected:
  /// One request on a connection of its own.
  void pass_on(Exchange& exchange, bool lose_answer) {
    Result<net::Fd> upstream = server_->dial();
    if (!upstream) return exchange.cut();
    std::string request = exchange.method + " " + exchange.target + " HTTP/1.1\r\nHost: api\r\nConnection: close\r\n" +
                          "Authorization: Bearer " + server_->own_token() + "\r\n";
    for (const char* name : {"Content-Type", "Accept"}) {
      for (const std::string& spelling : {std::string(name), lower(name)}) {
        if (const std::string value = exchange.field(spelling); !value.empty()) {
          request += std::string(name) + ": " + value + "\r\n";
          break;
        }
      }
    }
    request += "Content-Length: " + std::to_string(exchange.body.size()) + "\r\n\r\n" + exchange.body;
    if (!send_all(upstream->get(), request)) return exchange.cut();
    char bytes[16384];
    while (!stopping_) {
      pollfd ready{.fd = upstream->get(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 50) == 0) continue;
      const ssize_t count = ::recv(upstream->get(), bytes, sizeof(bytes), 0);
      if (count <= 0 || lose_answer || !exchange.send({bytes, static_cast<std::size_t>(count)})) break;
    }
    exchange.cut();
  }

  std::atomic<bool> stopping_ = false;

 private:
  static std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
  static bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) {
        pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
        if (count == 0 || errno != EAGAIN || ::poll(&ready, 1, 5000) <= 0) return false;
        continue;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
};

class BrokenCalls : public BrokenPath, public testing::WithParamInterface<int> {};

TEST_P(BrokenCalls, AreMadeGoodInTheEnd) {
  std::atomic<int> calls = 0;
  FakeApi path([&](Exchange& exchange) {
    const int number = ++calls;
    const bool broken = number % GetParam() == 0;
    if (broken && (number / GetParam()) % 2 == 0) return exchange.refuse(500, "InternalError");
    pass_on(exchange, broken);
  });
  auto running = start(config_of(path.url()));
  create_cluster(spec());
  EXPECT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  EXPECT_TRUE(eventually([&] { return runs() && get("EdgeCluster", "main")["status"]["version"] == "0.2.0"; }))
      << get("EdgeCluster", "main").dump(1) << log_.text();
  for (const json& pod : all("Pod")) {
    EXPECT_EQ(pod["spec"]["containers"][0]["image"], "registry.example.com/edge/edge-agent:0.2.0");
  }
  stopping_ = true;
  running.reset();
  path.cut_all();
}

class KilledOperator : public BrokenPath {};

/// Every life ends with the first call that changes something: the API has done it, and the operator never hears.
TEST_F(KilledOperator, GoesOnWhereItWas) {
  std::atomic<bool> killed = false;
  FakeApi path([&](Exchange& exchange) {
    if (killed) return exchange.cut();
    const bool changes = exchange.method != "GET";
    pass_on(exchange, changes);
    if (changes) killed = true;
  });
  auto running = start(config_of(path.url()));
  int lives = 1;
  const auto run = [&](const std::string& version) {
    return eventually([&] {
      if (killed) {
        running.reset();
        killed = false;
        ++lives;
        running = start(config_of(path.url()));
      }
      return runs() && get("EdgeCluster", "main")["status"]["version"] == version;
    });
  };
  create_cluster(spec());
  EXPECT_TRUE(run("0.1.0")) << get("EdgeCluster", "main").dump(1) << log_.text();
  // A life may end with a second call that was on its way.
  EXPECT_GE(lives, 10);
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  EXPECT_TRUE(run("0.2.0")) << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_GE(lives, 15);
  EXPECT_EQ(made_pods_, 6);
  for (const json& pod : all("Pod")) {
    EXPECT_EQ(pod["spec"]["containers"][0]["image"], "registry.example.com/edge/edge-agent:0.2.0");
  }
  stopping_ = true;
  running.reset();
  path.cut_all();
}

INSTANTIATE_TEST_SUITE_P(EachNth, BrokenCalls, testing::Values(3, 4, 7));

}  // namespace
}  // namespace edge::test
