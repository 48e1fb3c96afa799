// Whoever looks on must hold no traffic: an edge-agent whose collector says nothing, whose log's disk is full, whose
// /metrics has 5,000 routes to tell of and readers that do not read. How long requests take then is measured by
// `script/bench stalls`; here is that they are answered, that what was lost is counted, and that memory has a bound.
#include <sys/mount.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"
#include "tests/support/connection.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kPatience = std::chrono::seconds(300);
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr bool kMemoryMeansSomething = false;
#else
constexpr bool kMemoryMeansSomething = true;
#endif

/// Resident, in MiB.
double resident(const Process& process) {
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

/// Of all samples whose name and labels begin so, the sum.
double sum_of(const std::string& exposition, const std::string& beginning) {
  double sum = 0;
  std::istringstream lines(exposition);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) sum += std::atof(line.c_str() + line.rfind(' '));
  }
  return sum;
}

std::size_t samples_of(const std::string& exposition) {
  std::istringstream lines(exposition);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with('#') ? 0 : 1;
  return count;
}

/// A client on one connection that it keeps.
class Client {
 public:
  explicit Client(int port) : connection_(*test::Connection::dial(static_cast<std::uint16_t>(port)), deadline()) {}

  /// The status of the answer, whose body is read; else what went wrong.
  std::string ask(const std::string& path) {
    const Status sent = connection_.send("GET " + path + " HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    if (!sent) return sent.error().text;
    const Result<test::Message> head = connection_.receive_head();
    if (!head) return head.error().text;
    const Result<std::string> body = connection_.receive_body(*head);
    return body ? head->start_line.substr(9, 3) : body.error().text;
  }

 private:
  static test::Deadline deadline() { return {std::chrono::steady_clock::now() + kPatience, nullptr}; }
  test::Connection connection_;
};

class Observers : public testing::Test {
 protected:
  void SetUp() override { upstream_.start({}); }
  void TearDown() override {
    agent_.reset();
    stage_.abort();
    upstream_.join();
  }

  /// `settings`: of the gateway. Routes `rN` on `/rN`.
  void compile(const std::string& settings, int routes) {
    std::string config = base_config(upstream_.port());
    config.insert(config.find("listeners:"), settings);
    for (int i = 0; i < routes; ++i) {
      const std::string name = "r" + std::to_string(i);
      config.append("---\n").append(route_config(name, "/" + name));
    }
    dir_.put("config.yaml", config);
    const Finished compiled = run_command({"edgectl", "compile", "-f", dir_ / "config.yaml", "-o", dir_ / "p.edgeprog",
                                           "--endpoints-out", dir_ / "endpoints.json"});
    ASSERT_EQ(compiled.code, 0) << compiled.err;
  }
  void start(const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints", dir_ / "endpoints.json", "--allow-unsigned"};
    words.insert(words.end(), more.begin(), more.end());
    agent_ = std::make_unique<ProxyProcess>(words);
    ASSERT_NE(agent_->wait_ready(), "") << agent_->process.err_text();
  }
  /// The text; empty when it is refused.
  std::string scrape(const std::vector<std::string>& more = {}) const {
    const std::string answer = curl(agent_->metrics_port, "/metrics", more);
    return answer.starts_with("200 ") ? answer.substr(4) : "";
  }

  TempDir dir_;
  test::Stage stage_{std::chrono::duration_cast<std::chrono::seconds>(kPatience)};
  test::Upstream upstream_{stage_, "up", test::Upstream::Kind::kServe};
  std::unique_ptr<ProxyProcess> agent_;
};

class ManyRoutes : public Observers {
 protected:
  /// Under a sanitizer a text of 5,000 takes seconds.
  static constexpr int kRoutes = kMemoryMeansSomething ? 5000 : 1000;
  void SetUp() override {
    Observers::SetUp();
    compile("", kRoutes);
  }
  /// Every route is asked once.
  void ask_all() {
    Client client(agent_->port);
    for (int i = 0; i < kRoutes; ++i) ASSERT_EQ(client.ask("/r" + std::to_string(i)), "200") << i;
  }
};

TEST_F(ManyRoutes, StayUnderTheLimitOfSeriesAndOfMemory) {
  start({"--access-log", "off"});
  ask_all();
  const std::string text = scrape();
  EXPECT_LT(samples_of(text), 60'000U);
  EXPECT_EQ(sum_of(text, "edge_metrics_series "), static_cast<double>(samples_of(text)));
  EXPECT_EQ(sum_of(text, "edge_requests_total{gateway=\"default/gw\",route=\"default/r"), kRoutes);
  EXPECT_EQ(sum_of(text, "edge_request_duration_seconds_count{gateway=\"default/gw\""), kRoutes);
  EXPECT_EQ(sum_of(text, "edge_metrics_folded_requests_total "), 0);
  for (int i = 0; i < 10; ++i) {
    const char* const coding = i % 2 == 0 ? "Accept-Encoding: gzip" : "Accept-Encoding: identity";
    EXPECT_THAT(curl(agent_->metrics_port, "/metrics", {"-H", coding, "--output", "/dev/null"}), HasSubstr("200"));
  }
  if (kMemoryMeansSomething) {
    EXPECT_LT(resident(agent_->process), 60);
  }
}

// What finds no room is counted together, and nothing is lost of the totals.
TEST_F(ManyRoutes, AreFoldedOverASmallerLimit) {
  start({"--access-log", "off", "--metrics-max-series", "1000"});
  ask_all();
  const std::string text = scrape();
  EXPECT_LT(samples_of(text), 1100U);
  EXPECT_EQ(sum_of(text, "edge_requests_total{"), kRoutes);
  EXPECT_GT(sum_of(text, "edge_requests_total{gateway=\"\",route=\"other\""), kRoutes * 2 / 5);
  EXPECT_EQ(sum_of(text, "edge_metrics_folded_requests_total "),
            sum_of(text, "edge_requests_total{gateway=\"\",route=\"other\""));
}

// Readers that never read hold the connections that one address may have, and nothing else: the port answers others,
// health is told, traffic goes on.
TEST_F(ManyRoutes, ReadersThatDoNotReadHoldNobody) {
  start({"--access-log", "off", "--metrics-listen", "0.0.0.0:0"});
  ask_all();
  std::vector<std::unique_ptr<test::Connection>> held;
  for (int i = 0; i < 40; ++i) {
    const Result<int> fd = test::Connection::dial(static_cast<std::uint16_t>(agent_->metrics_port));
    ASSERT_TRUE(fd);
    held.push_back(
        std::make_unique<test::Connection>(*fd, test::Deadline{std::chrono::steady_clock::now() + kPatience}));
    // One over the limit may be closed before it has spoken.
    static_cast<void>(held.back()->send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  EXPECT_THAT(curl(agent_->health_port, "/healthz"), StartsWith("200 "));
  EXPECT_THAT(curl(agent_->metrics_port, "/metrics", {"--interface", "127.0.0.9", "--output", "/dev/null"}),
              testing::AnyOf(HasSubstr("200"), HasSubstr("429")));
  EXPECT_EQ(Client(agent_->port).ask("/r0"), "200");
  if (kMemoryMeansSomething) {
    EXPECT_LT(resident(agent_->process), 100);
  }
}

// It takes connections, and says nothing.
TEST_F(Observers, ASilentCollectorCostsSpansAlone) {
  compile("tracing: {enabled: true}, ", 1);
  const ListeningSocket collector;
  start({"--access-log", "off", "--otlp-endpoint", "http://127.0.0.1:" + std::to_string(collector.port)});
  Client client(agent_->port);
  const double before = resident(agent_->process);
  const std::string path = "/r0?" + std::string(400, 'x');
  double dropped = 0;
  for (int i = 0; i < 100'000 && dropped == 0; ++i) {
    ASSERT_EQ(client.ask(path), "200") << i;
    if (i % 1000 == 999) dropped = sum_of(scrape(), "edge_spans_dropped_total{reason=\"full\"}");
  }
  EXPECT_GT(dropped, 0);
  const std::string text = scrape();
  EXPECT_EQ(sum_of(text, "edge_spans_exported_total "), 0);
  EXPECT_GE(sum_of(text, "edge_spans_sampled_total "), sum_of(text, "edge_spans_dropped_total"));
  EXPECT_EQ(sum_of(text, "edge_responses_total{class=\"5xx\"}"), 0);
  // Twice the buffer of its one thread that serves, and what a first scrape takes.
  if (kMemoryMeansSomething) {
    EXPECT_LT(resident(agent_->process) - before, 20);
  }
}

/// A file system of a megabyte, where that is allowed.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted = ::mount("edge-test", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void fill() const {
    std::ofstream others(path_ + "/others", std::ios::binary);
    const std::string block(4096, 'x');
    while (others.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void free() const { std::filesystem::remove(path_ + "/others"); }

  bool mounted = false;

 private:
  std::string path_;
};

TEST_F(Observers, AFullDiskCostsLinesUntilThereIsRoom) {
  const SmallDisk disk(dir_ / "disk");
  if (!disk.mounted) GTEST_SKIP() << "mounting a small disk takes root";
  compile("accessLog: {enabled: true, format: '%{status} %{target} end'}, ", 1);
  start({"--access-log", dir_ / "disk/log"});
  Client client(agent_->port);
  disk.fill();
  double lost = 0;
  for (int i = 0; i < 100'000 && lost == 0; ++i) {
    ASSERT_EQ(client.ask("/r0?lost"), "200") << i;
    if (i % 100 == 99) lost = sum_of(scrape(), "edge_access_log_dropped_total{reason=\"output\"}");
  }
  EXPECT_GT(lost, 0);
  EXPECT_TRUE(agent_->process.wait_err("loses lines: No space left on device"));

  disk.free();
  const std::string wanted = "200 /r0?there end\n";
  for (int i = 0; i < 100'000 && content(dir_ / "disk/log").find(wanted) == std::string::npos; ++i) {
    ASSERT_EQ(client.ask("/r0?there"), "200") << i;
  }
  // Whole lines alone, but for one whose rest the disk did not take.
  std::istringstream lines(content(dir_ / "disk/log"));
  int torn = 0;
  for (std::string line; std::getline(lines, line);)
    torn += line == "200 /r0?lost end" || line == "200 /r0?there end" ? 0 : 1;
  EXPECT_LE(torn, 1);
  EXPECT_GT(sum_of(scrape(), "edge_access_log_lines_total "), 0);
}

}  // namespace
}  // namespace edge::test
