// /metrics of a running edge-standalone: by the rules of both formats, against the table, and through real peers.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/family.h"
#include "tests/cli/proxy_process.h"
#include "tests/cli/scraped.h"
#include "tests/support/lasting_port.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

constexpr const char* kOpenMetrics = "application/openmetrics-text;version=1.0.0";

bool has_program(const std::string& name) { return run_command({"sh", "-c", "command -v " + name}).code == 0; }

class Metrics : public testing::Test {
 protected:
  void SetUp() override {
    dir_.put("config/base.yaml", base_config(backend_.port));
    dir_.put("config/a.yaml", route_config("a", "/a"));
    dir_.put("config/b.yaml", route_config("b", "/b"));
    proxy_ = std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
    for (int i = 0; i < 3; ++i) EXPECT_THAT(curl(proxy_->port, "/a"), testing::StartsWith("200 "));
    EXPECT_THAT(curl(proxy_->port, "/none"), testing::StartsWith("404 "));
    settled(proxy_->metrics_port);
  }

  std::string scrape(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {"curl", "-s", "-m", "20"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back("http://127.0.0.1:" + std::to_string(proxy_->metrics_port) + "/metrics");
    return run_command(command).out;
  }

  TempDir dir_;
  Backend backend_{"one"};
  std::unique_ptr<ProxyProcess> proxy_;
};

std::string_view without(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

/// Reads a text by the rules of OpenMetrics 1.0 that it relies on, and tells what breaks one.
class OpenMetricsReader {
 public:
  explicit OpenMetricsReader(const std::string& text) {
    if (!text.ends_with("\n# EOF\n")) fail("does not end with # EOF");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      line_ = line;
      if (line == "# EOF") break;
      line.starts_with("# ") ? metadata(line.substr(2)) : sample(line);
    }
    end_family();
  }

  std::vector<std::string> faults;
  std::map<std::string, std::string> types;

 private:
  void fail(const std::string& what) { faults.push_back(what + ": " + line_); }

  void metadata(const std::string& text) {
    std::istringstream words(text);
    std::string kind;
    std::string name;
    std::string value;
    words >> kind >> name >> value;
    if (kind == "HELP") {
      end_family();
      family_ = name;
      if (types.contains(name)) fail("a family twice");
    }
    if (name != family_) fail("another family's line");
    if (kind == "TYPE") types[name] = value;
    if (kind == "UNIT" && !name.ends_with("_" + value)) fail("the unit is not in the name");
  }

  void sample(const std::string& line) {
    const std::size_t name_end = line.find_first_of("{ ");
    const std::size_t labels_end = line[name_end] == '{' ? line.rfind('}') + 1 : name_end;
    if (!series_.insert(line.substr(0, labels_end)).second) fail("a series twice");
    const std::string name = line.substr(0, name_end);
    const std::string labels = line.substr(name_end, labels_end - name_end);
    double value = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + labels_end + 1, end, value).ptr != end) fail("no number");
    const std::string& type = types[family_];
    const std::string_view suffix = std::string_view(name).substr(std::min(name.size(), family_.size()));
    if (!name.starts_with(family_)) return fail("a sample of another family");
    if (type == "counter" && (suffix != "_total" || value < 0)) fail("no counter");
    if (type == "gauge" && !suffix.empty()) fail("no gauge");
    if (type == "info" && (suffix != "_info" || value != 1)) fail("no info");
    if (type == "histogram") histogram(suffix, labels, value);
  }

  void histogram(std::string_view suffix, std::string labels, double value) {
    if (suffix == "_bucket") {
      const std::size_t le = labels.rfind("le=\"");
      const std::string bound = labels.substr(le + 4, labels.size() - le - 6);
      if (bound != "+Inf" && bound.find_first_of(".e") == std::string::npos) fail("a bound that is no float");
      if (value < last_bucket_) fail("buckets go down");
      last_bucket_ = bound == "+Inf" ? 0 : value;
      if (bound == "+Inf") whole_ = value;
    } else if (suffix == "_count") {
      if (value != whole_) fail("the count is not that of +Inf");
    } else if (suffix != "_sum") {
      fail("no histogram");
    }
  }

  void end_family() {
    if (!family_.empty() && !types.contains(family_)) fail("a family without a type");
  }

  std::string line_;
  std::string family_;
  std::set<std::string> series_;
  double last_bucket_ = 0;
  double whole_ = 0;
};

TEST_F(Metrics, TellOfRequestsByRoute) {
  const std::string text = scrape();
  EXPECT_THAT(text, HasSubstr("edge_requests_total{gateway=\"default/gw\",route=\"default/a\",backend=\"default/be\","
                              "code=\"2xx\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("edge_requests_total{gateway=\"default/gw\",route=\"\",backend=\"\",code=\"4xx\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_request_duration_seconds_count{gateway=\"default/gw\",route=\"default/a\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_connects_total{backend=\"default/be\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_endpoint_healthy{backend=\"default/be\",endpoint=\"127.0.0.1:"));
  EXPECT_THAT(text, HasSubstr("edge_controller_agents_connected 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_controller_resources{kind=\"ProxyRoute\"} 2\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("route=\"default/b\"")));
}

TEST_F(Metrics, FollowOpenMetrics) {
  const std::string text = scrape({"-H", std::string("Accept: ") + kOpenMetrics});
  const OpenMetricsReader reader(text);
  EXPECT_THAT(reader.faults, testing::IsEmpty());
  EXPECT_EQ(reader.types.at("edge_requests"), "counter");
  EXPECT_EQ(reader.types.at("edge_program"), "info");
}

// One table: what is served is what stands in it (and with it in docs/metrics.md).
TEST_F(Metrics, AreThoseOfTheTable) {
  const OpenMetricsReader reader(scrape({"-H", std::string("Accept: ") + kOpenMetrics}));
  std::set<std::string> served;
  for (const auto& [name, type] : reader.types) served.insert(name);
  std::set<std::string> table;
  for (const metrics::FamilyEntry& entry : metrics::families()) {
    std::string_view name = entry.name;
    // A relay, a node of a Site, an agent with lists of addresses or databases, and a controller with names on demand
    // write theirs (controller/relay, agent/wan/site/site_metrics_test.cc, agent/access_watch_test.cc,
    // controller/controller_metrics_test.cc).
    constexpr std::string_view kElsewhere[] = {"edge_relay_", "edge_wan_", "edge_address_list_", "edge_geoip_",
                                               "edge_acme_on_demand_"};
    if (std::ranges::any_of(kElsewhere, [&](std::string_view prefix) { return name.starts_with(prefix); })) continue;
    if (entry.kind == metrics::Kind::kCounter) name = without(name, "_total");
    if (entry.kind == metrics::Kind::kInfo) name = without(name, "_info");
    table.emplace(name);
  }
  for (const std::string& name : served) EXPECT_TRUE(table.contains(name)) << name << " is served alone";
  for (const std::string& name : table) EXPECT_TRUE(served.contains(name)) << name << " stands in the table alone";
}

TEST_F(Metrics, AreCompressedForWhoAsks) {
  EXPECT_EQ(scrape({"-H", "Accept-Encoding: gzip"}).substr(0, 2), "\x1f\x8b");
  EXPECT_THAT(scrape({"--compressed"}), HasSubstr("edge_build_info{version=\""));
  EXPECT_THAT(scrape({"-I"}), HasSubstr("200"));
}

TEST_F(Metrics, PassPromtool) {
  if (!has_program("promtool")) GTEST_SKIP() << "no promtool";
  const Finished checked = run_command({"promtool", "check", "metrics"}, scrape());
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.err, "");
}

// Debian's Prometheus, which asks for OpenMetrics.
TEST_F(Metrics, AreScrapedByPrometheus) {
  if (!has_program("prometheus")) GTEST_SKIP() << "no prometheus";
  dir_.put("prometheus.yml",
           "global: {scrape_interval: 2s, scrape_timeout: 2s}\nscrape_configs: [{job_name: edge, static_configs: "
           "[{targets: ['127.0.0.1:" +
               std::to_string(proxy_->metrics_port) + "']}]}]\n");
  const int port = test::lasting_port();
  Process prometheus({"prometheus", "--config.file=" + (dir_ / "prometheus.yml"),
                      "--storage.tsdb.path=" + (dir_ / "tsdb"),
                      "--web.listen-address=127.0.0.1:" + std::to_string(port)});
  ASSERT_TRUE(prometheus.wait_err("Server is ready")) << prometheus.err_text();
  const auto query = [&](const std::string& expression) {
    return curl(port, "/api/v1/query", {"-G", "--data-urlencode", "query=" + expression});
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  std::string said;
  do {
    said = query("edge_requests_total{route='default/a'}");
  } while (said.find("\"3\"") == std::string::npos && std::chrono::steady_clock::now() < deadline);
  EXPECT_THAT(said, HasSubstr("\"3\"")) << prometheus.err_text();
  EXPECT_THAT(query("up"), HasSubstr("\"1\""));
  EXPECT_THAT(query("histogram_quantile(0.9, edge_request_duration_seconds_bucket{route='default/a'})"),
              HasSubstr("\"value\""));
}

}  // namespace
}  // namespace edge::test
