// A real browser's WebSocket through the proxy: over HTTP/1.1 by an Upgrade, and over TLS, where Chromium speaks HTTP/2
// and opens it by an extended CONNECT (RFC 8441).
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/browser/echo_site.h"
#include "tests/cli/process.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

constexpr const char* kChromium = "/usr/bin/chromium";

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kChromium)) GTEST_SKIP() << "chromium is not installed";
  }

  /// Sends the browser to the site through the proxy, and gives what its page reports.
  std::string visit(Over over) {
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    EXPECT_TRUE(server.ok());
    const auto compiled = compile_text(
        "browser", expand_config("@gateway\n@backend site\n@route site\n", {{"site", site_.port()}}, over));
    if (!compiled.ok()) return compiled.error().text;
    (*server)->set_secrets(compiled->secrets);
    (*server)->set_endpoints(compiled->endpoints);
    EXPECT_TRUE((*server)->install(compiled->program).ok());
    const std::string scheme = over == Over::kPlain ? "http" : "https";
    const test::TempDir profile;
    test::Process chromium({kChromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--no-first-run", "--disable-background-networking", "--ignore-certificate-errors",
                            "--user-data-dir=" + profile.path().string(),
                            scheme + "://127.0.0.1:" + std::to_string((*server)->addresses()[0].port) + "/"});
    return site_.report(std::chrono::seconds(50));
  }

  EchoSite site_;
};

constexpr const char* kAllIsWell = "text=1&bytes=1&clean=true&code=1000";

TEST_F(Browser, SpeaksWebSocketOverHttp1) {
  EXPECT_EQ(visit(Over::kPlain), kAllIsWell);
  EXPECT_EQ(site_.via(), "1.1 edge");
}

TEST_F(Browser, SpeaksWebSocketOverHttp2) {
  EXPECT_EQ(visit(Over::kTls), kAllIsWell);
  EXPECT_EQ(site_.via(), "2 edge");
}

}  // namespace
}  // namespace edge::test
