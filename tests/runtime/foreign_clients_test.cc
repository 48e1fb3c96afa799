// Clients that share no code with us: curl, nghttp, h2load, wrk, over HTTP/1.1 and HTTP/2, in the clear and over TLS.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/process.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using test::Finished;

/// In the clear, and over TLS.
class ForeignClients : public ::testing::TestWithParam<bool> {
 protected:
  static bool secure() { return GetParam(); }

  void SetUp() override {
    upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kServe);
    upstream_->start({});
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
    const Result<Compiled> compiled =
        compile_text("foreign", expand_config("@gateway\n@backend a\n@route a\n", {{"a", upstream_->port()}},
                                              secure() ? Over::kTls : Over::kPlain));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    server_->set_secrets(compiled->secrets);
    ASSERT_TRUE(server_->install(compiled->program));
    port_ = std::to_string(server_->addresses()[0].port);
    files_.put("authority.pem", test_authority_pem());
    files_.put("body", std::string(300'000, 'b'));
  }
  void TearDown() override {
    server_.reset();
    stage_.abort();
  }

  std::string url(const std::string& host) const {
    return (secure() ? "https://" : "http://") + host + ":" + port_ + "/";
  }
  std::string address() const { return url("127.0.0.1"); }

  /// The version and status that curl met, and the body.
  std::string curl(const std::string& version, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"/usr/bin/curl", "--silent",
                                        "--show-error",  version,
                                        "--cacert",      files_ / "authority.pem",
                                        "--resolve",     "example.com:" + port_ + ":127.0.0.1",
                                        "--write-out",   " by %{http_version} %{response_code}"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(url("example.com"));
    const Finished done = test::run_command(command);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  }

  Stage stage_{60s};
  std::unique_ptr<Upstream> upstream_;
  std::unique_ptr<runtime::Server> server_;
  std::string port_;
  const test::TempDir files_;
};

bool missing(const char* program) { return ::access(program, X_OK) != 0; }

#define EDGE_NEEDS(program) \
  if (missing(program)) GTEST_SKIP() << (program) << " is not installed (script/packages.txt)"

TEST_P(ForeignClients, Curl) {
  EDGE_NEEDS("/usr/bin/curl");
  EXPECT_EQ(curl("--http1.1"), "a by 1.1 200");
  EXPECT_EQ(curl(secure() ? "--http2" : "--http2-prior-knowledge"), "a by 2 200");
  for (const std::string version : {"--http1.1", secure() ? "--http2" : "--http2-prior-knowledge"}) {
    EXPECT_TRUE(curl(version, {"--data-binary", "@" + (files_ / "body")}).starts_with("a by ")) << version;
    EXPECT_TRUE(curl(version, {"--head"}).ends_with(" 200")) << version;
  }
  // What it offers of itself: an Upgrade to h2c in the clear, which nobody has to take.
  EXPECT_TRUE(curl("--http2").ends_with(" 200"));
}

TEST_P(ForeignClients, Nghttp) {
  EDGE_NEEDS("/usr/bin/nghttp");
  const Finished done = test::run_command({"/usr/bin/nghttp", "--verbose", "--multiply=20", address()});
  EXPECT_EQ(done.code, 0) << done.err;
  std::size_t answers = 0;
  for (std::size_t at = 0; (at = done.out.find(":status: 200", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, 20U) << done.out;
}

TEST_P(ForeignClients, H2load) {
  EDGE_NEEDS("/usr/bin/h2load");
  const Finished done = test::run_command(
      {"/usr/bin/h2load", "--requests=4000", "--clients=8", "--max-concurrent-streams=16", address()});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("4000 succeeded, 0 failed, 0 errored, 0 timeout"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("status codes: 4000 2xx"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find(secure() ? "protocol: h2\n" : "protocol: h2c\n"), std::string::npos) << done.out;
}

TEST_P(ForeignClients, Wrk) {
  EDGE_NEEDS("/usr/bin/wrk");
  const Finished done =
      test::run_command({"/usr/bin/wrk", "--threads=1", "--connections=8", "--duration=1s", address()});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("Requests/sec:"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("Non-2xx"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("Socket errors"), std::string::npos) << done.out;
  EXPECT_GT(server_->stats().responses[2], 0U);
}

INSTANTIATE_TEST_SUITE_P(Over, ForeignClients, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Plain"; });

}  // namespace
}  // namespace edge::test
