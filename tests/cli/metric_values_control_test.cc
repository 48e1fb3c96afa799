// Each family of the control plane and of the cache, with the number that it has after something was made to happen.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/scraped.h"

namespace edge::test {
namespace {

/// Says how long each of its answers holds by their path; `/slow` waits until somebody asks for `/go`.
constexpr const char* kOrigin = R"(
import http.server, threading
go = threading.Event()
fields = {"/fresh": "max-age=60", "/swr": "max-age=0, stale-while-revalidate=600", "/etag": "no-cache",
          "/slow": "max-age=60", "/torn": "max-age=60"}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/go": go.set()
        if self.path == "/slow":
            print("waits", flush=True)
            go.wait()
        if self.path == "/etag" and self.headers.get("If-None-Match"):
            self.send_response(304)
            self.send_header("ETag", '"v1"')
            self.end_headers()
            return
        body = b"x" * (100000 if self.path.startswith("/large") else 10)
        self.send_response(200)
        self.send_header("Cache-Control", fields.get(self.path, "max-age=60"))
        if self.path == "/etag": self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(len(body) + (5 if self.path == "/torn" else 0)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.path == "/torn"
    do_GET = do_POST = answer
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("port", server.server_port, flush=True)
server.serve_forever()
)";

class CacheValues : public testing::Test {
 protected:
  void SetUp() override {
    const auto line = origin_.wait_out("port ");
    ASSERT_TRUE(line);
    std::string config = base_config(std::stoi(line->substr(line->find(' ') + 1)));
    const std::string spec = "spec: {listeners";
    config.replace(config.find(spec), spec.size(), "spec: {cache: {enabled: true, maxSize: \"1Mi\"}, listeners");
    std::string route = route_config("all", "/");
    route.replace(route.find("type: Exact"), 11, "type: PathPrefix");
    dir_.put("config.yaml", config + "---\n" + route);
    proxy_ = std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-standalone", "--config", dir_ / "config.yaml", "--data-dir", dir_ / "data"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  Scraped scrape() const { return settled(proxy_->metrics_port); }
  std::string comes_to(const std::string& series, const std::string& wanted) const {
    return test::comes_to(proxy_->metrics_port, series, wanted);
  }
  std::string get(const std::string& path, const std::vector<std::string>& more = {}) const {
    return curl(proxy_->port, path, more).substr(0, 3);
  }

  TempDir dir_;
  Process origin_{{"python3", "-c", kOrigin}};
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(CacheValues, HitsAndMisses) {
  EXPECT_EQ(get("/fresh"), "200");
  EXPECT_EQ(get("/fresh"), "200");
  EXPECT_EQ(get("/fresh"), "200");
  Scraped scraped = scrape();
  EXPECT_EQ(scraped["edge_cache_misses_total"], "1");
  EXPECT_EQ(scraped["edge_cache_stored_total"], "1");
  EXPECT_EQ(scraped["edge_cache_hits_total"], "2");
  EXPECT_EQ(scraped["edge_cache_entries"], "1");
  EXPECT_GT(scraped.number("edge_cache_bytes"), 10);

  EXPECT_EQ(get("/fresh", {"-d", "changes"}), "200");
  scraped = scrape();
  EXPECT_EQ(scraped["edge_cache_bypassed_total"], "1");
  EXPECT_EQ(scraped["edge_cache_invalidated_total"], "1");
  EXPECT_EQ(scraped["edge_cache_entries"], "0");

  EXPECT_EQ(get("/etag"), "200");
  EXPECT_EQ(get("/etag"), "200");
  EXPECT_EQ(comes_to("edge_cache_revalidated_total", "1"), "1");

  EXPECT_EQ(get("/swr"), "200");
  EXPECT_EQ(get("/swr"), "200");
  EXPECT_EQ(comes_to("edge_cache_stale_hits_total", "1"), "1");
  EXPECT_EQ(comes_to("edge_cache_refreshed_total", "1"), "1");

  EXPECT_EQ(comes_to("edge_cache_abandoned_total", "0"), "0");
  get("/torn");
  EXPECT_EQ(comes_to("edge_cache_abandoned_total", "1"), "1");
}

TEST_F(CacheValues, WhoWaitsForAnotherAndWhatIsDrivenOut) {
  const auto background = [&](const std::string& path) {
    return Process({"curl", "-s", "-m", "60", "-H", "Host: shop.example",
                    "http://127.0.0.1:" + std::to_string(proxy_->port) + path});
  };
  {
    Process first = background("/slow");
    ASSERT_TRUE(origin_.wait_out("waits"));
    Process second = background("/slow");
    EXPECT_EQ(comes_to("edge_cache_collapsed_total", "1"), "1");
    EXPECT_EQ(get("/go"), "200");
    EXPECT_EQ(first.wait_exit(), 0) << first.err_text();
    EXPECT_EQ(second.wait_exit(), 0) << second.err_text();
  }
  EXPECT_EQ(comes_to("edge_cache_evictions_total", "0"), "0");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get("/large" + std::to_string(i)), "200");
  const Scraped scraped = scrape();
  EXPECT_GT(scraped.number("edge_cache_evictions_total"), 0);
  EXPECT_LE(scraped.number("edge_cache_bytes"), 1 << 20);
}

class ControlValues : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(dir_.path() / "config");
    dir_.put("config/all.yaml", base_config(backend_.port) + "---\n" + route_config("a", "/a"));
    proxy_ = std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  Scraped scrape() const { return settled(proxy_->metrics_port); }
  std::string comes_to(const std::string& series, const std::string& wanted) const {
    return test::comes_to(proxy_->metrics_port, series, wanted);
  }

  TempDir dir_;
  Backend backend_{"one"};
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(ControlValues, CompilesAndAgents) {
  EXPECT_EQ(comes_to("edge_controller_resources{kind=\"ProxyRoute\"}", "1"), "1");
  const Scraped before = scrape();
  dir_.put("config/b.yaml", route_config("b", "/b"));
  const std::string hash = proxy_->wait_programmed();
  ASSERT_NE(hash, "");
  const std::string runs = "edge_agent_program_info{agent=\"standalone\",hash=\"" + hash + "\"}";
  EXPECT_EQ(comes_to(runs, "1"), "1");
  EXPECT_EQ(comes_to("edge_agent_program_current{agent=\"standalone\"}", "1"), "1");
  EXPECT_EQ(comes_to("edge_controller_resources{kind=\"ProxyRoute\"}", "2"), "2");
  EXPECT_EQ(comes_to("edge_controller_queue_depth{queue=\"changes\"}", "0"), "0");
  EXPECT_EQ(comes_to("edge_controller_queue_depth{queue=\"statuses\"}", "0"), "0");
  const Scraped after = scrape();
  const auto grew = [&](const std::string& series) { return after.number(series) - before.number(series); };
  EXPECT_GE(grew("edge_controller_objects"), 1);
  EXPECT_GE(grew("edge_controller_events_total"), 1);
  EXPECT_GE(grew("edge_controller_compiles_total"), 1);
  EXPECT_GE(grew("edge_controller_programs_total"), 1);
  EXPECT_GE(grew("edge_controller_distribution_duration_seconds_count"), 1);
  for (const char* stage : {"decode", "link", "lower", "emit", "prove", "assemble"}) {
    EXPECT_GT(grew(std::string("edge_controller_compile_stage_seconds_total{stage=\"") + stage + "\"}"), 0) << stage;
  }
  EXPECT_EQ(after["edge_controller_compile_duration_seconds_count"], after["edge_controller_compiles_total"]);
  EXPECT_EQ(after["edge_controller_queue_duration_seconds_count"], after["edge_controller_compiles_total"]);
  EXPECT_EQ(after["edge_controller_compile_failures_total"], "0");
  EXPECT_GT(after.number("edge_controller_program_bytes"), 1000);
  EXPECT_EQ(after["edge_controller_agents_connected"], "1");
  EXPECT_EQ(after["edge_controller_leader"], "1");
  EXPECT_EQ(after["edge_controller_api_connected"], "1");
  EXPECT_EQ(after["edge_controller_resources_held_back"], "0");
  EXPECT_EQ(after["edge_program_installs_total"], "2");
}

TEST_F(ControlValues, StatusesAndTheResourceApi) {
  EXPECT_GE(reaches(proxy_->metrics_port, {"edge_controller_status_write_duration_seconds_count"}, 3), 3);
  const Scraped before = scrape();
  EXPECT_GE(before.number("edge_controller_status_writes_total"), 3) << "gateway, backend, route";
  EXPECT_GE(before.number("edge_controller_status_write_duration_seconds_count"), 3);
  EXPECT_EQ(before["edge_controller_status_failures_total"], "0");
  EXPECT_GT(before.number("edge_api_watches"), 5) << "those of the controller";
  EXPECT_GE(before.number("edge_api_requests_total{verb=\"PATCH\",code=\"2xx\"}"), 3);

  const auto ask = [&](const std::string& words) {
    return run_command(
        {"/bin/sh", "-c",
         "export KUBECONFIG='" + dir_ / "data/kubeconfig' HOME='" + dir_.path().string() + "'; exec edgectl " + words});
  };
  EXPECT_EQ(ask("delete proxyroute nobody").code, 1);
  const int port = proxy_->metrics_port;
  EXPECT_GE(reaches(port,
                    {"edge_api_requests_total{verb=\"DELETE\",code=\"4xx\"}",
                     "edge_api_requests_total{verb=\"GET\",code=\"4xx\"}"},
                    1),
            1);
  const std::string reads = "edge_api_requests_total{verb=\"GET\",code=\"2xx\"}";
  const std::string durations = "edge_api_request_duration_seconds_count{verb=\"GET\"}";
  const Scraped after = scrape();
  EXPECT_EQ(ask("get proxyroutes").code, 0);
  EXPECT_GT(reaches(port, {reads}, after.number(reads) + 1), after.number(reads));
  EXPECT_GT(reaches(port, {durations}, after.number(durations) + 1), after.number(durations));
}

TEST_F(ControlValues, RefusedPrograms) {
  const Finished compiled = run_command({"edgectl", "compile", "-f", dir_ / "config/all.yaml", "-o",
                                         dir_ / "p.edgeprog", "--endpoints-out", dir_ / "endpoints.json"});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  ProxyProcess agent(
      {"edge-agent", "--program", dir_ / "p.edgeprog", "--endpoints", dir_ / "endpoints.json", "--allow-unsigned"});
  const std::string hash = agent.wait_ready();
  ASSERT_NE(hash, "") << agent.process.err_text();
  dir_.put("p.edgeprog", "no program");
  EXPECT_EQ(test::comes_to(agent.metrics_port, "edge_program_refused_total", "1"), "1");
  EXPECT_EQ(Scraped(agent.metrics_port)["edge_program_info{hash=\"" + hash + "\"}"], "1");
}

}  // namespace
}  // namespace edge::test
