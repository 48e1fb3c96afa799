// Whoever is told of a trace is told of a span that is sent: services that policies ask, backends of copies and of
// refreshes behind a cache. And each parent in an export is in it, or is the client's.
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/trace_reader.h"
#include "tests/support/connection.h"
#include "tests/support/issuer.h"
#include "tests/support/proxy.h"
#include "tests/support/recording_server.h"
#include "tests/support/stage.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using net::server::Reply;
using net::server::Request;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kTrace = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* kClient = "b7ad6b7169203331";
const std::string kTraced = "traceparent: 00-" + std::string(kTrace) + "-" + kClient + "-01\r\ntracestate: a=b\r\n";
const std::string kUntraced = "traceparent: 00-" + std::string(kTrace) + "-" + kClient + "-00\r\n";

std::string policy(const std::string& type, const std::string& settings) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: who, namespace: default}\n"
         "spec:\n  type: " +
         type + "\n  targetRef: {kind: ProxyRoute, name: route-1}\n" + settings;
}

Reply json(std::string body) { return {.content_type = "application/json", .body = std::move(body)}; }

class TraceLinks : public testing::Test {
 protected:
  void start(const std::string& config, const std::map<std::string, std::uint16_t>& ports) {
    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    options.spans = buffers_;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server) << server.error().text;
    server_ = std::move(*server);
    const auto compiled = compile_text("links", expand_config(config, ports));
    ASSERT_TRUE(compiled) << compiled.error().text;
    server_->set_secrets(compiled->secrets);
    server_->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server_->install(compiled->program));
  }

  Message ask(const std::string& target, const std::string& fields = kTraced) {
    Connection connection(*Connection::dial(server_->addresses()[0].port), stage_.deadline());
    EXPECT_TRUE(connection.send("GET " + target + " HTTP/1.1\r\nHost: a.example\r\n" + fields + "\r\n"));
    const auto head = connection.receive_head();
    if (!head) {
      ADD_FAILURE() << head.error().text;
      return {};
    }
    EXPECT_TRUE(connection.receive_body(*head));
    return *head;
  }
  static std::string status(const Message& answer) { return answer.start_line.substr(9, 3); }

  /// What came so far, once there are so many spans.
  const std::vector<otlp::Span>& spans(std::size_t count) {
    while (buffers_->added() < count && !stage_.deadline().over()) std::this_thread::yield();
    for (otlp::Span& span : take_spans(*buffers_)) all_.push_back(std::move(span));
    EXPECT_EQ(all_.size(), count);
    return all_;
  }
  /// `SPAN < ITS PARENT < ...`, with `client` for the client's.
  std::string line(const std::string& id) const {
    if (id == kClient) return "client";
    for (const otlp::Span& span : all_) {
      if (hex(span.id) == id) return span.name + " < " + line(hex(span.parent));
    }
    return "nobody's";
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::set<std::string> ids;
    for (const otlp::Span& span : all_) {
      EXPECT_EQ(hex(span.trace), kTrace);
      EXPECT_TRUE(ids.insert(hex(span.id)).second) << "two of one id";
      found.push_back(line(hex(span.id)));
    }
    return found;
  }
  /// Whose span a request that was received tells of.
  std::string reported(const Request& request) const {
    const std::string_view text = request.field("traceparent");
    EXPECT_EQ(std::ranges::count(request.fields, "traceparent", &net::server::FieldList::value_type::first), 1);
    EXPECT_EQ(text.substr(0, 36), "00-" + std::string(kTrace) + "-");
    return text.size() == 55 ? line(std::string(text.substr(36, 16))) : "malformed";
  }

  Stage stage_{20s};
  std::shared_ptr<runtime::trace::SpanBuffers> buffers_ = std::make_shared<runtime::trace::SpanBuffers>();
  std::vector<otlp::Span> all_;
  std::string freshness_ = "no-store";  ///< read by the thread of the next
  RecordingServer backend_{[this](const Request&) {
    Reply reply{.body = "x"};
    reply.fields.emplace_back("Cache-Control", freshness_);
    return reply;
  }};
  /// Ends before those that it asks.
  std::unique_ptr<runtime::Server> server_;
};

TEST_F(TraceLinks, ForwardAuth) {
  const RecordingServer service;
  start("@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n@backend a\n@route a\n" +
            policy("ForwardAuth", "  forwardAuth: {address: '${url:auth}/check', cacheTTL: 60s}\n"),
        {{"a", backend_.port()}, {"auth", service.port()}});
  EXPECT_EQ(status(ask("/")), "200");
  spans(4);
  EXPECT_THAT(lines(), UnorderedElementsAre("call ForwardAuth < auth ForwardAuth < GET route-1 < client",
                                            "auth ForwardAuth < GET route-1 < client", "try < GET route-1 < client",
                                            "GET route-1 < client"));
  EXPECT_EQ(value_of(all_[0], "http.status_code"), "200");
  EXPECT_EQ(value_of(all_[0], "server.port"), std::to_string(service.port()));
  // Another trace is the same question: the answer is kept.
  EXPECT_EQ(status(ask("/", "b3: 0af7651916cd43dd8448eb211c80319c-05e3ac9a4f6e3b90-0\r\n")), "200");
  ASSERT_EQ(service.requests("/check").size(), 1U);
  const Request asked = service.requests("/check")[0];
  EXPECT_EQ(reported(asked), "call ForwardAuth < auth ForwardAuth < GET route-1 < client");
  EXPECT_EQ(asked.field("tracestate"), "a=b");
}

TEST_F(TraceLinks, WhoIsNotSampledIsToldOfAll) {
  const RecordingServer service;
  start("@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n@backend a\n@route a\n" +
            policy("ForwardAuth", "  forwardAuth: {address: '${url:auth}/check'}\n"),
        {{"a", backend_.port()}, {"auth", service.port()}});
  EXPECT_EQ(status(ask("/", kUntraced)), "200");
  ASSERT_EQ(service.requests("/check").size(), 1U);
  EXPECT_THAT(std::string(service.requests("/check")[0].field("traceparent")),
              testing::AllOf(HasSubstr(kTrace), testing::EndsWith("-00")));
  EXPECT_EQ(buffers_->added(), 0U);
}

TEST_F(TraceLinks, AServiceThatCannotBeAsked) {
  std::uint16_t gone = 0;
  {
    const RecordingServer service;
    gone = service.port();
  }
  start("@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n@backend a\n@route a\n" +
            policy("ForwardAuth", "  forwardAuth: {address: '${url:auth}/check'}\n"),
        {{"a", backend_.port()}, {"auth", gone}});
  EXPECT_EQ(status(ask("/")), "503");
  spans(3);
  EXPECT_EQ(all_[0].name, "call ForwardAuth");
  EXPECT_EQ(value_of(all_[0], "error.type"), "connect-failed");
}

TEST_F(TraceLinks, KeysThatARequestWaitsFor) {
  const SigningKey key("ES256", "one");
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  const RecordingServer keys([&](const Request&) {
    released.wait();
    return json(jwks({key.jwk()}));
  });
  start("@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n@backend a\n@route a\n" +
            policy("JWT",
                   "  jwt: {issuer: 'https://id.test', jwksUri: '${url:keys}/jwks', allowedAlgorithms: [ES256]}\n"),
        {{"a", backend_.port()}, {"keys", keys.port()}});
  const std::string token = key.token(R"({"iss":"https://id.test","exp":4102444800,"sub":"alice"})");
  auto asking =
      std::async(std::launch::async, [&] { return ask("/", kTraced + "Authorization: Bearer " + token + "\r\n"); });
  // It waits by then: its head has been read, and nothing else is under way.
  while (server_->stats().requests == 0 && !stage_.deadline().over()) std::this_thread::yield();
  release.set_value();
  EXPECT_EQ(status(asking.get()), "200");
  spans(4);
  EXPECT_THAT(lines(), testing::Contains("call keys < auth JWT < GET route-1 < client"));
  // That fetch was under way before anybody asked.
  ASSERT_EQ(keys.requests("/jwks").size(), 1U);
  EXPECT_FALSE(keys.requests("/jwks")[0].has("traceparent"));
}

TEST_F(TraceLinks, ALogin) {
  const SigningKey key("ES256", "one");
  std::string issuer;
  std::string nonce;
  const RecordingServer provider([&](const Request& request) {
    if (request.path == "/jwks") return json(jwks({key.jwk()}));
    if (request.path == "/userinfo") return json(R"({"sub":"alice","groups":["staff"]})");
    if (request.path == "/token") {
      const std::string claims = R"({"iss":")" + issuer + R"(","aud":"shop","sub":"alice","iat":1,"exp":4102444800,)" +
                                 R"("nonce":")" + nonce + R"("})";
      return json(R"({"access_token":"t","token_type":"Bearer","expires_in":300,"id_token":")" + key.token(claims) +
                  R"("})");
    }
    return json(R"({"issuer":")" + issuer + R"(","authorization_endpoint":")" + issuer +
                R"(/authorize","token_endpoint":")" + issuer + R"(/token","userinfo_endpoint":")" + issuer +
                R"(/userinfo","jwks_uri":")" + issuer +
                R"(/jwks","response_types_supported":["code"],"id_token_signing_alg_values_supported":["ES256"]})");
  });
  issuer = "http://127.0.0.1:" + std::to_string(provider.port());
  start(
      "@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n@backend a\n@route a\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: default}\nstringData:\n"
      "  client-secret: one\n  session-secret: 0123456789abcdef0123456789abcdef\n" +
          policy("OIDC", "  oidc:\n    issuerURL: " + issuer +
                             "\n    clientID: shop\n    clientSecretRef: {name: login}\n"
                             "    sessionSecretRef: {name: login}\n    forwardHeaders: [X-Auth-Groups]\n"
                             "    redirectURL: http://a.example/oauth2/callback\n"),
      {{"a", backend_.port()}});
  const Message sent = ask("/page", kTraced + "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\n");
  ASSERT_EQ(status(sent), "302");
  const std::string location = sent.values("location").at(0);
  const auto parameter = [&](const std::string& name) {
    const std::size_t from = location.find(name + "=") + name.size() + 1;
    return location.substr(from, location.find('&', from) - from);
  };
  nonce = parameter("nonce");
  std::string cookies;
  for (const std::string& cookie : sent.values("set-cookie")) {
    cookies += (cookies.empty() ? "Cookie: " : "; ") + cookie.substr(0, cookie.find(';'));
  }
  EXPECT_EQ(status(ask("/oauth2/callback?code=c0de&state=" + parameter("state"), kTraced + cookies + "\r\n")), "302");
  spans(buffers_->added() < 7 ? 7 : buffers_->added());
  EXPECT_THAT(lines(), testing::IsSupersetOf({"call discovery < auth OIDC < GET route-1 < client",
                                              "call token < auth OIDC < GET route-1 < client",
                                              "call userinfo < auth OIDC < GET route-1 < client"}));
  for (const char* path : {"/.well-known/openid-configuration", "/token", "/userinfo"}) {
    ASSERT_EQ(provider.requests(path).size(), 1U) << path;
    const Request asked = provider.requests(path)[0];
    EXPECT_THAT(reported(asked), testing::StartsWith("call ")) << path;
    // What others noted on the way is none of a stranger's business.
    EXPECT_FALSE(asked.has("tracestate")) << path;
  }
  for (const otlp::Span& span : all_) {
    for (const otlp::Attribute& attribute : span.attributes) {
      EXPECT_THAT(attribute.value.text, testing::Not(HasSubstr("c0de"))) << span.name << " " << attribute.key;
    }
  }
}

TEST_F(TraceLinks, ACopyOfWhatTheCacheAnswers) {
  const RecordingServer copy;
  freshness_ = "max-age=60";
  start(
      "@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n  cache: {enabled: true}\n@backend a\n@backend "
      "copy\n"
      "@route a filters: [{type: RequestMirror, requestMirror: {backendRef: {name: copy}}}]\n",
      {{"a", backend_.port()}, {"copy", copy.port()}});
  EXPECT_EQ(status(ask("/")), "200");
  spans(5);
  EXPECT_EQ(status(ask("/")), "200");
  spans(9);
  const std::string request = "GET route-1 < client";
  EXPECT_THAT(lines(), UnorderedElementsAre("cache < " + request, "try < " + request, request, "mirror < " + request,
                                            "try < mirror < " + request, "cache < " + request, request,
                                            "mirror < " + request, "try < mirror < " + request));
  ASSERT_EQ(backend_.requests("/").size(), 1U);
  EXPECT_EQ(reported(backend_.requests("/")[0]), "try < " + request);
  ASSERT_EQ(copy.requests("/").size(), 2U);
  for (const Request& asked : copy.requests("/")) EXPECT_EQ(reported(asked), "try < mirror < " + request);
}

TEST_F(TraceLinks, ARefreshBehindAStaleAnswer) {
  freshness_ = "max-age=0, stale-while-revalidate=60";
  start("@gateway\n  tracing: {enabled: true, trustIncoming: Always}\n  cache: {enabled: true}\n@backend a\n@route a\n",
        {{"a", backend_.port()}});
  EXPECT_EQ(status(ask("/")), "200");
  spans(3);
  EXPECT_EQ(status(ask("/")), "200");
  spans(7);
  const std::string request = "GET route-1 < client";
  EXPECT_THAT(lines(), UnorderedElementsAre("cache < " + request, "try < " + request, request, "cache < " + request,
                                            request, "refresh < " + request, "try < refresh < " + request));
  ASSERT_EQ(backend_.requests("/").size(), 2U);
  EXPECT_EQ(reported(backend_.requests("/")[1]), "try < refresh < " + request);
}

}  // namespace
}  // namespace edge::test
