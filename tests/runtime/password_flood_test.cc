// While passwords are guessed on one route the others are served, by the one worker that there is. Nothing here
// measures time: the others' answers come while the guesses still wait for theirs.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

constexpr int kGuesses = 8;
constexpr int kOthers = 50;

/// htpasswd -nbB -C 13 alice secret: half a second each, on a core of its own.
constexpr const char* kConfig = R"(@gateway
@backend a
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: open, namespace: default}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: [{path: {value: /open}}], backendRef: {name: a}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: shut, namespace: default}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: [{path: {value: /shut}}], backendRef: {name: a}}]
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
stringData: {htpasswd: 'alice:$2y$13$ofptqiUzwjGQpav0U9UWxeG2BO3wjDEy2DaXZfFwk2L2js20jMk5u'}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyPolicy
metadata: {name: login, namespace: default}
spec:
  type: BasicAuth
  targetRef: {kind: ProxyRoute, name: shut}
  basicAuth: {secretRef: {name: users}}
)";

TEST(PasswordFlood, OtherRoutesGoOn) {
  Stage stage(std::chrono::seconds(60));
  Upstream upstream(stage, "a", Upstream::Kind::kServe);
  upstream.start({});
  runtime::ServerOptions options;
  options.threads = 1;
  options.ephemeral_ports = true;
  auto server = runtime::Server::start(options);
  ASSERT_TRUE(server.ok());
  const auto compiled = compile_text("flood", expand_config(kConfig, {{"a", upstream.port()}}));
  ASSERT_TRUE(compiled.ok()) << compiled.error().text;
  (*server)->set_secrets(compiled->secrets);
  (*server)->set_endpoints(compiled->endpoints);
  ASSERT_TRUE((*server)->install(compiled->program).ok());
  const std::uint16_t port = (*server)->addresses().front().port;
  const auto dial = [&] { return std::make_unique<Connection>(*Connection::dial(port), stage.deadline()); };

  std::vector<std::unique_ptr<Connection>> guesses;
  for (int i = 0; i < kGuesses; ++i) {
    guesses.push_back(dial());
    const std::string credentials = to_base64("alice:guess " + std::to_string(i));
    ASSERT_TRUE(
        guesses.back()->send("GET /shut HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " + credentials + "\r\n\r\n"));
  }
  const std::unique_ptr<Connection> other = dial();
  for (int i = 0; i < kOthers; ++i) {
    ASSERT_TRUE(other->send("GET /open HTTP/1.1\r\nHost: x\r\n\r\n"));
    const auto head = other->receive_head();
    ASSERT_TRUE(head.ok()) << head.error().text;
    EXPECT_THAT(head->start_line, testing::StartsWith("HTTP/1.1 200 "));
    ASSERT_TRUE(other->receive_body(*head).ok());
  }
  // The last one asked last, and its check takes longer than all of the others' answers.
  EXPECT_TRUE(guesses.back()->expect_quiet().ok());
  const auto first = guesses.front()->receive_head();
  ASSERT_TRUE(first.ok()) << first.error().text;
  // 503 where the machine is so busy that the check is given up.
  EXPECT_THAT(first->start_line, testing::AnyOf("HTTP/1.1 401 Unauthorized", "HTTP/1.1 503 Service Unavailable"));
  server->reset();
  stage.abort();
  upstream.join();
}

}  // namespace
}  // namespace edge::test
