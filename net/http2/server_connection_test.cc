// A connection without sockets: frames in, frames out, and streams as sessions see them.
#include "net/http2/server_connection.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http2/test_frames.h"
#include "net/loop.h"

namespace edge::net::http2 {
namespace {

// The frames that every line of these tests is made of.
using namespace testing;

constexpr std::uint32_t kEnhanceYourCalm = 0xb;
constexpr std::uint32_t kProtocolError = 1;

class ServerConnectionTest : public ::testing::Test, public ServerConnection::Owner {
 protected:
  void output_waits() override { waits = true; }

  /// What a session would do: takes each request as it comes.
  bool feed(const std::string& bytes) {
    const bool sound = connection->feed(bytes, clock.now());
    while (std::unique_ptr<Layer> layer = connection->next_opened()) {
      sessions.push_back(std::make_unique<Channel>());
      sessions.back()->open(loop, Transport{{}, std::move(layer)});
    }
    return sound;
  }
  std::vector<Frame> output() {
    std::string all;
    std::vector<char> room(64 * 1024);
    while (const std::size_t size = connection->produce(room, clock.now())) all.append(room.data(), size);
    return frames_of(all);
  }
  /// The error of the GOAWAY among them; -1: there is none.
  std::int64_t goaway() {
    for (const Frame& one : output()) {
      if (one.type == kGoAway) return one.number_at(4);
    }
    return -1;
  }
  static std::string read(Channel& channel, std::size_t piece = 4096) {
    std::string text;
    std::vector<char> room(piece);
    for (;;) {
      const Transfer got = channel.receive(room);
      if (got.kind == Transfer::Kind::kEnd) return text + "|end";
      if (got.kind == Transfer::Kind::kFailed) return text + "|failed";
      if (got.kind != Transfer::Kind::kDone) return text;
      text.append(room.data(), got.bytes);
    }
  }
  static Transfer write(Channel& channel, std::string_view text) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return channel.send({&piece, 1});
  }

  ManualClock clock;
  Loop loop{&clock};
  ServerEngine engine{ServerSettings{}, 1};
  bool waits = false;
  std::unique_ptr<ServerConnection> connection = std::make_unique<ServerConnection>(engine, *this, clock.now());
  std::vector<std::unique_ptr<Channel>> sessions;
};

TEST_F(ServerConnectionTest, GivesARequestAndSendsItsResponse) {
  EXPECT_TRUE(feed(preface() + headers(1, get("/a"))));
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(read(*sessions[0]), "GET /a HTTP/1.1\r\nhost: example.com\r\n\r\n|end");
  output();
  EXPECT_EQ(write(*sessions[0], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").kind, Transfer::Kind::kDone);
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].type, kHeaders);
  EXPECT_EQ(out[1].payload, "hi");
  EXPECT_EQ(out[1].flags, kEndStream);
  EXPECT_EQ(connection->streams(), 0U);
  EXPECT_TRUE(sessions[0]->finish());
}

TEST_F(ServerConnectionTest, TakesBytesTornAnywhere) {
  const std::string bytes = preface() + headers(1, post("/a"), kEndHeaders) + frame(kData, kNone, 1, "xy") +
                            headers(1, {{"x-t", "u"}}, kEndHeaders | kEndStream);
  for (const char byte : bytes) EXPECT_TRUE(feed(std::string(1, byte)));
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_TRUE(read(*sessions[0]).ends_with("\r\ntransfer-encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\nx-t: u\r\n\r\n|end"));
}

TEST_F(ServerConnectionTest, PutsDataIntoChunksWhateverRoomThereIs) {
  for (std::size_t piece = 1; piece < 60; ++piece) {
    const auto id = static_cast<std::uint32_t>(2 * piece - 1);
    feed((piece == 1 ? preface() : "") + headers(id, post("/"), kEndHeaders) + frame(kData, kNone, id, "abc") +
         frame(kData, kEndStream, id, std::string(30, 'z')));
    const std::string text = read(*sessions.back(), piece);
    std::string body;
    for (std::string_view rest = std::string_view(text).substr(text.find("\r\n\r\n") + 4); rest[0] != '0';) {
      const std::size_t size = std::stoul(std::string(rest), nullptr, 16);
      body += rest.substr(rest.find('\n') + 1, size);
      rest.remove_prefix(rest.find('\n') + 1 + size + 2);
    }
    EXPECT_EQ(body, "abc" + std::string(30, 'z')) << piece;
  }
}

TEST_F(ServerConnectionTest, OpensWindowsOnlyAsTheSessionTakes) {
  feed(preface() + frame(kSettings, kAck, 0) + headers(1, post("/"), kEndHeaders));
  read(*sessions[0]);
  output();
  for (int i = 0; i < 4; ++i) feed(frame(kData, kNone, 1, std::string(16 * 1024, 'x')));
  for (const Frame& one : output()) EXPECT_NE(one.type, kWindowUpdate) << "nothing was taken yet";
  EXPECT_GT(read(*sessions[0]).size(), std::size_t{64} * 1024);
  std::uint32_t opened = 0;
  for (const Frame& one : output()) {
    if (one.type == kWindowUpdate && one.stream == 1) opened += one.number_at(0);
  }
  EXPECT_GE(opened, 32U * 1024);
  for (int i = 0; i < 8; ++i) feed(frame(kData, kNone, 1, std::string(16 * 1024, 'x')));
  std::uint32_t error = 0;
  for (const Frame& one : output()) {
    if (one.type == kRstStream) error = one.number_at(0);
  }
  EXPECT_EQ(error, 3U) << "FLOW_CONTROL_ERROR: more than the window";
}

TEST_F(ServerConnectionTest, AResponseWaitsForTheClientsWindow) {
  feed(preface(setting(4, 10)) + headers(1, get("/")));
  output();
  const std::string body(200 * 1024, 'b');
  EXPECT_EQ(write(*sessions[0], "HTTP/1.1 200 OK\r\nContent-Length: 204800\r\n\r\n" + body).kind,
            Transfer::Kind::kDone);
  std::size_t sent = 0;
  const auto count = [&] {
    for (const Frame& one : output()) sent += one.type == kData ? one.payload.size() : 0;
  };
  count();
  EXPECT_EQ(sent, 10U);
  feed(frame(kWindowUpdate, kNone, 1, number(1000)));
  count();
  EXPECT_EQ(sent, 1010U);
  feed(frame(kWindowUpdate, kNone, 1, number(1 << 20)) + frame(kWindowUpdate, kNone, 0, number(1 << 20)));
  count();
  EXPECT_EQ(sent, body.size());
  EXPECT_EQ(connection->streams(), 0U);
}

TEST_F(ServerConnectionTest, ASessionWaitsWhileItsStreamHoldsEnough) {
  feed(preface(setting(4, 0)) + headers(1, get("/")));
  output();
  write(*sessions[0], "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + std::string(100000, 'b'));
  EXPECT_EQ(write(*sessions[0], "b").kind, Transfer::Kind::kWouldBlock);
  feed(frame(kWindowUpdate, kNone, 1, number(50000)));
  output();
  EXPECT_EQ(write(*sessions[0], "b").kind, Transfer::Kind::kWouldBlock);
  feed(frame(kWindowUpdate, kNone, 1, number(49000)) + frame(kWindowUpdate, kNone, 0, number(1 << 20)));
  output();
  EXPECT_EQ(write(*sessions[0], "b").kind, Transfer::Kind::kDone);
}

// A client that opens many streams and reads none gets little of each once it is owed much.
TEST_F(ServerConnectionTest, StreamsThatAreNotReadShareABound) {
  feed(preface(setting(4, 0)));
  for (std::uint32_t i = 0; i < 100; ++i) feed(headers(2 * i + 1, get("/")));
  ASSERT_EQ(sessions.size(), 100U);
  output();
  std::size_t held = 0;
  for (const auto& session : sessions) {
    write(*session, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    // As a relay does, which reads no more than is wanted.
    for (std::size_t wanted = session->appetite(); wanted != 0; wanted = session->appetite()) {
      const std::size_t size = std::min(wanted, std::size_t{64} * 1024);
      ASSERT_EQ(write(*session, std::string(size, 'x')).kind, Transfer::Kind::kDone);
      held += size;
    }
  }
  EXPECT_LT(held, std::size_t{1600} * 1024);
  // Nobody waits for a window that is another's: the last one, which holds the least, gets on with its own.
  feed(frame(kWindowUpdate, kNone, 199, number(1 << 20)) + frame(kWindowUpdate, kNone, 0, number(1 << 20)));
  std::size_t sent = 0;
  for (int turns = 0; turns < 1000 && sent < 500'000; ++turns) {
    for (const Frame& one : output()) sent += one.type == kData ? one.payload.size() : 0;
    const std::size_t wanted = sessions.back()->appetite();
    ASSERT_NE(wanted, 0U);
    write(*sessions.back(), std::string(std::min(wanted, std::size_t{64} * 1024), 'x'));
  }
  EXPECT_GE(sent, 500'000U);
}

TEST_F(ServerConnectionTest, DropsTrailersThatMeanSomethingBeforeTheBody) {
  feed(preface() + headers(1, post("/"), kEndHeaders) + frame(kData, kNone, 1, "x") +
       headers(1, {{"x-sum", "1"}, {"cookie", "a=b"}}));
  EXPECT_TRUE(read(*sessions[0]).ends_with("1\r\nx\r\n0\r\nx-sum: 1\r\n\r\n|end"));
}

TEST_F(ServerConnectionTest, SendsTrailers) {
  feed(preface() + headers(1, get("/")));
  output();
  write(*sessions[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nGrpc-Status: 0\r\n\r\n");
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[1].flags, kNone);
  EXPECT_EQ(out[2].type, kHeaders);
  EXPECT_EQ(out[2].flags, kEndHeaders | kEndStream);
  EXPECT_NE(out[2].payload.find('\x40'), std::string::npos);
}

TEST_F(ServerConnectionTest, AnswersBeforeTheRequestEnds) {
  feed(preface() + headers(1, post("/"), kEndHeaders));
  output();
  write(*sessions[0], "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
  sessions[0]->finish();
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1].type, kRstStream);
  EXPECT_EQ(out[1].number_at(0), 0U) << "NO_ERROR: the client need not go on";
}

TEST_F(ServerConnectionTest, ATruncatedResponseIsReset) {
  feed(preface() + headers(1, get("/")));
  write(*sessions[0], "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
  output();
  sessions[0]->close();
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].type, kRstStream);
  EXPECT_EQ(out[0].number_at(0), 2U) << "INTERNAL_ERROR";
}

TEST_F(ServerConnectionTest, AResetIsSeenByTheSession) {
  feed(preface() + headers(1, post("/"), kEndHeaders));
  EXPECT_FALSE(read(*sessions[0]).ends_with("|failed"));
  feed(frame(kRstStream, kNone, 1, number(8)));
  EXPECT_TRUE(sessions[0]->hung_up());
  EXPECT_EQ(read(*sessions[0]), "|failed");
  EXPECT_EQ(write(*sessions[0], "HTTP/1.1 200 OK\r\n\r\n").kind, Transfer::Kind::kFailed);
}

TEST_F(ServerConnectionTest, ItsEndIsSeenByAllSessions) {
  feed(preface() + headers(1, post("/"), kEndHeaders) + headers(3, get("/")));
  for (const auto& session : sessions) read(*session);
  connection.reset();
  EXPECT_TRUE(sessions[0]->hung_up());
  EXPECT_TRUE(sessions[1]->hung_up());
}

TEST_F(ServerConnectionTest, AMalformedRequestIsAStreamError) {
  feed(preface());
  output();
  Fields bad = get("/");
  bad.emplace_back("connection", "close");
  EXPECT_TRUE(feed(headers(1, bad) + headers(3, get("/"))));
  EXPECT_EQ(sessions.size(), 1U);
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].type, kRstStream);
  EXPECT_EQ(out[0].stream, 1U);
  EXPECT_EQ(out[0].number_at(0), kProtocolError);
}

// Routes are matched by fields of such names, which nobody else can have sent (program/claim_field.h).
TEST_F(ServerConnectionTest, NamesOfClaimsAreNoFields) {
  feed(preface());
  std::uint32_t stream = 1;
  for (const char* name : {":claim plan", ":claim", "claim plan"}) {
    Fields first = get("/");
    first.emplace(first.begin(), name, "gold");
    Fields last = get("/");
    last.emplace_back(name, "gold");
    EXPECT_TRUE(feed(headers(stream, first) + headers(stream + 2, last)));
    stream += 4;
  }
  EXPECT_TRUE(sessions.empty());
  const std::vector<Frame> resets = output();
  ASSERT_GE(resets.size(), 6U);
  std::size_t count = 0;
  for (const Frame& one : resets) count += one.type == kRstStream && one.number_at(0) == kProtocolError ? 1 : 0;
  EXPECT_EQ(count, 6U);
}

TEST_F(ServerConnectionTest, AHeadThatIsRefusedIsNotWaitedFor) {
  feed(preface());
  Fields forbidden = get("/");
  forbidden.emplace_back("connection", "close");
  Fields upper_case = get("/");
  upper_case.emplace_back("X-Upper", "a");
  const Fields incomplete = {{":method", "GET"}, {":scheme", "http"}, {":authority", "example.com"}};
  std::uint32_t stream = 1;
  for (const Fields& bad : {forbidden, upper_case, incomplete}) {
    EXPECT_TRUE(feed(headers(stream, bad)));
    EXPECT_EQ(connection->head_since(), kNever) << "stream " << stream;
    stream += 2;
  }
  EXPECT_TRUE(feed(headers(stream, post("/"), kEndHeaders) + headers(stream, forbidden)));
  EXPECT_EQ(connection->head_since(), kNever) << "trailers";
}

TEST_F(ServerConnectionTest, TheRestOfAHeadThatIsRefusedHasItsTime) {
  Fields forbidden = get("/");
  forbidden.emplace_back("connection", "close");
  Fields upper_case = get("/");
  upper_case.emplace_back("X-Upper", "a");
  feed(preface());
  std::uint32_t stream = 1;
  for (const Fields& bad : {forbidden, upper_case}) {
    const Time began = clock.now();
    EXPECT_TRUE(feed(headers(stream, bad, kNone)));
    output();
    EXPECT_EQ(connection->head_since(), began) << "stream " << stream;
    clock.advance(std::chrono::seconds(1));
    EXPECT_TRUE(feed(frame(kContinuation, kNone, stream, block({{"x", "y"}}))));
    EXPECT_EQ(connection->head_since(), began) << "stream " << stream;
    EXPECT_TRUE(feed(frame(kContinuation, kEndHeaders, stream) + frame(kPing, kNone, 0, "12345678")));
    EXPECT_EQ(connection->head_since(), kNever) << "stream " << stream;
    stream += 2;
  }
  EXPECT_TRUE(feed(headers(stream, post("/"), kEndHeaders) + headers(stream, forbidden, kEndStream)));
  EXPECT_EQ(connection->head_since(), clock.now()) << "trailers";
}

TEST_F(ServerConnectionTest, AStreamThatIsRefusedMayBeSentAgain) {
  connection->feed(preface() + headers(1, post("/"), kEndHeaders) + frame(kData, kNone, 1, "abc"), clock.now());
  output();
  ASSERT_TRUE(connection->opened_waits());
  connection->refuse_opened();
  EXPECT_FALSE(connection->opened_waits());
  const std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].type, kRstStream);
  EXPECT_EQ(out[0].number_at(0), 7U) << "REFUSED_STREAM";
  EXPECT_EQ(connection->streams(), 0U);
  EXPECT_TRUE(feed(headers(3, get("/"))));
  EXPECT_EQ(sessions.size(), 1U);
}

TEST_F(ServerConnectionTest, ShutsDownInTwoSteps) {
  feed(preface() + headers(1, get("/")));
  output();
  connection->announce_shutdown();
  std::vector<Frame> out = output();
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].type + out[1].type, kGoAway + kPing);
  const Frame& notice = out[0].type == kGoAway ? out[0] : out[1];
  const Frame& ping = out[0].type == kPing ? out[0] : out[1];
  EXPECT_EQ(notice.number_at(0), 0x7fffffffU);
  EXPECT_FALSE(connection->shutdown_heard());
  feed(headers(3, get("/")) + frame(kPing, kAck, 0, ping.payload));
  EXPECT_TRUE(connection->shutdown_heard());
  connection->go_away();
  out = output();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].number_at(0), 3U) << "what was on its way is served";
  feed(headers(5, get("/")));
  EXPECT_EQ(sessions.size(), 2U);
  EXPECT_FALSE(connection->over());
  for (const auto& session : sessions) write(*session, "HTTP/1.1 204 No Content\r\n\r\n");
  output();
  EXPECT_TRUE(connection->over());
}

// ---- Floods: each ends in ENHANCE_YOUR_CALM before it has cost much ------------------------------------------------

class Flood : public ServerConnectionTest {
 protected:
  void SetUp() override {
    feed(preface());
    output();
  }
  /// Sends what `next` gives, in pieces as a socket would, until the connection has had enough.
  template <typename Next>
  void expect_calm(Next next, int most = 20000) {
    for (int i = 0; i < most; i += 100) {
      std::string bytes;
      for (int k = i; k < i + 100; ++k) bytes += next(static_cast<std::uint32_t>(k));
      feed(bytes);
      const std::int64_t error = goaway();
      if (error < 0) continue;
      EXPECT_EQ(error, kEnhanceYourCalm);
      output();
      EXPECT_TRUE(connection->over() || connection->streams() != 0);
      return;
    }
    FAIL() << "it went on for ever";
  }
};

TEST_F(Flood, OfResets) {
  expect_calm(
      [](std::uint32_t i) { return headers(2 * i + 1, get("/")) + frame(kRstStream, kNone, 2 * i + 1, number(8)); });
  EXPECT_LT(sessions.size(), 400U);
}
TEST_F(Flood, OfResetsThatWeAreMadeToSend) {
  Fields bad = get("/");
  bad.emplace_back("connection", "close");
  expect_calm([&](std::uint32_t i) { return headers(2 * i + 1, bad); });
}
// A byte of content buys no reset: neither one of the client's nor one that it makes us send.
TEST_F(Flood, OfResetsBetweenBytesOfContent) {
  expect_calm([](std::uint32_t i) {
    const std::uint32_t id = 2 * i + 1;
    return headers(id, post("/"), kEndHeaders) + frame(kData, kNone, id, "x") + frame(kData, kNone, id, "x") +
           frame(kRstStream, kNone, id, number(8));
  });
  EXPECT_LT(sessions.size(), 400U);
}
TEST_F(Flood, OfProvokedResetsBetweenBytesOfContent) {
  expect_calm([](std::uint32_t i) {
    const std::uint32_t id = 2 * i + 1;
    return headers(id, post("/"), kEndHeaders) + frame(kData, kNone, id, "x") + frame(kData, kNone, id, "x") +
           frame(kWindowUpdate, kNone, id, number(0x7fffffff));
  });
  EXPECT_LT(sessions.size(), 400U);
}
// Answers that were begun buy none either: their requests were as dear.
TEST_F(Flood, OfResetsOfAnswersThatWereBegun) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(1000, 'x');
  std::uint32_t id = 1;
  for (; id < 4000 && goaway() < 0; id += 2) {
    feed(headers(id, get("/")));
    if (sessions.empty()) break;
    write(*sessions.back(), answer);
    output();
    feed(frame(kRstStream, kNone, id, number(8)));
    sessions.clear();
  }
  EXPECT_LT(id, 1000U);
}
// Each update opens a window by a byte, and each byte goes out in a frame of its own (CVE-2019-9511).
TEST_F(Flood, OfWindowsOfOneByte) {
  feed(frame(kSettings, kNone, 0, setting(4, 0)) + headers(1, get("/")));
  write(*sessions[0], "HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + std::string(90000, 'x'));
  output();
  int updates = 0;
  for (; updates < 5000 && goaway() < 0; ++updates) feed(frame(kWindowUpdate, kNone, 1, number(1)));
  EXPECT_LT(updates, 2000);
}
// No head is over the bound by itself, and each is a kilobyte on the wire.
TEST_F(Flood, OfHeadsThatHpackMakesLarge) {
  feed(frame(kHeaders, kEndHeaders | kEndStream, 1, block(get("/")) + bomb("x", 0)));
  std::uint32_t id = 3;
  for (; id < 4000 && goaway() < 0; id += 2) {
    sessions.clear();
    feed(frame(kHeaders, kEndHeaders | kEndStream, id, block(get("/")) + std::string(60, '\xbe')));
    if (!sessions.empty()) {
      write(*sessions.back(), "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n\r\n");
    }
  }
  EXPECT_LT(id, 200U);
}
TEST_F(Flood, OfPings) {
  expect_calm([](std::uint32_t) { return frame(kPing, kNone, 0, "12345678"); });
}
TEST_F(Flood, OfSettings) {
  expect_calm([](std::uint32_t) { return frame(kSettings, kNone, 0); });
}
TEST_F(Flood, OfEmptyData) {
  feed(headers(1, post("/"), kEndHeaders));
  expect_calm([](std::uint32_t) { return frame(kData, kNone, 1); });
}
TEST_F(Flood, OfPriorities) {
  expect_calm([](std::uint32_t i) { return frame(kPriority, kNone, 2 * i + 1, number(0) + "\x10"); });
}
// ORIGIN, ALTSVC, PRIORITY_UPDATE and what nobody has defined: nghttp2 passes over them without a word.
TEST_F(Flood, OfUnknownFrames) {
  expect_calm([](std::uint32_t i) { return frame(static_cast<std::uint8_t>(10 + i % 200), kNone, 0, "anything"); });
}
TEST_F(Flood, OfUnknownFramesOnAStream) {
  feed(headers(1, post("/"), kEndHeaders));
  expect_calm([](std::uint32_t) { return frame(0x10, kNone, 1); });
}
TEST_F(Flood, OfWindowUpdates) {
  expect_calm([](std::uint32_t) { return frame(kWindowUpdate, kNone, 0, number(1)); });
}
TEST_F(Flood, OfContinuations) {
  expect_calm([](std::uint32_t i) {
    return i == 0 ? frame(kHeaders, kEndStream, 1, block(get("/")))
                  : frame(kContinuation, kNone, 1, block({{"x", "y"}}));
  });
}
TEST_F(Flood, OfEmptyContinuations) {
  expect_calm([](std::uint32_t i) {
    return i == 0 ? frame(kHeaders, kEndStream, 1, block(get("/"))) : frame(kContinuation, kNone, 1);
  });
}

// One large entry of the table, named thousands of times: some bytes on the wire, megabytes once decoded.
TEST_F(Flood, OfFieldsThatHpackMakesLarge) {
  feed(frame(kHeaders, kEndHeaders | kEndStream, 1, block(get("/")) + bomb("x", 8000)));
  EXPECT_EQ(goaway(), kEnhanceYourCalm);
  EXPECT_TRUE(sessions.empty());
}
// Whether the fields would be passed on or dropped: behind a length there is no place for them, and a known name means
// nothing behind a body.
TEST_F(Flood, OfTrailersThatHpackMakesLarge) {
  Fields with_length = post("/");
  with_length.emplace_back("content-length", "1");
  std::uint32_t id = 1;
  for (const auto& [head, name] : {std::pair{with_length, "x"}, std::pair{post("/"), "cookie"}, {post("/"), "x"}}) {
    feed(headers(id, head, kEndHeaders) + frame(kData, kNone, id, "x"));
    feed(frame(kHeaders, kEndHeaders | kEndStream, id, bomb(name, 8000)));
    std::uint32_t error = 0;
    for (const Frame& one : output()) {
      if (one.type == kRstStream && one.stream == id) error = one.number_at(0);
    }
    EXPECT_EQ(error, kProtocolError) << name;
    id += 2;
  }
}
TEST_F(ServerConnectionTest, TrailersThatAreDroppedAreNoFaultOfTheRequest) {
  feed(preface() + headers(1, post("/"), kEndHeaders) + frame(kData, kNone, 1, "x") +
       frame(kHeaders, kEndHeaders | kEndStream, 1, bomb("cookie", 10)));
  EXPECT_TRUE(read(*sessions[0]).ends_with("1\r\nx\r\n0\r\n\r\n|end"));
}
TEST_F(Flood, OfFieldsOfNoLength) {
  Fields fields = get("/");
  for (int i = 0; i < 1500; ++i) fields.emplace_back("x", "");
  feed(headers(1, fields));
  EXPECT_EQ(sessions.size(), 1U) << "the session answers 431";
  EXPECT_LT(read(*sessions[0]).size(), 70U * 1024);
}

// Work that gets answered wears nobody out.
TEST_F(Flood, IsNotWhatABusyClientSends) {
  for (std::uint32_t i = 0; i < 5000; ++i) {
    feed(headers(2 * i + 1, get("/")) + frame(kPing, kNone, 0, "12345678") + frame(kWindowUpdate, kNone, 0, number(1)));
    write(*sessions.back(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    ASSERT_EQ(goaway(), -1) << i;
    sessions.pop_back();
  }
}
// A client that often changes its mind gives up one request of four.
TEST_F(Flood, IsNotWhatAnImpatientClientSends) {
  for (std::uint32_t i = 0; i < 5000; ++i) {
    feed(headers(2 * i + 1, get("/")));
    if (i % 4 == 3) {
      feed(frame(kRstStream, kNone, 2 * i + 1, number(8)));
    } else {
      write(*sessions.back(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }
    ASSERT_EQ(goaway(), -1) << i;
    sessions.clear();
  }
}
// A stream of small messages, each of which is answered with two updates and a PING.
TEST_F(Flood, IsNotWhatAStreamOfMessagesBrings) {
  feed(headers(1, get("/")));
  write(*sessions[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 5000; ++i) {
    write(*sessions[0], "5\r\nhello\r\n");
    feed(frame(kWindowUpdate, kNone, 1, number(5)) + frame(kWindowUpdate, kNone, 0, number(5)) +
         frame(kPing, kNone, 0, "12345678"));
    ASSERT_EQ(goaway(), -1) << i;
  }
}
TEST_F(Flood, IsNotWhatTimeHasSpread) {
  for (int i = 0; i < 3000; ++i) {
    feed(frame(kPing, kNone, 0, "12345678"));
    clock.advance(std::chrono::milliseconds(25));
    ASSERT_EQ(goaway(), -1) << i;
  }
}

}  // namespace
}  // namespace edge::net::http2
