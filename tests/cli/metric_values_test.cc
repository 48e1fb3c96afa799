// Each family of the data plane, with the number that it has after something was made to happen over sockets.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/scraped.h"
#include "tests/support/connection.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

const std::string kRoute = "{gateway=\"default/gw\",route=\"default/a\"}";
const std::string kBackend = "{backend=\"default/be\"}";
const std::string kGateway = "{gateway=\"default/gw\"}";

const std::string kHash = "$2y$04$JKlZKIn5I/9kZaVeujhr7.u9mqXtY5JfTwVLU3aAtvm4/ZegTkDHe";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string policy(const std::string& name, const std::string& type, const std::string& settings) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: " + name +
         "}\nspec:\n  type: " + type + "\n  targetRef: {kind: ProxyRoute, name: " + name + "}\n  " + settings + "\n";
}

/// A further backend with one endpoint.
std::string backend(const std::string& name, int port) {
  std::string text = base_config(port);
  text.erase(0, text.find("---\n"));
  return std::regex_replace(text, std::regex("name: be\\b"), "name: " + name);
}

class MetricValues : public testing::Test {
 protected:
  void start(const std::string& config, const std::vector<std::string>& more = {}) {
    std::filesystem::create_directories(dir_.path() / "config");
    dir_.put("config/all.yaml", config);
    std::vector<std::string> words = {"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"};
    words.insert(words.end(), more.begin(), more.end());
    proxy_ = std::make_unique<ProxyProcess>(words);
    hash_ = proxy_->wait_ready();
    ASSERT_NE(hash_, "") << proxy_->process.err_text();
  }
  Scraped scrape() const { return settled(proxy_->metrics_port); }
  std::string comes_to(const std::string& series, const std::string& wanted) const {
    return test::comes_to(proxy_->metrics_port, series, wanted);
  }
  /// Status of an answer.
  std::string get(const std::string& path, const std::vector<std::string>& more = {}) const {
    return curl(proxy_->port, path, more).substr(0, 3);
  }
  /// Where another listener than `http` listens.
  int port_of(const std::string& listener) {
    const std::regex line("listener " + listener + " on [^\\n]*:([0-9]+)\\n");
    std::smatch match;
    if (!std::regex_search(proxy_->process.err_text(), match, line)) proxy_->process.wait_err("listener " + listener);
    return std::regex_search(proxy_->process.err_text(), match, line) ? std::stoi(match[1]) : 0;
  }

  TempDir dir_;
  Backend backend_{"one"};
  std::unique_ptr<ProxyProcess> proxy_;
  std::string hash_;
};

TEST_F(MetricValues, RequestsConnectionsAndBytes) {
  start(base_config(backend_.port) + "---\n" + route_config("a", "/a"));
  const std::string said = curl(proxy_->port, "/a", {"-d", "12345"});
  EXPECT_EQ(said, "200 one got POST /a");
  EXPECT_EQ(get("/a"), "200");
  EXPECT_EQ(get("/a"), "200");
  const Scraped scraped = scrape();
  EXPECT_EQ(scraped["edge_requests_begun_total"], "3");
  EXPECT_EQ(scraped["edge_responses_total{class=\"2xx\"}"], "3");
  EXPECT_EQ(scraped["edge_request_bytes_total" + kRoute], "5");
  // `one got POST /a` and `one got GET /a`, each with the end of its line.
  EXPECT_EQ(scraped["edge_response_bytes_total" + kRoute], "46");
  EXPECT_EQ(scraped["edge_request_size_bytes_count" + kGateway], "3");
  EXPECT_EQ(scraped.number("edge_request_size_bytes_sum" + kGateway), 5);
  EXPECT_EQ(scraped["edge_response_size_bytes_bucket{gateway=\"default/gw\",le=\"256.0\"}"], "3");
  EXPECT_EQ(scraped["edge_request_duration_seconds_count" + kRoute], "3");
  EXPECT_GT(scraped.number("edge_request_duration_seconds_sum" + kRoute), 0);
  EXPECT_EQ(scraped["edge_backend_request_duration_seconds_count" + kBackend], "3");
  EXPECT_EQ(scraped["edge_connections_accepted_total"], "3");
  EXPECT_EQ(scraped["edge_connections_refused_total"], "0");
  EXPECT_EQ(comes_to("edge_connections_active", "0"), "0");
  EXPECT_EQ(scraped["edge_backend_connects_total" + kBackend], "1");
  EXPECT_EQ(scraped["edge_backend_connect_failures_total" + kBackend], "0");
  EXPECT_EQ(scraped["edge_backend_connections_idle" + kBackend], "1");
  EXPECT_EQ(scraped["edge_upstream_connections_total"], "1");
  EXPECT_EQ(scraped["edge_upstream_reused_total"], "2");
  EXPECT_EQ(scraped["edge_upstream_retries_total"], "0");
  EXPECT_EQ(scraped["edge_buffer_memory_bytes"], "0");
  EXPECT_EQ(scraped["edge_buffer_file_bytes"], "0");
  // A host that no listener takes is nobody's.
  EXPECT_EQ(get("/none"), "404");
  EXPECT_EQ(comes_to("edge_requests_total{gateway=\"default/gw\",route=\"\",backend=\"\",code=\"4xx\"}", "1"), "1");
}

TEST_F(MetricValues, TheProcessAndItsProgram) {
  const auto before = static_cast<double>(std::time(nullptr));
  start(base_config(backend_.port) + "---\n" + route_config("a", "/a"));
  const Scraped scraped = scrape();
  EXPECT_EQ(scraped["edge_program_info{hash=\"" + hash_ + "\"}"], "1");
  EXPECT_EQ(scraped["edge_program_installs_total"], "1");
  EXPECT_EQ(scraped["edge_program_refused_total"], "0");
  EXPECT_GE(scraped.number("edge_program_installed_timestamp_seconds"), before);
  EXPECT_LE(scraped.number("edge_program_installed_timestamp_seconds"), static_cast<double>(std::time(nullptr)) + 1);
  EXPECT_GT(scraped.number("edge_program_install_duration_seconds"), 0);
  EXPECT_LT(scraped.number("edge_program_install_duration_seconds"), 60);
  const std::string version = run_command({"edgectl", "version"}).out;
  std::smatch named;
  ASSERT_TRUE(std::regex_search(scraped.text(), named, std::regex("edge_build_info\\{version=\"([^\"]+)\"\\} 1\\n")));
  EXPECT_THAT(version, HasSubstr(named[1].str()));
  EXPECT_EQ(scraped["edge_metrics_series_limit"], "55000");
  EXPECT_EQ(scraped["edge_metrics_detail"], "5");
  EXPECT_EQ(scraped["edge_metrics_backends_left_out"], "0");
  EXPECT_EQ(scraped["edge_metrics_folded_requests_total"], "0");
  std::istringstream lines(scraped.text());
  std::size_t samples = 0;
  for (std::string line; std::getline(lines, line);) {
    // Before the first line stands the status.
    samples += line.empty() || line.starts_with("#") || line.starts_with("200 #") ? 0 : 1;
  }
  EXPECT_EQ(scraped["edge_metrics_series"], std::to_string(samples));
  EXPECT_GT(scraped.number("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(scraped.number("process_virtual_memory_bytes"), scraped.number("process_resident_memory_bytes"));
  EXPECT_GT(scraped.number("process_open_fds"), 10);
  EXPECT_GT(scraped.number("process_max_fds"), scraped.number("process_open_fds"));
  EXPECT_NEAR(scraped.number("process_start_time_seconds"), before, 60);
  EXPECT_GT(scraped.number("process_cpu_seconds_total"), 0);
  // One thread looks at itself four times a second.
  EXPECT_GE(reaches(proxy_->metrics_port, {"edge_loop_lag_seconds_count"}, 2), 2);
}

TEST_F(MetricValues, HandshakesAndCertificates) {
  const std::string key = dir_ / "key.pem";
  const std::string certificate = dir_ / "cert.pem";
  ASSERT_EQ(run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                         "-nodes", "-days", "30", "-subj", "/CN=shop.example", "-addext",
                         "subjectAltName=DNS:shop.example", "-keyout", key, "-out", certificate})
                .code,
            0);
  const auto indented = [&](const std::string& name) {
    return std::regex_replace("\n" + dir_.get(name), std::regex("\n"), "\n    ");
  };
  start(
      replaced(base_config(backend_.port), "protocol: HTTP}",
               "protocol: HTTP}, {name: https, port: 8443, protocol: HTTPS, tls: {secretRef: {name: site}}}") +
      "---\n" + route_config("a", "/a") +
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: site}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |" +
      indented("cert.pem") + "\n  tls.key: |" + indented("key.pem") + "\n");
  const int port = port_of("https");
  ASSERT_NE(port, 0) << proxy_->process.err_text();
  const std::string site = "shop.example:" + std::to_string(port);
  const auto fetch = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"curl",     "-s",        "-m",        "20",
                                      "--cacert", certificate, "--resolve", site + ":127.0.0.1"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("https://" + site + "/a");
    return run_command(words);
  };
  EXPECT_EQ(fetch({"--tls-max", "1.2"}).out, "one got GET /a\n");
  EXPECT_EQ(fetch({"--tlsv1.3"}).out, "one got GET /a\n");
  EXPECT_EQ(fetch({"--tlsv1.3"}).out, "one got GET /a\n");
  EXPECT_NE(fetch({"--tlsv1.3", "--cacert", "/etc/ssl/certs/ca-certificates.crt"}).code, 0);
  const auto handshakes = [](const std::string& version, const std::string& resumed) {
    return "edge_tls_handshakes_total{version=\"" + version + "\",resumed=\"" + resumed + "\"}";
  };
  // A session of before, shown once more.
  const std::string end = "127.0.0.1:" + std::to_string(port);
  for (const char* flag : {"-sess_out", "-sess_in"}) {
    run_command({"openssl", "s_client", "-connect", end, "-tls1_2", flag, dir_ / "session"}, "Q\n");
  }
  EXPECT_EQ(comes_to(handshakes("1.2", "yes"), "1"), "1");
  EXPECT_EQ(comes_to("edge_tls_failures_total", "1"), "1");
  const Scraped scraped = scrape();
  EXPECT_EQ(scraped[handshakes("1.2", "no")], "2");
  EXPECT_EQ(scraped[handshakes("1.3", "no")], "2");
  EXPECT_EQ(scraped[handshakes("1.3", "yes")], "0");
  const std::string expiry =
      run_command(
          {"sh", "-c", "date -d \"$(openssl x509 -enddate -noout -in '" + certificate + "' | cut -d= -f2)\" +%s"})
          .out;
  EXPECT_EQ(scraped.number("edge_certificate_expiry_timestamp_seconds{secret=\"default/site\"}"), std::stod(expiry));
}

TEST_F(MetricValues, PoliciesAndMirrors) {
  const ListeningSocket copies;
  start(base_config(backend_.port) + backend("copies", copies.port) + "---\n" + route_config("limited", "/limited") +
        "---\n" + route_config("users", "/users") + "---\n" +
        replaced(route_config("mirrored", "/mirrored"), "    backendRef: {name: be}\n",
                 "    backendRef: {name: be}\n    filters: [{type: RequestMirror, requestMirror: {backendRef: {name: "
                 "copies}}}]\n") +
        policy("limited", "RateLimit", "rateLimit: {requestsPerSecond: 1, burst: 2, key: host}") +
        policy("mirrored", "ConcurrencyLimit", "concurrencyLimit: {limits: [{requests: 5, keys: [host]}]}") +
        replaced(policy("mirrored", "RequestFilter", "requestFilter: {action: Shadow, denyPaths: [mirror]}"),
                 "metadata: {name: mirrored}", "metadata: {name: shadow}") +
        policy("users", "BasicAuth", "basicAuth: {secretRef: {name: users}}") +
        replaced(policy("users", "RateLimit",
                        "rateLimit: {limits: [{requests: 1, per: Day, keys: [identity]}, {requests: 5, per: Day}]}"),
                 "metadata: {name: users}", "metadata: {name: per-user}") +
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: 'alice:" + kHash + "'}\n");
  // A request a second comes back: of fifty in a row, by one client, some are too many.
  const std::string codes =
      run_command({"curl", "-s", "-m", "60", "-H", "Host: shop.example", "-o", "/dev/null", "-w", "%{http_code}\n",
                   "http://127.0.0.1:" + std::to_string(proxy_->port) + "/limited?[1-50]"})
          .out;
  std::istringstream answers(codes);
  std::size_t limited = 0;
  std::size_t asked = 0;
  for (std::string code; std::getline(answers, code); ++asked) limited += code == "429" ? 1 : 0;
  const auto limit = [](const std::string& outcome) {
    return "edge_rate_limit_requests_total{policy=\"default/limited\",outcome=\"" + outcome + "\"}";
  };
  EXPECT_EQ(asked, 50U);
  EXPECT_EQ(comes_to(limit("limited"), std::to_string(limited)), std::to_string(limited));
  EXPECT_EQ(comes_to(limit("passed"), std::to_string(asked - limited)), std::to_string(asked - limited));
  EXPECT_GE(limited, 1U);

  EXPECT_EQ(get("/users", {"-u", "alice:wrong"}), "401");
  EXPECT_EQ(get("/users"), "401");
  EXPECT_EQ(comes_to("edge_auth_requests_total{type=\"BasicAuth\",outcome=\"denied\"}", "2"), "2");
  EXPECT_EQ(comes_to("edge_auth_requests_total{type=\"BasicAuth\",outcome=\"passed\"}", "0"), "0");
  EXPECT_EQ(comes_to("edge_auth_requests_total{type=\"JWT\",outcome=\"denied\"}", "0"), "0");

  // One limit of the policy is before authentication and one behind it: a request is counted once.
  EXPECT_EQ(get("/users", {"-u", "alice:secret"}), "200");
  EXPECT_EQ(get("/users", {"-u", "alice:secret"}), "429");
  const std::string per_user = "edge_rate_limit_requests_total{policy=\"default/per-user\",outcome=";
  EXPECT_EQ(comes_to(per_user + "\"passed\"}", "1"), "1");
  EXPECT_EQ(comes_to(per_user + "\"limited\"}", "1"), "1");

  EXPECT_EQ(get("/mirrored"), "200");
  EXPECT_EQ(comes_to("edge_mirrored_requests_total", "1"), "1");
  EXPECT_EQ(comes_to("edge_mirrored_requests_dropped_total", "0"), "0");
  const std::string in_progress = "edge_concurrency_limit_requests_total{policy=\"default/mirrored\",outcome=";
  EXPECT_EQ(comes_to(in_progress + "\"passed\"}", "1"), "1");
  EXPECT_EQ(comes_to(in_progress + "\"limited\"}", "0"), "0");
  const std::string filtered = "edge_request_filter_requests_total{policy=\"default/shadow\",outcome=";
  EXPECT_EQ(comes_to(filtered + "\"at_fault\"}", "1"), "1");
  EXPECT_EQ(comes_to(filtered + "\"passed\"}", "0"), "0");
}

TEST_F(MetricValues, TunnelsAndBackendsOverTls) {
  const ListeningSocket raw;
  start(replaced(base_config(backend_.port), "protocol: HTTP}",
                 "protocol: HTTP}, {name: tcp, port: 5432, protocol: TCP}, {name: dead, port: 5433, protocol: TCP}") +
        backend("raw", raw.port) +
        // It speaks plain text.
        replaced(backend("secure", backend_.port), "port: 80}",
                 "port: 80}, tls: {hostname: shop.example, wellKnownCACertificates: System}") +
        "---\n" +
        replaced(replaced(route_config("secure", "/secure"), "{name: be}", "{name: secure}"), "{name: gw}",
                 "{name: gw, sectionName: http}") +
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: bytes}\nspec:\n"
        "  parentRefs: [{name: gw, sectionName: tcp}]\n  rules:\n  - backendRef: {name: raw}\n");
  const test::Deadline deadline{std::chrono::steady_clock::now() + std::chrono::seconds(120), nullptr};
  const int port = port_of("tcp");
  const int dead = port_of("dead");
  ASSERT_TRUE(port != 0 && dead != 0) << proxy_->process.err_text();
  {
    test::Connection client(*test::Connection::dial(static_cast<std::uint16_t>(port)), deadline);
    ASSERT_TRUE(client.send("four").ok());
    test::Connection server(raw.accept_one(), deadline);
    ASSERT_TRUE(server.send("eleven byte").ok());
    EXPECT_EQ(comes_to("edge_tunnel_bytes_total{direction=\"up\"}", "4"), "4");
    EXPECT_EQ(comes_to("edge_tunnel_bytes_total{direction=\"down\"}", "11"), "11");
    EXPECT_EQ(comes_to("edge_connections_active", "1"), "1");
  }
  EXPECT_EQ(comes_to("edge_connections_active", "0"), "0");
  EXPECT_EQ(comes_to("edge_tunnels_total", "1"), "1");
  EXPECT_EQ(comes_to("edge_tunnels_refused_total", "0"), "0");
  const test::Connection refused(*test::Connection::dial(static_cast<std::uint16_t>(dead)), deadline);
  EXPECT_EQ(comes_to("edge_tunnels_refused_total", "1"), "1");

  EXPECT_EQ(get("/secure"), "502");
  const Scraped scraped = scrape();
  EXPECT_GE(scraped.number("edge_upstream_tls_failures_total"), 1);
  EXPECT_EQ(scraped["edge_upstream_tls_failures_total"],
            scraped["edge_backend_connect_failures_total{backend=\"default/secure\"}"]);
}

TEST_F(MetricValues, LogsAndSpans) {
  const std::string config = replaced(base_config(backend_.port), "spec: {listeners",
                                      "spec: {tracing: {enabled: true}, accessLog: {enabled: true}, listeners") +
                             "---\n" + route_config("a", "/a");
  start(config);
  EXPECT_EQ(get("/a"), "200");
  EXPECT_EQ(comes_to("edge_access_log_lines_total", "1"), "1");
  EXPECT_EQ(comes_to("edge_access_log_dropped_total{reason=\"output\"}", "0"), "0");
  // Of the request and of its try; the store is this process's own.
  EXPECT_EQ(comes_to("edge_traces_spans_taken_total", "2"), "2");
  EXPECT_EQ(comes_to("edge_spans_exported_total", "2"), "2");
  EXPECT_EQ(comes_to("edge_traces_stored", "1"), "1");
  const Scraped scraped = scrape();
  EXPECT_EQ(scraped["edge_spans_sampled_total"], "2");
  EXPECT_GT(scraped.number("edge_traces_bytes"), 0);
  EXPECT_EQ(scraped["edge_traces_spans_dropped_total"], "0");
  EXPECT_EQ(run_command({"curl", "-s", "-H", "Content-Type: application/x-protobuf", "--data-binary", "no spans",
                         "http://127.0.0.1:" + std::to_string(proxy_->otlp_port) + "/v1/traces"})
                .code,
            0);
  proxy_.reset();

  // A disk that is full, and a collector that is none.
  Process stranger({"python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"});
  const auto line = stranger.wait_out("Serving HTTP");
  ASSERT_TRUE(line);
  std::smatch port;
  ASSERT_TRUE(std::regex_search(*line, port, std::regex("port ([0-9]+)")));
  start(config, {"--access-log", "/dev/full", "--otlp-endpoint", "http://127.0.0.1:" + port[1].str()});
  EXPECT_EQ(get("/a"), "200");
  EXPECT_EQ(comes_to("edge_access_log_dropped_total{reason=\"output\"}", "1"), "1");
  EXPECT_EQ(comes_to("edge_access_log_lines_total", "0"), "0");
  EXPECT_EQ(comes_to("edge_spans_dropped_total{reason=\"refused\"}", "2"), "2");
  EXPECT_EQ(comes_to("edge_spans_exported_total", "0"), "0");
}

}  // namespace
}  // namespace edge::test
