// The spans that served requests leave, read by the trace store's reader: who stands below whom, what they say, what
// they never say. Over HTTP/1.1 and HTTP/2.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/trace_reader.h"
#include "tests/support/connection.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSampled = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
constexpr std::string_view kNotSampled = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n";

class TracedRequests : public testing::TestWithParam<int> {
 protected:
  void start(const std::string& tracing, const std::string& gateway = {}, const std::string& rule = {}) {
    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    options.spans = buffers_;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server) << server.error().text;
    server_ = std::move(*server);
    const std::string config =
        "@gateway\n  tracing: " + tracing + "\n" + gateway + "@backend a\n@backend gone\n@backend torn\n" +
        "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\n"
        "metadata: {name: shop, namespace: default}\nspec:\n  parentRefs: [{name: edge}]\n  rules:\n"
        "    - matches: [{path: {type: PathPrefix, value: /gone}}]\n"
        "      backendRefs: [{name: gone}]\n"
        "    - matches: [{path: {type: PathPrefix, value: /torn}}]\n"
        "      backendRefs: [{name: torn}]\n"
        "    - matches: [{path: {type: PathPrefix, value: /a}}]\n"
        "      backendRefs: [{name: a}]\n" +
        rule;
    const auto compiled = compile_text(
        "traced", expand_config(config, {{"a", upstream_.port()}, {"gone", dead_.port()}, {"torn", torn_.port()}}));
    ASSERT_TRUE(compiled) << compiled.error().text;
    server_->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server_->install(compiled->program));
  }
  void SetUp() override { upstream_.start({}); }
  void TearDown() override {
    server_.reset();
    stage_.abort();
    upstream_.join();
    torn_.join();
  }

  /// \returns the answer's status line.
  std::string ask(const std::string& target, std::string_view fields = {}, const std::string& host = "a.example") {
    const std::uint16_t port = server_->addresses()[0].port;
    int fd = -1;
    std::unique_ptr<Http2Bridge> bridge;
    if (GetParam() == 2) {
      auto opened = Http2Bridge::open(port, fd);
      EXPECT_TRUE(opened) << opened.error().text;
      bridge = std::move(*opened);
    } else {
      fd = *Connection::dial(port);
    }
    Connection connection(fd, stage_.deadline());
    EXPECT_TRUE(
        connection.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + std::string(fields) + "\r\n"));
    const auto head = connection.receive_head();
    // A stream may be reset before anybody has read its head.
    const bool torn = target == "/torn";
    if (!head) {
      EXPECT_TRUE(torn) << head.error().text;
      return {};
    }
    EXPECT_EQ(connection.receive_body(*head).ok(), !torn);
    return head->start_line.substr(9, 3);
  }

  /// What came since the last time, `count` at the least, each span behind those that it waited for. A request's own
  /// comes when its client may have its answer already.
  std::vector<otlp::Span> spans(std::size_t count) {
    seen_ += count;
    while (buffers_->added() < seen_ && !stage_.deadline().over()) std::this_thread::yield();
    return take_spans(*buffers_);
  }
  /// A line a span: `NAME STATUS ERROR`, indented below the request's.
  static std::vector<std::string> lines(const std::vector<otlp::Span>& all) {
    std::vector<std::string> text;
    for (const otlp::Span& span : all) {
      std::string line = span.kind == 2 ? "" : "  ";
      line += span.name + " " + value_of(span, "http.status_code");
      if (span.status == otlp::StatusCode::kError) line += " " + span.status_message;
      text.push_back(std::move(line));
    }
    return text;
  }

  std::size_t seen_ = 0;
  Stage stage_{20s};
  Upstream upstream_{stage_, "a", Upstream::Kind::kServe};
  Upstream dead_{stage_, "gone", Upstream::Kind::kDead};
  Upstream torn_{stage_, "torn", Upstream::Kind::kScript};
  std::shared_ptr<runtime::trace::SpanBuffers> buffers_ = std::make_shared<runtime::trace::SpanBuffers>();
  std::unique_ptr<runtime::Server> server_;
};

TEST_P(TracedRequests, ARequestAndItsTry) {
  start("{enabled: true}");
  ASSERT_EQ(ask("/a/b?token=s3cret", std::string(kSampled) + "Authorization: Bearer hunter2\r\nCookie: c=s3cret\r\n"
                                                             "User-Agent: test\r\n"),
            "200");
  const std::vector<otlp::Span> all = spans(2);
  ASSERT_THAT(lines(all), ElementsAre("  try 200", "GET shop 200"));
  const otlp::Span& request = all[1];
  const otlp::Span& attempt = all[0];
  EXPECT_EQ(hex(request.trace), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(hex(request.parent), "b7ad6b7169203331");
  EXPECT_EQ(attempt.trace, request.trace);
  EXPECT_EQ(attempt.parent, request.id);
  EXPECT_EQ(attempt.kind, 3);
  EXPECT_LE(request.start_ns, attempt.start_ns);
  EXPECT_LE(attempt.start_ns, attempt.end_ns);
  EXPECT_LE(attempt.end_ns, request.end_ns);
  const std::pair<const char*, const char*> wanted[] = {
      {"http.method", "GET"},
      {"http.request.method", "GET"},
      {"http.response.status_code", "200"},
      {"url.path", "/a/b"},
      {"url.scheme", "http"},
      {"server.address", "a.example"},
      {"client.address", "127.0.0.1"},
      {"network.protocol.version", GetParam() == 2 ? "2" : "1.1"},
      {"user_agent.original", "test"},
      {"edge.gateway", "default/edge"},
      {"edge.route", "default/shop"},
      {"edge.rule", "2"},
      {"edge.backend", "default/a"},
      {"http.response.body.size", "1"},
  };
  for (const auto& [name, value] : wanted) EXPECT_EQ(value_of(request, name), value) << name;
  EXPECT_EQ(value_of(attempt, "server.address"), "127.0.0.1");
  EXPECT_EQ(value_of(attempt, "server.port"), std::to_string(upstream_.port()));
  EXPECT_EQ(value_of(attempt, "edge.attempt"), "1");
  for (const otlp::Span& span : all) {
    for (const otlp::Attribute& attribute : span.attributes) {
      EXPECT_THAT(attribute.value.text, Not(HasSubstr("s3cret")));
      EXPECT_THAT(attribute.value.text, Not(HasSubstr("hunter2")));
    }
  }
}

TEST_P(TracedRequests, EveryTryOfARequest) {
  start("{enabled: true}", {},
        "    - matches: [{path: {type: PathPrefix, value: /again}}]\n      backendRefs: [{name: a}]\n"
        "      retry: {maxRetries: 2, retryOn: [5xx]}\n");
  upstream_.answer_with(503);
  ASSERT_EQ(ask("/again"), "503");
  const std::vector<otlp::Span> all = spans(4);
  EXPECT_THAT(lines(all), ElementsAre("  try 503 503", "  try 2 503 503", "  try 3 503 503", "GET shop 503 503"));
  EXPECT_EQ(value_of(all[2], "http.request.resend_count"), "2");
  EXPECT_NE(all[0].id, all[1].id);
}

TEST_P(TracedRequests, WhatFails) {
  start("{enabled: true}");
  ASSERT_EQ(ask("/gone"), "502");
  ASSERT_EQ(ask("/nothing"), "404");
  const std::vector<otlp::Span> all = spans(3);
  EXPECT_THAT(lines(all), ElementsAre("  try - connect-failed", "GET shop 502 connect-failed", "GET 404"));
  EXPECT_EQ(value_of(all[0], "server.port"), std::to_string(dead_.port()));
  EXPECT_EQ(value_of(all[1], "error.type"), "connect-failed");
  EXPECT_EQ(value_of(all[2], "edge.reason"), "no-route");
  EXPECT_EQ(value_of(all[2], "edge.gateway"), "default/edge");
}

TEST_P(TracedRequests, AnAnswerThatIsBrokenOff) {
  start("{enabled: true}");
  torn_.start({{1, "accept", "", "", false},
               {2, "head", "GET /torn HTTP/1.1", "", false},
               {3, "send", R"("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")", "", false},
               {4, "close", "", "", false}});
  ask("/torn");
  EXPECT_THAT(lines(spans(2)), ElementsAre("  try 200 truncated", "GET shop 200 truncated"));
}

TEST_P(TracedRequests, TheCache) {
  start("{enabled: true}", "  cache: {enabled: true, defaultTTL: 60s}\n");
  ASSERT_EQ(ask("/a"), "200");
  ASSERT_EQ(ask("/a"), "200");
  const std::vector<otlp::Span> all = spans(5);
  ASSERT_GE(all.size(), 4U);
  EXPECT_EQ(all[0].name, "cache");
  EXPECT_EQ(value_of(all[0], "edge.cache.outcome"), "forward");
  EXPECT_EQ(all[1].name, "try");
  EXPECT_EQ(all[3].name, "cache");
}

TEST_P(TracedRequests, TheSendersDecisionGoesBeforeTheRate) {
  start("{enabled: true, samplingRate: 0, trustIncoming: Always}");
  ask("/a");
  ask("/a", kSampled);
  EXPECT_THAT(lines(spans(2)), ElementsAre("  try 200", "GET shop 200"));
}

TEST_P(TracedRequests, TheSendersRefusalToo) {
  start("{enabled: true, samplingRate: 100, trustIncoming: Always}");
  ask("/a", kNotSampled);
  ask("/a", "b3: 0\r\n");
  ask("/a", "X-B3-Sampled: 0\r\n");
  ask("/a");
  EXPECT_THAT(lines(spans(2)), ElementsAre("  try 200", "GET shop 200"));
}

TEST_P(TracedRequests, AGatewayThatDoesNotTraceLeavesNothing) {
  start("{enabled: false}");
  ask("/a", kSampled);
  EXPECT_TRUE(server_->drain(20s));
  EXPECT_EQ(buffers_->added(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Http, TracedRequests, testing::Values(1, 2));

}  // namespace
}  // namespace edge::test
