// The cache of a running agent as an operator sees it: edgectl, the health port, metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

/// Answers each request with a number that counts them, good for a minute.
constexpr const char* kCountingBackend = R"(
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0
    def do_GET(self):
        Handler.count += 1
        body = b"%d" % Handler.count
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=60")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
)";

class CacheProcess : public testing::Test {
 protected:
  void SetUp() override {
    const auto line = backend_.wait_out("port ");
    ASSERT_TRUE(line);
    std::string config = base_config(std::stoi(line->substr(line->find(' ') + 1)));
    const std::string spec = "spec: {listeners";
    ASSERT_NE(config.find(spec), std::string::npos) << config;
    config.replace(config.find(spec), spec.size(), "spec: {cache: {enabled: true}, listeners");
    std::filesystem::create_directory(dir_.path() / "config");
    dir_.put("config/all.yaml", config + "---\n" + route_config("a", "/a") + "---\n" + route_config("b", "/b"));
    agent_ = std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"});
    ASSERT_NE(agent_->wait_ready(), "") << agent_->process.err_text();
  }

  Finished edgectl(std::vector<std::string> words) {
    words.insert(words.begin(), "edgectl");
    words.insert(words.end(), {"--agent", "127.0.0.1:" + std::to_string(agent_->health_port)});
    return run_command(words);
  }

  TempDir dir_;
  Process backend_{{"python3", "-c", kCountingBackend}};
  std::unique_ptr<ProxyProcess> agent_;
};

TEST_F(CacheProcess, IsPurgedByNameRouteAndAll) {
  EXPECT_EQ(curl(agent_->port, "/a"), "200 1");
  EXPECT_EQ(curl(agent_->port, "/a"), "200 1");
  EXPECT_EQ(curl(agent_->port, "/b"), "200 2");
  EXPECT_EQ(edgectl({"cache", "purge", "--route", "a"}).out, "purged 1\n");
  EXPECT_EQ(curl(agent_->port, "/a"), "200 3");
  EXPECT_EQ(curl(agent_->port, "/b"), "200 2");
  EXPECT_EQ(edgectl({"cache", "purge", "--hostname", "other.example"}).out, "purged 0\n");
  EXPECT_EQ(edgectl({"cache", "purge", "--hostname", "*.example"}).out, "purged 2\n");
  EXPECT_EQ(curl(agent_->port, "/b"), "200 4");
  EXPECT_EQ(edgectl({"cache", "purge", "--all"}).out, "purged 1\n");

  const Finished stats = edgectl({"cache", "stats"});
  EXPECT_EQ(stats.code, 0);
  EXPECT_THAT(stats.out, HasSubstr("entries       0\n"));
  EXPECT_THAT(stats.out, HasSubstr("hits          2\n"));
  EXPECT_THAT(stats.out, HasSubstr("misses        4\n"));
  EXPECT_THAT(edgectl({"cache", "stats", "-o", "json"}).out, HasSubstr("\"stored\": 4"));
  EXPECT_THAT(curl(agent_->metrics_port, "/metrics"), HasSubstr("edge_cache_hits_total 2\n"));
}

TEST_F(CacheProcess, RefusesWhatIsNoPurge) {
  EXPECT_EQ(edgectl({"cache", "purge"}).code, 2);
  EXPECT_EQ(edgectl({"cache", "purge", "--all", "--route", "a"}).code, 2);
  EXPECT_EQ(edgectl({"cache", "purge", "--hostname", "a b"}).code, 2);
  EXPECT_EQ(edgectl({"cache", "purge", "--route", "a b"}).code, 2);
  EXPECT_EQ(run_command({"edgectl", "cache", "stats", "--agent", "127.0.0.1:1"}).code, 3);
  const auto post = [&](const std::string& target, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"-X", "POST"};
    words.insert(words.end(), more.begin(), more.end());
    return curl(agent_->health_port, target, words).substr(0, 3);
  };
  EXPECT_EQ(post("/debug/cache/purge?all"), "401") << "whoever is on this machine may look, and not change";
  const std::string own = admin_authorization(agent_->health_port);
  EXPECT_EQ(post("/debug/cache/purge", {"-H", own}), "400");
  EXPECT_EQ(post("/debug/cache/purge?hostname=", {"-H", own}), "400");
  EXPECT_EQ(post("/debug/cache/purge?all", {"-H", own}), "200");
  EXPECT_EQ(post("/debug/cache/purge?all", {"-H", own + "x"}), "401");
  EXPECT_EQ(post("/debug/cache/purge?all", {"-H", "Origin: http://evil.example"}), "403");
  EXPECT_EQ(post("/debug/cache/purge?all", {"-H", "Host: evil.example"}), "403");
  EXPECT_EQ(post("/healthz"), "405");
  EXPECT_EQ(curl(agent_->health_port, "/debug/cache/purge?all").substr(0, 3), "405");
}

}  // namespace
}  // namespace edge::test
