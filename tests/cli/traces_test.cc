// Traces end to end: a request through edge-standalone, and what edgectl tells of it.
#include <chrono>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class TracesProcess : public testing::Test {
 protected:
  void start(const std::string& config, const std::vector<std::string>& more = {}) {
    dir_.put("config/all.yaml", config);
    std::vector<std::string> words = {"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"};
    words.insert(words.end(), more.begin(), more.end());
    proxy_ = std::make_unique<ProxyProcess>(words);
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  Finished edgectl(std::vector<std::string> words) const {
    words.insert(words.begin(), {"edgectl", "trace"});
    words.insert(words.end(), {"--trace-endpoint", "http://127.0.0.1:" + std::to_string(proxy_->traces_port)});
    return run_command(words);
  }
  /// Spans are sent and written behind the request's back.
  Finished edgectl_until(const std::vector<std::string>& words, const std::string& text) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    Finished got = edgectl(words);
    while (got.out.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) got = edgectl(words);
    return got;
  }

  /// One route, `/a`, whose gateway traces and logs.
  static std::string traced_config(int backend) {
    std::string config = base_config(backend);
    const std::string spec = "spec: {listeners";
    EXPECT_NE(config.find(spec), std::string::npos);
    config.replace(config.find(spec), spec.size(),
                   "spec: {tracing: {enabled: true}, accessLog: {enabled: true}, listeners");
    return config + "---\n" + route_config("a", "/a");
  }
  static Finished run(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  static Finished until_found(const std::vector<std::string>& words, const std::vector<std::string>& more,
                              const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    Finished got = run(words, more);
    while (got.out.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) got = run(words, more);
    return got;
  }

  TempDir dir_;
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(TracesProcess, ShowsARequestAsATree) {
  constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
  Backend backend("one");
  std::string config = base_config(backend.port);
  const std::string spec = "spec: {listeners";
  ASSERT_NE(config.find(spec), std::string::npos);
  config.replace(config.find(spec), spec.size(), "spec: {tracing: {enabled: true}, listeners");
  start(config + "---\n" + route_config("a", "/a") +
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: login}\n"
        "spec:\n  type: ForwardAuth\n  targetRef: {kind: ProxyRoute, name: a}\n"
        "  forwardAuth: {address: \"http://127.0.0.1:" +
        std::to_string(backend.port) + "/auth\"}\n");
  // A client's trace goes on: the proxy's span is a child of a span that is not here.
  EXPECT_EQ(
      curl(proxy_->port, "/a?secret=1", {"-H", std::string("traceparent: 00-") + kTrace + "-00f067aa0ba902b7-01"}),
      "200 one got GET /a?secret=1");
  const Finished page = edgectl_until({"get", kTrace}, "Spans:     4");
  EXPECT_EQ(page.code, 0) << page.err;
  SCOPED_TRACE(page.out);
  // The request's span, and below it the policy with its call, and the try, each with its time.
  EXPECT_THAT(page.out, ContainsRegex("\n[^├└\n]*GET[^\n]*█[^\n]*200"));
  EXPECT_THAT(page.out, ContainsRegex("\n├─ [^\n]*auth[^\n]*█"));
  EXPECT_THAT(page.out, ContainsRegex("\n│  └─ call ForwardAuth[^\n]*█"));
  EXPECT_THAT(page.out, ContainsRegex("\n└─ [^\n]*█"));
  EXPECT_THAT(page.out, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(edgectl({"list"}).out, HasSubstr(kTrace));
  EXPECT_THAT(edgectl({"search", "--tag", "http.method=GET", "--tag", "http.status_code=200"}).out, HasSubstr(kTrace));
  EXPECT_THAT(edgectl({"search", "--tag", "http.status_code=500"}).err, HasSubstr("no traces found"));
  EXPECT_THAT(edgectl({"services"}).out, HasSubstr("SERVICE\n"));
  EXPECT_THAT(edgectl({"get", kTrace, "-o", "json"}).out, HasSubstr("\"http.method\": \"GET\""));
}

TEST_F(TracesProcess, KeepsWhatOthersSendOverAStart) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string sample = std::string(EDGE_SOURCE_DIR) + "/tests/traces/data/checkout.otlp";
  Backend backend("one");
  start(base_config(backend.port) + "---\n" + route_config("a", "/a"));
  const Finished sent =
      run_command({"curl", "-sf", "-H", "Content-Type: application/x-protobuf", "--data-binary", "@" + sample,
                   "http://127.0.0.1:" + std::to_string(proxy_->otlp_port) + "/v1/traces"});
  EXPECT_EQ(sent.code, 0);
  EXPECT_THAT(edgectl_until({"get", trace}, "try 2").out, HasSubstr("503 error: reset by the peer"));
  proxy_->process.send_signal(SIGTERM);
  EXPECT_EQ(proxy_->process.wait_exit(), 0) << proxy_->process.err_text();
  start(base_config(backend.port) + "---\n" + route_config("a", "/a"));
  EXPECT_THAT(edgectl({"get", trace}).out, HasSubstr("try 2"));
  EXPECT_EQ(edgectl({"get", "abc"}).code, 1);
  EXPECT_EQ(edgectl({"get", "xyz"}).code, 2);
}

// The API itself needs no port: administrators reach the store by the controller, as they reach agents.
TEST_F(TracesProcess, AdministratorsAskByTheController) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  Backend backend("one");
  start(traced_config(backend.port), {"--traces-listen", "off"});
  EXPECT_EQ(proxy_->traces_port, 0);
  EXPECT_EQ(curl(proxy_->port, "/a", {"-H", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01"}),
            "200 one got GET /a");
  const std::vector<std::string> by = {"--kubeconfig", dir_ / "data/kubeconfig"};
  const Finished page = until_found({"edgectl", "trace", "get", trace}, by, "Spans:     2");
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("GET a"));
  EXPECT_THAT(run({"edgectl", "trace", "list"}, by).out, HasSubstr(trace));
  EXPECT_EQ(run({"edgectl", "trace", "get", "abc"}, by).err, "edgectl trace get: error: there is no trace abc\n");
}

TEST_F(TracesProcess, AskForATokenWhereThereIsOne) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  Backend backend("one");
  dir_.put("token", "a-long-enough-token\n");
  start(traced_config(backend.port), {"--traces-token-file", dir_ / "token"});
  const Finished refused = edgectl({"list"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("needs a token: --trace-token-file"));
  EXPECT_EQ(edgectl({"list", "--trace-token-file", dir_ / "token"}).code, 0);
  dir_.put("token", "another-long-enough-one\n");
  EXPECT_THAT(edgectl({"list", "--trace-token-file", dir_ / "token"}).err, HasSubstr("does not take this token"));
}

// The spans of the edge itself bring it, too.
TEST_F(TracesProcess, AskSendersForATokenWhereThereIsOne) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  Backend backend("one");
  dir_.put("token", "a-long-enough-token\n");
  start(traced_config(backend.port), {"--otlp-token-file", dir_ / "token"});
  const Finished stranger = run_command({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", "-H",
                                         "Content-Type: application/json",
                                         "http://127.0.0.1:" + std::to_string(proxy_->otlp_port) + "/v1/traces"});
  EXPECT_EQ(stranger.out, "401");
  EXPECT_EQ(curl(proxy_->port, "/a", {"-H", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01"}),
            "200 one got GET /a");
  EXPECT_THAT(edgectl_until({"get", trace}, "Spans:     2").out, HasSubstr("Spans:     2"));
}

TEST_F(TracesProcess, TheContextSaysWhereTracesAre) {
  Backend backend("one");
  start(traced_config(backend.port));
  const std::string here = "http://127.0.0.1:" + std::to_string(proxy_->traces_port);
  const std::string at_home = "export HOME=" + dir_.path().string() + "; unset KUBECONFIG; " + bin_dir().string();
  EXPECT_EQ(run_command({"sh", "-c", at_home + "/edgectl config set-context here --traces " + here}).code, 0);
  EXPECT_EQ(run_command({"sh", "-c", at_home + "/edgectl config use-context here"}).code, 0);
  const Finished list = run_command({"sh", "-c", at_home + "/edgectl trace services"});
  EXPECT_EQ(list.code, 0) << list.err;
  // Read from there, and from nowhere else.
  EXPECT_EQ(run_command({"sh", "-c", at_home + "/edgectl config set-context here --traces http://127.0.0.1:1"}).code,
            0);
  EXPECT_THAT(run_command({"sh", "-c", at_home + "/edgectl trace services"}).err, HasSubstr("http://127.0.0.1:1"));
}

// What requests left is with the collector and in the log before the process is gone, though it had a moment only.
TEST_F(TracesProcess, TheLastRequestIsToldOf) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  Backend backend("one");
  start(traced_config(backend.port), {"--access-log", dir_ / "access.log"});
  EXPECT_EQ(curl(proxy_->port, "/a", {"-H", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01"}),
            "200 one got GET /a");
  proxy_->process.send_signal(SIGTERM);
  EXPECT_EQ(proxy_->process.wait_exit(), 0) << proxy_->process.err_text();
  EXPECT_THAT(dir_.get("access.log"), HasSubstr(trace));
  start(traced_config(backend.port));
  EXPECT_THAT(edgectl({"get", trace}).out, HasSubstr("Spans:     2"));
}

TEST_F(TracesProcess, CanBeTurnedOff) {
  Backend backend("one");
  start(base_config(backend.port) + "---\n" + route_config("a", "/a"),
        {"--otlp-listen", "off", "--traces-listen", "off"});
  EXPECT_EQ(proxy_->traces_port, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "data/traces.db"));
  EXPECT_EQ(run_command({"edgectl", "trace", "services", "--trace-endpoint", "127.0.0.1:1"}).code, 3);
}

TEST(TracesFlags, AreChecked) {
  TempDir dir;
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--otlp-listen", "x"},
                                                {"--traces-listen", "127.0.0.1"},
                                                {"--otlp-token-file", "/dev/null"},
                                                {"--traces-token-file", "/dev/null"},
                                                {"--traces-size", "1Mi"},
                                                {"--traces-age", "0s"},
                                                {"--traces-age", "soon"}}) {
    std::vector<std::string> words = {"edge-standalone", "--data-dir", dir / "data"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Finished got = run_command(words);
    EXPECT_EQ(got.code, 2) << flags[0];
    EXPECT_THAT(got.err, HasSubstr(flags[0] + " takes"));
  }
  for (const std::string name : {"otlp", "traces"}) {
    const Finished open =
        run_command({"edge-standalone", "--data-dir", dir / "data", "--" + name + "-listen", "0.0.0.0:0"});
    EXPECT_EQ(open.code, 2);
    EXPECT_THAT(open.err, HasSubstr("--" + name + "-token-file is needed"));
  }
}

}  // namespace
}  // namespace edge::test
