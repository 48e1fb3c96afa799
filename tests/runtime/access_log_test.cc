// What a served request leaves in its gateway's access log, in each format, held against files; and what must stand in
// none of them.
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "program/log_format.h"
#include "tests/support/connection.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::string_view kTemplate =
    "%{status} %{reason} %{method} %{target} route=%{route} rule=%{rule} backend=%{backend} tries=%{attempts} "
    "%{bytes_in}/%{bytes_out} \"%{user_agent}\" 100%%";
/// Whatever the format, these stand in no line.
constexpr std::string_view kSecrets[] = {"hunter2", "s3cret-cookie", "dXNlcjpwYXNz", "Bearer", "top-token"};

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

/// Without what differs from run to run.
std::string steady(std::string text) {
  const std::pair<const char*, const char*> changes[] = {
      {R"re("time":"[^"]*")re", R"("time":"T")"},
      {R"re(\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\])re", "[T]"},
      {R"re("client_port":\d+)re", R"("client_port":P)"},
      {R"re(127\.0\.0\.1:\d+)re", "127.0.0.1:P"},
      {R"re(_ms":\d+\.\d{3})re", R"(_ms":N)"},
      {R"re("request_id":"[0-9a-f-]{36}")re", R"("request_id":"ID")"},
      {R"re(request_id=[0-9a-f-]{36})re", "request_id=ID"},
      {R"re(client_port=\d+)re", "client_port=P"},
      {R"re( time=\S+ time_common=\S+ \S+)re", " time=T time_common=T"},
      {R"re(_ms=\d+\.\d{3})re", "_ms=N"},
  };
  for (const auto& [pattern, with] : changes) text = std::regex_replace(text, std::regex(pattern), with);
  return text;
}

class AccessLogServed : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "access-log-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    upstream_.start({});
  }
  void TearDown() override {
    server_.reset();
    log_.reset();
    // It serves until then.
    stage_.abort();
    upstream_.join();
    fs::remove_all(directory_);
  }

  std::string path() const { return (directory_ / "log").string(); }

  void serve(const std::string& settings, const std::string& listener = "{name: http, port: 80, protocol: HTTP}",
             const std::string& log_path = {}) {
    auto log = runtime::AccessLog::open({.path = log_path.empty() ? path() : log_path}, {});
    ASSERT_TRUE(log) << log.error().text;
    log_ = std::move(*log);
    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    options.access_log = log_;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server) << server.error().text;
    server_ = std::move(*server);
    const std::string config =
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: web, namespace: default}\nspec:\n"
        "  listeners: [" +
        listener + "]\n  accessLog: " + settings +
        "\n@backend app\n@backend gone\n@certificate site\n"
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: shop, namespace: default}\nspec:\n"
        "  parentRefs: [{name: web}]\n  rules:\n" +
        rules_;
    const auto compiled =
        compile_text("log", expand_config(config, {{"app", upstream_.port()}, {"gone", dead_.port()}}));
    ASSERT_TRUE(compiled) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    server_->set_secrets(compiled->secrets);
    ASSERT_TRUE(server_->install(compiled->program));
  }

  /// One connection for each: what is refused ends its own.
  void ask(const std::string& request) {
    ASSERT_FALSE(server_->addresses().empty());
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    ASSERT_TRUE(fd);
    Connection connection(*fd, stage_.deadline());
    ASSERT_TRUE(connection.send(request));
    const Result<Message> head = connection.receive_head();
    ASSERT_TRUE(head) << head.error().text;
    ASSERT_TRUE(connection.receive_body(*head));
  }

  /// As a browser does, over TLS; `protocol` is what it offers by ALPN.
  void ask_encrypted(const std::string& protocol, const std::string& request) {
    ASSERT_FALSE(server_->addresses().empty());
    const std::uint16_t port = server_->addresses()[0].port;
    const auto side = test_client(std::string(kTestHost), protocol);
    std::unique_ptr<Http2Bridge> bridge;
    int fd = -1;
    if (protocol == "h2") {
      auto opened = Http2Bridge::open(port, fd, side.get());
      ASSERT_TRUE(opened) << opened.error().text;
      bridge = std::move(*opened);
    } else {
      const Result<int> dialled = Connection::dial(port);
      ASSERT_TRUE(dialled);
      fd = *dialled;
    }
    Connection connection(fd, stage_.deadline());
    if (bridge == nullptr) ASSERT_TRUE(connection.encrypt(side->over(fd)));
    ASSERT_TRUE(connection.send(request));
    const Result<Message> head = connection.receive_head();
    ASSERT_TRUE(head) << head.error().text;
    ASSERT_TRUE(connection.receive_body(*head));
  }

  /// Both protocols over TLS, forwarded and not.
  void ask_encrypted_everything() {
    for (const char* protocol : {"http/1.1", "h2"}) {
      ask_encrypted(protocol,
                    "POST /shop?id_token=hunter2&x=%22 HTTP/1.1\r\nHost: example.com\r\nContent-Length: "
                    "5\r\nCookie: a=s3cret-cookie\r\nUser-Agent: b c\r\nReferer: https://r/?sig=hunter2\r\n\r\nhello");
      ask_encrypted(protocol, "GET /missing HTTP/1.1\r\nHost: example.com\r\n\r\n");
    }
  }

  void ask_everything() {
    ask("GET /shop?item=7&access_token=hunter2 HTTP/1.1\r\nHost: Shop.Example:80\r\nCookie: a=s3cret-cookie\r\n"
        "Authorization: Bearer top-token\r\nUser-Agent: x\" \\ \xff\r\nReferer: "
        "http://u:hunter2@r/?code=hunter2\r\n\r\n");
    ask("POST /shop HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nAuthorization: Basic dXNlcjpwYXNz\r\n\r\nhello");
    ask("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    ask("GET /internal/x HTTP/1.1\r\nHost: a\r\n\r\n");
    ask("GET /gone HTTP/1.1\r\nHost: a\r\n\r\n");
    ask("GET /missing?token=hunter2 HTTP/1.0\r\nHost: a\r\n\r\n");
    ask("GET /x HTTP/1.1\r\nHost: a\r\nHost: hunter2\r\nCookie: s3cret-cookie\r\n\r\n");
  }

  /// Waits until as many lines are there.
  std::string lines(std::size_t count) {
    while (!stage_.deadline().over() && log_->counts().written + log_->counts().dropped_output < count) {
      std::this_thread::yield();
    }
    return content(path());
  }

  void expect_golden(const std::string& name, const std::string& text) {
    const std::string golden = "tests/runtime/access_log/" + name + ".txt";
    if (std::getenv("EDGE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << steady(text);
    EXPECT_EQ(steady(text), content(golden));
    for (const std::string_view secret : kSecrets) EXPECT_EQ(text.find(secret), std::string::npos) << secret << text;
    const std::string recent = log_->recent({});
    for (const std::string_view secret : kSecrets)
      EXPECT_EQ(recent.find(secret), std::string::npos) << secret << recent;
  }

  static constexpr std::size_t kLogged = 5;
  std::string rules_ =
      "    - {matches: [{path: {type: PathPrefix, value: /gone}}], backendRef: {name: gone}}\n"
      "    - {matches: [{path: {type: PathPrefix, value: /shop}}, {path: {type: PathPrefix, value: /health}}, {path: "
      "{type: "
      "PathPrefix, value: /internal}}], backendRef: {name: app}}\n";
  Stage stage_{40s};
  Upstream upstream_{stage_, "app", Upstream::Kind::kServe};
  Upstream dead_{stage_, "gone", Upstream::Kind::kDead};
  fs::path directory_;
  std::shared_ptr<runtime::AccessLog> log_;
  std::unique_ptr<runtime::Server> server_;
};

TEST_F(AccessLogServed, Json) {
  serve("{enabled: true, excludePaths: [/health, /internal/]}");
  ask_everything();
  expect_golden("json", lines(kLogged));
}

TEST_F(AccessLogServed, Common) {
  serve("{enabled: true, format: common, excludePaths: [/health, /internal/]}");
  ask_everything();
  expect_golden("common", lines(kLogged));
}

TEST_F(AccessLogServed, Combined) {
  serve("{enabled: true, format: combined, excludePaths: [/health, /internal/]}");
  ask_everything();
  expect_golden("combined", lines(kLogged));
}

TEST_F(AccessLogServed, Template) {
  serve("{enabled: true, format: '" + std::string(kTemplate) + "', excludePaths: [/health, /internal/]}");
  ask_everything();
  expect_golden("template", lines(kLogged));
}

constexpr const char* kEncrypted = "{name: https, port: 443, protocol: HTTPS, tls: {secretRef: {name: site}}}";

TEST_F(AccessLogServed, JsonOfEncryptedRequests) {
  serve("{enabled: true}", kEncrypted);
  ask_encrypted_everything();
  expect_golden("json-encrypted", lines(4));
}

TEST_F(AccessLogServed, ATemplateOfEveryField) {
  std::string all = "all";
  for (const std::string_view name : program::log_field_names()) {
    all += " " + std::string(name) + "=%{" + std::string(name) + "}";
  }
  serve("{enabled: true, format: '" + all + "'}", kEncrypted);
  ask_encrypted_everything();
  expect_golden("every-field", lines(4));
}

// Docs say which paths are covered.
TEST_F(AccessLogServed, PathsAreExcludedAsTheyAreMatched) {
  serve("{enabled: true, format: '%{target}', excludePaths: [/health, /internal/, '/a*']}");
  for (const char* target : {"/health", "/health?full=1", "/%68ealth", "/x/../health", "/internal/", "/internal/x/y",
                             "/internal//x", "/a*"}) {
    ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_EQ(log_->recent({}), "{\"next\":0,\"missed\":0}\n");
  const std::vector<std::string> logged = {"//health",  "/health/",   "/healthy", "/Health",
                                           "/internal", "/internals", "/ab"};
  std::string expected;
  for (const std::string& target : logged) {
    ask("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    expected += target + "\n";
  }
  EXPECT_EQ(lines(logged.size()), expected);
}

TEST_F(AccessLogServed, OffLeavesNothing) {
  serve("{enabled: false}");
  ask_everything();
  EXPECT_EQ(content(path()), "");
  EXPECT_EQ(log_->recent({}), "{\"next\":0,\"missed\":0}\n");
}

TEST_F(AccessLogServed, ATunnelHasALineAtItsEnd) {
  rules_ = "    - backendRef: {name: app}\n";
  serve("{enabled: true, format: '%{protocol} %{status} %{route} %{backend} %{attempts} %{bytes_in} %{reason}'}",
        "{name: tcp, port: 5432, protocol: TCP}");
  {
    const Result<int> fd = Connection::dial(server_->addresses()[0].port);
    ASSERT_TRUE(fd);
    Connection connection(*fd, stage_.deadline());
    ASSERT_TRUE(connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    const Result<Message> head = connection.receive_head();
    ASSERT_TRUE(head);
    ASSERT_TRUE(connection.receive_body(*head));
  }
  EXPECT_EQ(lines(1).substr(0, 43), "TCP 0 default/shop default/app 1 27 -\n");
}

// The lines are lost and counted; the requests do not notice.
TEST_F(AccessLogServed, AFullDiskHoldsNoRequest) {
  serve("{enabled: true}", "{name: http, port: 80, protocol: HTTP}", "/dev/full");
  for (int i = 0; i < 20; ++i) ask("GET /shop HTTP/1.1\r\nHost: a\r\n\r\n");
  lines(20);
  EXPECT_EQ(server_->stats().access_log.dropped_output, 20U);
  EXPECT_EQ(server_->stats().access_log.written, 0U);
}

}  // namespace
}  // namespace edge::test
