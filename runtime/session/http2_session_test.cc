// Connections of HTTP/2 on real sockets, with frames made by hand: time, shutdown, streams beside each other. What is
// done to requests is tested by the cases of tests/runtime, which go over HTTP/2 too.
#include "runtime/session/http2_session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/http2/test_frames.h"
#include "runtime/session/server.h"
#include "runtime/session/test_program.h"

namespace edge::runtime {
namespace {

// The frames that every line of these tests is made of.
using namespace net::http2::testing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::backend_id;
using testing::loopback;
using testing::tcp_socket;
using testing::TestProgram;

constexpr std::uint32_t kCalm = 0xb;

/// A connection whose bytes a test reads and writes by itself. Every wait ends after 10 s.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  ~Peer() { ::close(fd_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(const std::string& bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  std::string read_until(std::string_view end) {
    while (unread_.find(end) == std::string::npos) {
      if (!fill()) return unread_ + "|end";
    }
    const std::string text = unread_.substr(0, unread_.find(end) + end.size());
    unread_.erase(0, text.size());
    return text;
  }
  /// The next frame; of type 255 at the end.
  Frame next() {
    for (;;) {
      const std::vector<Frame> frames = frames_of(unread_);
      if (!frames.empty()) {
        unread_.erase(0, 9 + frames[0].payload.size());
        return frames[0];
      }
      if (!fill()) return {255, 0, 0, {}};
    }
  }
  /// The next frame of that type; or the end.
  Frame next(std::uint8_t type) {
    Frame frame = next();
    while (frame.type != type && frame.type != 255) frame = next();
    return frame;
  }
  bool ended() { return next(254).type == 255; }

 private:
  bool fill() {
    char bytes[4096];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got > 0) unread_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }

  int fd_;
  std::string unread_;
};

class Http2SessionTest : public ::testing::Test {
 protected:
  Http2SessionTest() : upstream_(tcp_socket()) {
    sockaddr_in address = loopback(0);
    ::bind(upstream_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(upstream_, 100);
  }
  ~Http2SessionTest() override { ::close(upstream_); }

  void serve(milliseconds head_timeout = seconds(10), milliseconds keep_alive_timeout = seconds(10),
             const TestProgram& program = {}) {
    ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    options.head_timeout = head_timeout;
    options.keep_alive_timeout = keep_alive_timeout;
    server_ = std::move(Server::start(options).value());
    ASSERT_TRUE(server_->install(program.load()).ok());
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(upstream_, reinterpret_cast<sockaddr*>(&address), &size);
    program::EndpointSet endpoints;
    endpoints.backends.push_back(
        {backend_id("backend"), "test", "backend", {{*parse_ip("127.0.0.1"), ntohs(address.sin_port), true}}});
    server_->set_endpoints(endpoints);
  }
  std::unique_ptr<Peer> dial() {
    const int fd = tcp_socket();
    const sockaddr_in address = loopback(server_->addresses()[0].port);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return std::make_unique<Peer>(fd);
  }
  std::unique_ptr<Peer> accept() { return std::make_unique<Peer>(::accept(upstream_, nullptr, nullptr)); }

  int upstream_;
  std::unique_ptr<Server> server_;
};

TEST_F(Http2SessionTest, ServesStreamsBesideEachOther) {
  serve();
  const auto client = dial();
  client->send(preface() + headers(1, get("/slow")));
  const auto slow = accept();
  const std::string request = slow->read_until("\r\n\r\n");
  EXPECT_TRUE(request.starts_with("GET /slow HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("\r\nVia: 2 edge\r\n"), std::string::npos) << request;
  client->send(headers(3, post("/quick"), kEndHeaders) + frame(kData, kEndStream, 3, "body"));
  const auto quick = accept();
  EXPECT_NE(quick->read_until("\r\n0\r\n\r\n").find("4\r\nbody\r\n"), std::string::npos);
  quick->send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nquick");
  Frame data = client->next(kData);
  EXPECT_EQ(data.stream, 3U);
  EXPECT_EQ(data.payload, "quick");
  slow->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow");
  data = client->next(kData);
  EXPECT_EQ(data.stream, 1U);
  EXPECT_EQ(data.payload, "slow");
  EXPECT_EQ(server_->stats().connections_active, 1U) << "streams are no connections";
  EXPECT_EQ(server_->stats().requests, 2U);
}

TEST_F(Http2SessionTest, StreamsOfOneSourceAreBoundedOverItsConnections) {
  TestProgram program;
  program.limits.max_streams_per_source = 3;
  serve(seconds(10), seconds(10), program);
  const auto one = dial();
  one->send(preface() + headers(1, get("/1")) + headers(3, get("/2")));
  const auto first = accept();
  const auto second = accept();
  const auto other = dial();
  other->send(preface() + headers(1, get("/3")) + headers(3, get("/4")));
  const auto third = accept();
  EXPECT_TRUE(third->read_until("\r\n\r\n").starts_with("GET /3 "));
  Frame refused = other->next(kRstStream);
  EXPECT_EQ(refused.stream, 3U);
  EXPECT_EQ(refused.number_at(0), 7U) << "REFUSED_STREAM: it may be sent again";
  // When the first connection has no stream any more, its part is the other's.
  for (const auto* peer : {&first, &second}) (*peer)->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(one->next(kData).payload + one->next(kData).payload, "okok");
  // Answered by the proxy itself.
  const Fields trace = {{":method", "TRACE"}, {":scheme", "http"}, {":authority", "example.com"}, {":path", "/"}};
  std::uint32_t id = 5;
  for (bool again = true; again && id < 20'000; id += 2) {
    other->send(headers(id, trace));
    Frame answer = other->next();
    while (answer.type != kRstStream && answer.type != kHeaders && answer.type != 255) answer = other->next();
    ASSERT_NE(answer.type, 255);
    again = answer.type == kRstStream;
  }
  EXPECT_LT(id, 20'000U);
}

TEST_F(Http2SessionTest, TakesAPrefaceThatComesByteByByte) {
  serve();
  const auto client = dial();
  for (const char byte : preface() + headers(1, get("/"))) client->send(std::string(1, byte));
  accept()->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(client->next(kData).payload, "ok");
}

TEST_F(Http2SessionTest, AClientThatGoesTakesItsUpstreamsAlong) {
  serve();
  auto client = dial();
  client->send(preface() + headers(1, get("/")) + headers(3, get("/")));
  const auto one = accept();
  const auto two = accept();
  one->read_until("\r\n\r\n");
  two->read_until("\r\n\r\n");
  client->send(frame(kRstStream, kNone, 1, number(8)));
  EXPECT_TRUE(one->read_until("\r\n\r\n|").ends_with("|end"));
  client.reset();
  EXPECT_TRUE(two->read_until("\r\n\r\n|").ends_with("|end"));
}

TEST_F(Http2SessionTest, ATruncatedAnswerResetsItsStreamAlone) {
  serve();
  const auto client = dial();
  client->send(preface() + headers(1, get("/")));
  {
    const auto upstream = accept();
    upstream->read_until("\r\n\r\n");
    upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  }
  const Frame reset = client->next(kRstStream);
  EXPECT_EQ(reset.stream, 1U);
  EXPECT_EQ(reset.number_at(0), 2U) << "INTERNAL_ERROR";
  client->send(headers(3, get("/")));
  accept()->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(client->next(kData).payload, "ok");
}

// RFC 8441: to the backend it is an upgrade of HTTP/1.1.
TEST_F(Http2SessionTest, CarriesAWebSocketOnAStream) {
  serve();
  const auto client = dial();
  const Fields chat = {{":method", "CONNECT"},         {":protocol", "websocket"}, {":scheme", "http"},
                       {":authority", "example.com"},  {":path", "/chat"},         {"sec-websocket-version", "13"},
                       {"sec-websocket-protocol", "a"}};
  client->send(preface() + headers(1, chat, kEndHeaders) + headers(3, get("/beside")));
  auto one = accept();
  auto two = accept();
  std::string request = one->read_until("\r\n\r\n");
  std::string beside = two->read_until("\r\n\r\n");
  if (!request.starts_with("GET /chat ")) {
    std::swap(one, two);
    std::swap(request, beside);
  }
  EXPECT_TRUE(request.starts_with("GET /chat HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("Upgrade: websocket\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("sec-websocket-protocol: a\r\n"), std::string::npos) << request;
  one->send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: a\r\n\r\nhello");
  Frame frame_got = client->next(kData);
  EXPECT_EQ(frame_got.stream, 1U);
  EXPECT_EQ(frame_got.payload, "hello");
  client->send(frame(kData, kNone, 1, "from the client"));
  EXPECT_EQ(one->read_until("client"), "from the client") << "after the head nothing but its bytes";
  one->send("from the backend");
  EXPECT_EQ(client->next(kData).payload, "from the backend");
  client->send(frame(kData, kEndStream, 1));
  one.reset();
  EXPECT_EQ(client->next(kData).flags, kEndStream);
}

// ---- Time ---------------------------------------------------------------------------------------------------------

TEST_F(Http2SessionTest, AnIdleConnectionIsToldToGo) {
  serve(seconds(10), milliseconds(100));
  const auto client = dial();
  client->send(preface() + headers(1, get("/")));
  accept()->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  client->next(kData);
  const Frame goaway = client->next(kGoAway);
  EXPECT_EQ(goaway.number_at(0), 1U);
  EXPECT_EQ(goaway.number_at(4), 0U) << "NO_ERROR";
  EXPECT_TRUE(client->ended());
}

TEST_F(Http2SessionTest, AConnectionThatAsksForNothingGoesSooner) {
  serve(milliseconds(100));
  const auto client = dial();
  client->send(preface());
  EXPECT_EQ(client->next(kGoAway).number_at(4), 0U);
  EXPECT_TRUE(client->ended());
}

TEST_F(Http2SessionTest, AHeadThatIsNeverCompleteIsAFlood) {
  serve(milliseconds(100));
  const auto client = dial();
  client->send(preface() + headers(1, get("/"), kNone));
  EXPECT_EQ(client->next(kGoAway).number_at(4), kCalm);
  EXPECT_TRUE(client->ended());
}

TEST_F(Http2SessionTest, AMalformedRequestEndsNoOtherStream) {
  serve(milliseconds(100));
  const auto client = dial();
  client->send(preface() + headers(1, get("/slow")));
  const auto upstream = accept();
  upstream->read_until("\r\n\r\n");
  client->send(headers(3, {{":method", "GET"}}));
  EXPECT_EQ(client->next(kRstStream).stream, 3U);
  // A head that began later runs into its time first.
  const auto other = dial();
  other->send(preface() + headers(1, get("/"), kNone));
  EXPECT_EQ(other->next(kGoAway).number_at(4), kCalm);
  upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow");
  EXPECT_EQ(client->next(kData).payload, "slow");
}

TEST_F(Http2SessionTest, AWindowThatStaysShutIsAFlood) {
  serve(seconds(10), milliseconds(100));
  const auto client = dial();
  client->send(preface(setting(4, 0)) + headers(1, get("/")));
  accept()->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(client->next(kGoAway).number_at(4), kCalm);
  EXPECT_TRUE(client->ended());
}

// ---- Shutdown -----------------------------------------------------------------------------------------------------

TEST_F(Http2SessionTest, DrainsInTwoSteps) {
  serve();
  auto client = dial();
  client->send(preface() + headers(1, get("/")));
  const auto upstream = accept();
  upstream->read_until("\r\n\r\n");
  bool drained = false;
  std::thread drain([&] { drained = server_->drain(seconds(10)); });
  EXPECT_EQ(client->next(kGoAway).number_at(0), 0x7fffffffU);
  client->send(headers(3, get("/on-its-way")) + frame(kPing, kAck, 0, "shutdown"));
  const auto late = accept();
  late->read_until("\r\n\r\n");
  EXPECT_EQ(client->next(kGoAway).number_at(0), 3U);
  upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
  EXPECT_EQ(client->next(kData).payload, "one");
  late->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
  EXPECT_EQ(client->next(kData).payload, "two");
  EXPECT_TRUE(client->ended());
  client.reset();
  drain.join();
  EXPECT_TRUE(drained);
}

TEST_F(Http2SessionTest, AnIdleConnectionDrainsAtOnce) {
  serve();
  auto client = dial();
  client->send(preface());
  EXPECT_EQ(client->next().type, kSettings);
  std::thread drain([&] { EXPECT_TRUE(server_->drain(seconds(10))); });
  client->send(frame(kPing, kAck, 0, "shutdown"));
  EXPECT_EQ(client->next(kGoAway).number_at(0), 0x7fffffffU);
  EXPECT_EQ(client->next(kGoAway).number_at(0), 0U);
  EXPECT_TRUE(client->ended());
  client.reset();
  drain.join();
}

TEST_F(Http2SessionTest, AServerThatStopsLeavesNobodyWaiting) {
  serve();
  const auto client = dial();
  client->send(preface() + headers(1, get("/")) + headers(3, post("/"), kEndHeaders));
  const auto one = accept();
  one->read_until("\r\n\r\n");
  server_.reset();
  EXPECT_TRUE(client->ended());
}

}  // namespace
}  // namespace edge::runtime
