// The exporter over sockets: to the trace store by both of OTLP's ways, and to collectors that misbehave.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/observe/span_export.h"
#include "controller/traces/trace_server.h"
#include "edgectl/agents/web_client.h"
#include "net/socket.h"
#include "runtime/observe/trace/http_sender.h"
#include "runtime/observe/trace/span_text.h"
#include "tests/support/connection.h"
#include "tests/support/recording_server.h"

// c-ares 1.18, by which gRPC finds addresses, forgets ten bytes of each `localhost` that it is asked for. Read by
// LeakSanitizer where there is one.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares\n"; }

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using runtime::trace::Attributes;
using runtime::trace::Sent;
using runtime::trace::SpanBuffers;
using runtime::trace::SpanKind;
using testing::HasSubstr;

constexpr const char* kTrace = "0000000000000001000000000000000a";

std::string some_span(std::string_view name) {
  Attributes attributes;
  attributes.add("http.method", "GET");
  attributes.add("http.status_code", 502);
  std::string text;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  append_span({{1, 10}, 3, 0, SpanKind::kServer, name, now, now + 5'000'000, "connect-failed"}, attributes, text);
  return text;
}

class Export : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(directory_.data()), nullptr);
    traces::TraceServerOptions options;
    options.data_dir = directory_;
    options.otlp = options.queries = traces::TraceListen();
    auto server = traces::TraceServer::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::string endpoint() const { return GetParam() + server_->otlp_url().substr(server_->otlp_url().find("://")); }

  std::string directory_ = (std::filesystem::temp_directory_path() / "edge-export-XXXXXX").string();
  std::unique_ptr<traces::TraceServer> server_;
};

TEST_P(Export, SpansAreInTheStore) {
  const auto buffers = std::make_shared<SpanBuffers>();
  runtime::trace::SpanBuffer& buffer = buffers->add_thread();
  auto exporter = agent::start_span_export(
      {.endpoint = endpoint(), .fields = {{"Authorization", "Bearer x"}}, .instance = "one"}, buffers);
  ASSERT_TRUE(exporter.ok()) << exporter.error().text;
  buffer.add(some_span("GET shop"), 1);
  (*exporter)->stop();
  EXPECT_EQ((*exporter)->counts().exported, 1U);
  EXPECT_EQ((*exporter)->counts().refused, 0U);
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (server_->counts().spans_taken == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  const auto got = edgectl::web_get(server_->query_url() + "/api/traces/" + kTrace, {});
  ASSERT_TRUE(got.ok()) << got.error().text;
  for (const char* text : {"\"GET shop\"", "\"http.method\"", "\"edge-proxy\"", "\"service.instance.id\"", "\"one\"",
                           "\"host.name\"", "connect-failed", "\"duration\":5000"}) {
    EXPECT_THAT(got->body, HasSubstr(text));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Export, testing::Values("http", "grpc"));

/// Listens, and does with one connection after the other what it is told.
class Peer {
 public:
  Peer() {
    auto fd = net::listen_tcp(parse_ip("127.0.0.1"), 0);
    EXPECT_TRUE(fd.ok());
    listener_ = std::move(*fd);
    ::fcntl(listener_.get(), F_SETFL, 0);
  }
  std::uint16_t port() const { return net::local_address(listener_.get()).port; }
  /// Reads so many requests of one connection, and says `answer` to each. \returns the last one's head.
  test::Message serve(const std::string& answer, int requests = 1) {
    const int fd = ::accept(listener_.get(), nullptr, nullptr);
    test::Connection connection(fd, {std::chrono::steady_clock::now() + 20s});
    test::Message last;
    for (int i = 0; i < requests; ++i) {
      auto head = connection.receive_head();
      EXPECT_TRUE(head.ok());
      if (!head.ok()) break;
      EXPECT_TRUE(connection.receive_body(*head).ok());
      EXPECT_TRUE(connection.send(answer).ok());
      last = std::move(*head);
    }
    return last;
  }

 private:
  net::Fd listener_;
};

Sent send_to(std::uint16_t port, const std::string& path, std::chrono::milliseconds patience) {
  auto url = net::client::parse_url("http://127.0.0.1:" + std::to_string(port) + path);
  const auto sender = runtime::trace::make_http_sender(*url, {{"Authorization", "Bearer x"}}, nullptr);
  return sender->send({"mess", "age"}, std::chrono::steady_clock::now() + patience);
}

TEST(HttpSender, KnowsWhatToSendAgain) {
  const auto ask = [](const std::string& status, const std::string& fields) {
    Peer peer;
    auto sent = std::async(std::launch::async, [&] { return send_to(peer.port(), "", 20s); });
    const test::Message head = peer.serve("HTTP/1.1 " + status + "\r\n" + fields + "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(head.start_line, "POST /v1/traces HTTP/1.1");
    EXPECT_THAT(head.values("content-type"), testing::ElementsAre("application/x-protobuf"));
    EXPECT_THAT(head.values("authorization"), testing::ElementsAre("Bearer x"));
    return sent.get();
  };
  EXPECT_EQ(ask("200 OK", "").how, Sent::How::kTaken);
  EXPECT_EQ(ask("400 Bad Request", "").how, Sent::How::kRefused);
  EXPECT_EQ(ask("500 Internal Server Error", "").how, Sent::How::kRefused);
  EXPECT_EQ(ask("302 Found", "Location: /x\r\n").how, Sent::How::kRefused);
  for (const char* status : {"429 Too Many Requests", "502 Bad Gateway", "503 Unavailable", "504 Timeout"}) {
    const Sent later = ask(status, "Retry-After: 7\r\n");
    EXPECT_EQ(later.how, Sent::How::kLater) << status;
    EXPECT_EQ(later.after, 7s);
  }
  EXPECT_EQ(ask("503 Unavailable", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n").after, 0s);
  EXPECT_EQ(ask("503 Unavailable", "Retry-After: -1\r\n").after, 0s);
}

TEST(HttpSender, TakesTheEndpointsPath) {
  Peer peer;
  auto sent = std::async(std::launch::async, [&] { return send_to(peer.port(), "/otlp/traces", 20s); });
  EXPECT_EQ(peer.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").start_line, "POST /otlp/traces HTTP/1.1");
  EXPECT_EQ(sent.get().how, Sent::How::kTaken);
}

TEST(HttpSender, KeepsItsConnection) {
  Peer peer;
  const auto url = net::client::parse_url("http://127.0.0.1:" + std::to_string(peer.port()));
  const auto sender = runtime::trace::make_http_sender(*url, {}, nullptr);
  auto served =
      std::async(std::launch::async, [&] { return peer.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 2); });
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(sender->send({"mess", "age"}, std::chrono::steady_clock::now() + 20s).how, Sent::How::kTaken);
  }
  served.get();
}

// It went away while nothing was sent: that is no reason to wait, or to complain.
TEST(HttpSender, ReplacesAConnectionThatHasDied) {
  Peer peer;
  const auto url = net::client::parse_url("http://127.0.0.1:" + std::to_string(peer.port()));
  const auto sender = runtime::trace::make_http_sender(*url, {}, nullptr);
  for (int i = 0; i < 2; ++i) {
    auto served =
        std::async(std::launch::async, [&] { return peer.serve("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); });
    EXPECT_EQ(sender->send({"mess", "age"}, std::chrono::steady_clock::now() + 20s).how, Sent::How::kTaken);
    served.get();
  }
}

TEST(HttpSender, GivesASilentCollectorUp) {
  // The kernel takes the connection; nobody ever answers.
  Peer peer;
  const Sent sent = send_to(peer.port(), "", 50ms);
  EXPECT_EQ(sent.how, Sent::How::kLater);
  EXPECT_EQ(sent.why, "timeout");
}

TEST(GrpcSender, GivesASilentCollectorUp) {
  Peer peer;
  const auto buffers = std::make_shared<SpanBuffers>();
  runtime::trace::SpanBuffer& buffer = buffers->add_thread();
  std::promise<std::string> reported;
  auto exporter = agent::start_span_export({.endpoint = "grpc://127.0.0.1:" + std::to_string(peer.port()),
                                            .tell = [&](const std::string& line) { reported.set_value(line); }},
                                           buffers);
  ASSERT_TRUE(exporter.ok());
  buffer.add(some_span("GET"), 1);
  // The end waits for it about two seconds, whatever the collector does.
  (*exporter)->stop();
  EXPECT_THAT(reported.get_future().get(), HasSubstr("spans cannot be exported: gRPC status"));
  EXPECT_EQ((*exporter)->counts().at_end, 1U);
}

/// A collector under TLS, over HTTP and gRPC alike.
class SecureExport : public testing::TestWithParam<std::string> {
 protected:
  struct Sending {
    runtime::trace::SpanCounts counts;
    std::vector<std::string> reported;
  };
  /// A span to a collector with this certificate, by who believes `authority`.
  Sending send(const test::IssuedCertificate& certificate, const std::string& authority, int spans = 1) {
    test::RecordingServer collector(
        [](const net::server::Request& request) {
          const bool grpc = request.field("content-type").starts_with("application/grpc");
          net::server::Reply reply{.content_type = grpc ? "application/grpc" : "application/x-protobuf"};
          if (grpc) {
            reply.body = std::string(5, '\0');
            reply.trailers = {{"grpc-status", "0"}};
          }
          return reply;
        },
        &certificate);
    const auto buffers = std::make_shared<SpanBuffers>();
    runtime::trace::SpanBuffer& buffer = buffers->add_thread();
    Sending sending;
    std::atomic<int> faults = 0;
    auto exporter =
        agent::start_span_export({.endpoint = GetParam() + "://localhost:" + std::to_string(collector.port()),
                                  .fields = {{"Authorization", "Bearer s3cret"}},
                                  .authorities = authority,
                                  .tell =
                                      [&](const std::string& line) {
                                        sending.reported.push_back(line);
                                        ++faults;
                                      }},
                                 buffers);
    EXPECT_TRUE(exporter.ok());
    if (!exporter.ok()) return sending;
    for (int i = 0; i < spans; ++i) buffer.add(some_span("GET"), 1);
    // The first try is waited for: the end of a process gives a second, in which a busy machine makes no handshake.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while ((*exporter)->counts().exported == 0 && faults == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    (*exporter)->stop();
    sending.counts = (*exporter)->counts();
    asked_ = collector.requests(GetParam() == "https" ? "/v1/traces" : kExport);
    return sending;
  }

  static constexpr const char* kExport = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const test::TestAuthority authority_{"the collector's"};
  const test::TestAuthority other_{"somebody's"};
  std::vector<net::server::Request> asked_;
};

TEST_P(SecureExport, ACollectorThatIsBelieved) {
  const Sending sending = send(authority_.issue("localhost"), authority_.pem());
  EXPECT_EQ(sending.counts.exported, 1U);
  EXPECT_THAT(sending.reported, testing::IsEmpty());
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].field("authorization"), "Bearer s3cret");
}

TEST_P(SecureExport, OneThatAnotherAuthorityVouchesFor) {
  const Sending sending = send(other_.issue("localhost"), authority_.pem());
  EXPECT_EQ(sending.counts.exported, 0U);
  EXPECT_EQ(sending.counts.at_end, 1U);
  // Told once, however often it is tried.
  EXPECT_THAT(sending.reported, testing::ElementsAre(HasSubstr("spans cannot be exported")));
  EXPECT_THAT(asked_, testing::IsEmpty());
}

TEST_P(SecureExport, OneOfAnotherName) {
  const Sending sending = send(authority_.issue("elsewhere.example"), authority_.pem());
  EXPECT_EQ(sending.counts.exported, 0U);
  EXPECT_THAT(sending.reported, testing::ElementsAre(HasSubstr("spans cannot be exported")));
  EXPECT_THAT(asked_, testing::IsEmpty());
}

TEST_P(SecureExport, OneWhoseTimeIsOver) {
  const Sending sending =
      send(authority_.issue({.names = {"localhost"}, .lifetime = -std::chrono::hours(1)}), authority_.pem());
  EXPECT_EQ(sending.counts.exported, 0U);
  EXPECT_THAT(asked_, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Ways, SecureExport, testing::Values("https", "grpcs"));

TEST(SpanExport, RefusesEndpointsThatAreNone) {
  for (const char* endpoint : {"127.0.0.1:4318", "ftp://a", "grpc://a/path", "http://user:secret@a", "grpc://"}) {
    const auto exporter = agent::start_span_export({.endpoint = endpoint}, std::make_shared<SpanBuffers>());
    ASSERT_FALSE(exporter.ok()) << endpoint;
    EXPECT_EQ(exporter.error().text.find("secret"), std::string::npos);
  }
  EXPECT_EQ(*agent::start_span_export({}, nullptr), nullptr);
}

}  // namespace
}  // namespace edge::test
