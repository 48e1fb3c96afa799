// The trace store over sockets: OTLP in each of its forms, and what Jaeger's API says of it.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/traces/otlp/export_request.h"
#include "controller/traces/query_api.h"
#include "controller/traces/receiver.h"
#include "controller/traces/trace_server.h"
#include "net/server/gzip.h"
#include "tests/support/connection.h"
#include "tests/support/http2_bridge.h"
#include "tests/traces/sample.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;
using net::server::FieldList;
using test::Connection;
using test::Deadline;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kGrpcPath = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

Deadline soon() { return {std::chrono::steady_clock::now() + 20s}; }

std::string compressed(const std::string& body) {
  net::server::Reply reply{.body = body};
  net::server::compress(reply);
  return reply.body;
}

std::string grpc_frame(const std::string& message, char flag = '\0') {
  std::string out(1, flag);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift & 0xff);
  return out + message;
}

struct Got {
  std::string status;  ///< `200`
  std::string body;
  test::Message head;
};

class Traces : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(directory_.data()), nullptr);
    options_.data_dir = directory_;
    options_.otlp = options_.queries = traces::TraceListen();
    start();
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void start() {
    server_.reset();
    auto server = traces::TraceServer::start(options_);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(*server);
  }
  static std::uint16_t port_of(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  Got exchange(std::uint16_t port, const std::string& text) {
    const auto fd = Connection::dial(port);
    EXPECT_TRUE(fd.ok());
    Connection connection(*fd, soon());
    EXPECT_TRUE(connection.send(text).ok());
    auto head = connection.receive_head();
    if (!head.ok()) return {"none", head.error().text, {}};
    const auto body = connection.receive_body(*head);
    return {head->start_line.substr(9, 3), body.ok() ? *body : body.error().text, *head};
  }
  Got post(const std::string& body, const std::string& fields = "Content-Type: application/x-protobuf\r\n",
           const std::string& path = "/v1/traces") {
    return exchange(port_of(server_->otlp_url()), "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields +
                                                      "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                                                      body);
  }
  Got get(const std::string& target, const std::string& fields = "Host: 127.0.0.1\r\n") {
    return exchange(port_of(server_->query_url()), "GET " + target + " HTTP/1.1\r\n" + fields + "\r\n");
  }
  /// Asks until the answer holds `text`: writing is another thread's.
  Got get_until(const std::string& target, const std::string& text) {
    const Deadline deadline = soon();
    Got got = get(target);
    while (got.body.find(text) == std::string::npos && !deadline.over()) got = get(target);
    return got;
  }

  std::string directory_ = (std::filesystem::temp_directory_path() / "edge-traces-XXXXXX").string();
  traces::TraceServerOptions options_;
  std::unique_ptr<traces::TraceServer> server_;
};

TEST_F(Traces, TellsWhoHasTheToken) {
  options_.query_token = "a-long-enough-token";
  start();
  const auto asked = [&](const std::string& credentials) {
    return get("/api/services", "Host: 127.0.0.1\r\nAuthorization: " + credentials + "\r\n");
  };
  const Got refused = get("/api/services");
  EXPECT_EQ(refused.status, "401");
  EXPECT_THAT(refused.head.values("www-authenticate"), testing::ElementsAre(HasSubstr("Bearer")));
  EXPECT_EQ(asked("Bearer a-long-enough-token").status, "200");
  EXPECT_EQ(asked("bearer a-long-enough-token").status, "200");
  // base64 of `anybody:a-long-enough-token`.
  EXPECT_EQ(asked("Basic YW55Ym9keTphLWxvbmctZW5vdWdoLXRva2Vu").status, "200");
  for (const char* wrong : {"Bearer ", "Bearer a-long-enough-toke", "Bearer a-long-enough-token2",
                            "Basic YS1sb25nLWVub3VnaC10b2tlbg==", "Basic !", "a-long-enough-token", ""}) {
    EXPECT_EQ(asked(wrong).status, "401") << wrong;
  }
  // Spans are sent without.
  EXPECT_EQ(post(sample("checkout.otlp")).status, "200");
}

TEST_F(Traces, TakesFromWhoHasTheToken) {
  options_.otlp_token = "a-long-enough-token";
  start();
  const auto sent = [&](const std::string& fields) {
    return post(sample("checkout.otlp"), "Content-Type: application/x-protobuf\r\n" + fields).status;
  };
  EXPECT_EQ(sent(""), "401");
  EXPECT_EQ(sent("Authorization: Bearer another-long-enough-one\r\n"), "401");
  // Questions are asked without.
  EXPECT_THAT(get("/api/services").body, HasSubstr(R"("data":[])"));
  EXPECT_EQ(sent("Authorization: Bearer a-long-enough-token\r\n"), "200");
  EXPECT_THAT(get_until("/api/services", "cart").body, HasSubstr("cart"));
}

TEST_F(Traces, OpensNoPortToOthersWithoutAToken) {
  server_.reset();
  for (auto listen : {&traces::TraceServerOptions::otlp, &traces::TraceServerOptions::queries}) {
    traces::TraceServerOptions open = options_;
    open.*listen = traces::TraceListen{.address = std::nullopt};
    const auto server = traces::TraceServer::start(open);
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(Traces, AnswersOneWhoAsksByAnotherWay) {
  net::server::Request request;
  request.method = "GET";
  request.path = "/api/services";
  EXPECT_THAT(server_->ask(request).body, HasSubstr("\"data\":"));
  request.path = "/secret";
  EXPECT_EQ(server_->ask(request).status, 404);
  request.method = "POST";
  EXPECT_EQ(server_->ask(request).status, 405);
}

TEST_F(Traces, SaysWhatJaegerSays) {
  EXPECT_EQ(post(sample("checkout.otlp")).status, "200");
  const std::string path = std::string("/api/traces/") + kTrace;
  const Got got = get_until(path, "try 2");
  EXPECT_EQ(got.status, "200");
  EXPECT_THAT(got.head.values("content-type"), testing::ElementsAre("application/json"));
  // EDGE_UPDATE_TRACES=1 writes what was said; read the difference.
  if (std::getenv("EDGE_UPDATE_TRACES") != nullptr)
    std::ofstream(sample_path("checkout.jaeger.json")) << got.body << "\n";
  EXPECT_EQ(got.body + "\n", sample("checkout.jaeger.json"));
  EXPECT_EQ(get("/api/services").body, R"({"data":["cart","edge"],"total":2,"limit":0,"offset":0,"errors":null})");
  EXPECT_EQ(get("/api/services/cart/operations").body,
            R"({"data":["load"],"total":1,"limit":0,"offset":0,"errors":null})");
  EXPECT_EQ(get("/api/operations?service=cart&spanKind=server").body,
            R"({"data":[{"name":"load","spanKind":"server"}],"total":1,"limit":0,"offset":0,"errors":null})");
  // As the UI asks: start and end in microseconds, tags as JSON.
  const std::string when = "&start=1760000000000000&end=1760000001000000";
  EXPECT_THAT(get("/api/traces?service=edge&lookback=custom&limit=20" + when +
                  "&tags=%7B%22error%22%3A%22true%22%2C%22http.status_code%22%3A%22503%22%7D")
                  .body,
              HasSubstr(kTrace));
  EXPECT_THAT(get("/api/traces?service=edge&tag=http.status_code:504" + when).body, StartsWith(R"({"data":[],)"));
  EXPECT_THAT(get("/api/traces?service=edge&minDuration=12ms&maxDuration=13ms" + when).body, HasSubstr(kTrace));
  EXPECT_THAT(get("/api/traces?service=edge&minDuration=13ms" + when).body, StartsWith(R"({"data":[],)"));
  EXPECT_THAT(get("/api/traces?service=edge").body, StartsWith(R"({"data":[],)")) << "older than an hour";
  EXPECT_THAT(get(std::string("/api/traces?traceID=") + kTrace + "&traceID=1").body, HasSubstr("try 2"));
}

TEST_F(Traces, TakesEachForm) {
  const auto trace = [](std::uint64_t number) { return "/api/traces/" + std::to_string(number); };
  const std::string json_type = "Content-Type: application/json; charset=utf-8\r\n";
  const std::string protobuf = "Content-Type: application/x-protobuf\r\n";
  EXPECT_EQ(post(sample("checkout.otlp.json"), json_type).body, "{}");
  EXPECT_EQ(get_until(std::string("/api/traces/") + kTrace, "try 2").status, "200");
  EXPECT_EQ(post(compressed(request_bytes({span_bytes(2, 1, 5000)})), protobuf + "Content-Encoding: gzip\r\n").status,
            "200");
  EXPECT_EQ(get_until(trace(2), "work").status, "200");

  int script = -1;
  auto bridge = test::Http2Bridge::open(port_of(server_->otlp_url()), script);
  ASSERT_TRUE(bridge.ok());
  Connection connection(script, soon());
  const auto call = [&](const std::string& body, const std::string& path, const std::string& fields = "") {
    EXPECT_TRUE(connection
                    .send("POST " + path +
                          " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/grpc\r\nTE: " + "trailers\r\n" +
                          fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)
                    .ok());
    auto head = connection.receive_head();
    EXPECT_TRUE(head.ok());
    if (!head.ok()) return std::string();
    std::string reported;
    for (const std::string& value : head->values("grpc-status")) reported += "head " + value;
    if (!reported.empty()) {
      EXPECT_TRUE(connection.receive_body(*head).ok());
      return reported;
    }
    for (;;) {
      const auto chunk = connection.receive_chunk();
      EXPECT_TRUE(chunk.ok());
      if (!chunk.ok() || chunk->empty()) break;
      reported += *chunk;
    }
    const auto trailers = connection.receive_until("\r\n\r\n");
    return reported + (trailers.ok() ? *trailers : "");
  };
  EXPECT_EQ(call(grpc_frame(request_bytes({span_bytes(3, 1)})), kGrpcPath),
            std::string(5, '\0') + "grpc-status: 0\r\n\r\n");
  EXPECT_EQ(get_until(trace(3), "work").status, "200");
  EXPECT_EQ(
      call(grpc_frame(compressed(request_bytes({span_bytes(4, 1, 5000)})), '\1'), kGrpcPath, "Grpc-Encoding: gzip\r\n"),
      std::string(5, '\0') + "grpc-status: 0\r\n\r\n");
  EXPECT_EQ(get_until(trace(4), "work").status, "200");
  EXPECT_EQ(call(grpc_frame("x"), kGrpcPath), "head 3");
  EXPECT_EQ(call("x", kGrpcPath), "head 3");
  EXPECT_EQ(call(grpc_frame("x", '\1'), kGrpcPath), "head 12");
  EXPECT_EQ(call(grpc_frame(""), "/other.Service/Method"), "head 12");
  EXPECT_EQ(server_->counts().requests_refused, 4u);
}

TEST_F(Traces, TellsWhatItRefused) {
  const std::string bad = request_bytes({span_bytes(0, 1), span_bytes(5, 1), span_bytes(5, 0)});
  EXPECT_EQ(post(bad).body, otlp::response(2, "spans are malformed or over a limit"));
  EXPECT_EQ(get_until("/api/traces/5", "work").status, "200");
  EXPECT_EQ(server_->counts().spans_refused, 2u);

  EXPECT_EQ(post("\xff").status, "400");
  EXPECT_EQ(post("{", "Content-Type: application/json\r\n").status, "400");
  EXPECT_EQ(post("", "Content-Type: text/plain\r\n").status, "415");
  EXPECT_EQ(post("", "Content-Type: application/x-protobuf\r\nContent-Encoding: br\r\n").status, "415");
  EXPECT_EQ(post("no gzip", "Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n").status, "400");
  EXPECT_EQ(post("", "Content-Type: application/x-protobuf\r\n", "/v1/metrics").status, "404");
  const Got got = exchange(port_of(server_->otlp_url()), "GET /v1/traces HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(got.status, "405");
  EXPECT_THAT(got.head.values("allow"), testing::ElementsAre("POST"));
  EXPECT_EQ(server_->counts().requests_refused, 7u);
}

TEST_F(Traces, HoldsItsBounds) {
  options_.receiver.body = 1000;
  options_.receiver.unpacked = 5000;
  start();
  const std::string gzip = "Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n";
  const auto request_of = [](std::size_t size) {
    std::string bytes = request_bytes({span_bytes(6, 1, size - 200)});
    // An unknown field fills it up.
    while (bytes.size() < size) bytes += std::string("\x38\x01").substr(0, 2);
    return bytes.substr(0, size);
  };
  for (const auto& [size, status] : {std::pair{998, "200"}, {1000, "200"}, {1002, "413"}}) {
    EXPECT_EQ(post(request_of(static_cast<std::size_t>(size))).status, status) << size;
  }
  for (const auto& [size, status] : {std::pair{4998, "200"}, {5000, "200"}, {5002, "413"}}) {
    EXPECT_EQ(post(compressed(request_of(static_cast<std::size_t>(size))), gzip).status, status) << size;
  }
}

TEST_F(Traces, CountsWhatResourcesTakeWhileTheyWait) {
  auto writer = traces::TraceWriter::start({.path = directory_ + "/other.db", .queue_bytes = 100'000});
  ASSERT_TRUE(writer.ok());
  traces::Receiver receiver(**writer, {});
  // Small spans, each with a large resource of its own: six of them fit.
  net::server::Request request;
  request.method = "POST";
  request.path = "/v1/traces";
  request.fields = {{"content-type", "application/x-protobuf"}};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    ProtobufWriter out;
    {
      const auto resource_spans = out.message(1);
      {
        const auto resource = out.message(1);
        out.text(9, std::string(15'000, static_cast<char>('a' + i)));
      }
      const auto scope_spans = out.message(2);
      out.text(2, span_bytes(i, 1));
    }
    request.body += out.take();
  }
  const net::server::Reply reply = receiver.answer(request);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, otlp::response(14, "the store cannot write as fast as spans come"));
  EXPECT_EQ((*writer)->counts().spans_dropped, 14u);
}

TEST_F(Traces, IsNotForPagesOfOtherSites) {
  EXPECT_EQ(get("/api/services", "Host: localhost:16686\r\n").status, "200");
  EXPECT_EQ(get("/api/services", "Host: [::1]:16686\r\n").status, "200");
  EXPECT_EQ(get("/api/services", "Host: rebound.example\r\n").status, "403");
  EXPECT_EQ(get("/api/services", "Host: localhost\r\nOrigin: https://evil.example\r\n").status, "403");
  EXPECT_EQ(post("", "Content-Type: application/json\r\nOrigin: null\r\n").status, "403");
}

TEST_F(Traces, SaysWhatIsWrongWithAQuestion) {
  EXPECT_EQ(get("/api/traces/1").status, "404");
  EXPECT_THAT(get("/api/traces/1").body, HasSubstr(R"("errors":[{"code":404,"msg":"trace not found","traceID":)"));
  for (const char* target :
       {"/api/traces/x", "/api/traces?limit=x", "/api/traces?limit=0", "/api/traces?limit=-1", "/api/traces?start=1s",
        "/api/traces?lookback=x", "/api/traces?minDuration=5", "/api/traces?minDuration=2s&maxDuration=1s",
        "/api/traces?tags=1", "/api/traces?tags=%7B%22a%22%3A1%7D", "/api/traces?tag=a", "/api/traces?operation=a",
        "/api/traces?traceID=x", "/api/operations", "/api/traces?%", "/%zz", "/api/traces?end=-1",
        "/api/traces?end=-9223372036854775808", "/api/traces?lookback=2562047d"}) {
    EXPECT_EQ(get(target).status, "400") << target;
  }
  EXPECT_EQ(get("/").status, "404");
  const Got deleted =
      exchange(port_of(server_->query_url()), "DELETE /api/traces/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(deleted.status, "405");
  EXPECT_THAT(deleted.head.values("allow"), testing::ElementsAre("GET, HEAD"));
  EXPECT_EQ(get("/api/services//operations").status, "404");
}

TEST_F(Traces, RemembersOverAStart) {
  EXPECT_EQ(post(request_bytes({span_bytes(8, 1)})).status, "200");
  // What was taken is on the disk when it has ended.
  start();
  EXPECT_EQ(get("/api/traces/8").status, "200");
  EXPECT_EQ(server_->counts().traces, 1u);
}

TEST(TraceQueryText, ReadsWhatTheUiSends) {
  const auto query =
      traces::parse_trace_query({{"service", "edge"}, {"lookback", "2d"}, {"limit", "9999"}}, std::int64_t{1} << 50);
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->end_us - query->start_us, std::int64_t{48} * 3'600'000'000);
  EXPECT_EQ(query->limit, 1500u);
  FieldList many;
  for (int i = 0; i < 33; ++i) many.emplace_back("tag", "a:b");
  EXPECT_FALSE(traces::parse_trace_query(many, 0).ok());
  many.pop_back();
  EXPECT_TRUE(traces::parse_trace_query(many, 0).ok());
}

TEST(TraceListenText, IsReadOrRefused) {
  EXPECT_EQ(traces::parse_trace_listen("[::1]:4318")->port, 4318);
  EXPECT_FALSE(traces::parse_trace_listen(":1")->address);
  for (const char* text : {"", "4318", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x"}) {
    EXPECT_FALSE(traces::parse_trace_listen(text)) << text;
  }
}

}  // namespace
}  // namespace edge::test
