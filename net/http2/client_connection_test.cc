#include "net/http2/client_connection.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "net/http1/chunked.h"
#include "net/http2/server_connection.h"
#include "net/http2/test_client.h"

namespace edge::net::http2 {
namespace {

using namespace std::chrono_literals;
using namespace testing;

/// The same with a server of ours at the other end.
class Http2Pair : public Http2Client {
 protected:
  void exchange() {
    std::string bytes(64 * 1024, '\0');
    for (bool moved = true; moved;) {
      moved = false;
      while (const std::size_t size = client.produce(bytes, now)) {
        server.feed({bytes.data(), size}, now);
        moved = true;
      }
      while (const std::size_t size = server.produce(bytes, now)) {
        client.feed({bytes.data(), size}, now);
        moved = true;
      }
    }
  }
  std::unique_ptr<Stream> accept() {
    exchange();
    auto layer = server.next_opened();
    return layer == nullptr ? nullptr : std::make_unique<Stream>(loop, std::move(layer));
  }

  ServerEngine server_engine{ServerSettings{}, 1};
  ServerConnection server{server_engine, quiet, now};
};

TEST_F(Http2Pair, ARequestAndItsAnswerAreTextAtBothEnds) {
  auto ours = open();
  ASSERT_TRUE(ours->write("GET /cart?x=1 HTTP/1.1\r\nHost: shop.example\r\nX-A: b\r\nConnection: keep-alive\r\n\r\n"));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs->read(), "GET /cart?x=1 HTTP/1.1\r\nhost: shop.example\r\nx-a: b\r\nte: trailers\r\n\r\n.");
  ASSERT_TRUE(theirs->write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-B: c\r\n\r\nhello"));
  exchange();
  EXPECT_EQ(ours->read(), "HTTP/1.1 200 OK\r\nx-b: c\r\ncontent-length: 5\r\n\r\nhello.");
  EXPECT_EQ(client.streams(), 0U);
}

TEST_F(Http2Pair, BodiesWithoutALengthAndTrailersPassBothWays) {
  auto ours = open();
  ASSERT_TRUE(ours->write("POST /s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs->read(),
            "POST /s HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
  ASSERT_TRUE(ours->write("2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n"));
  exchange();
  EXPECT_EQ(theirs->read(), "2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n.");
  ASSERT_TRUE(theirs->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"));
  exchange();
  EXPECT_EQ(ours->read(), "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n");
  ASSERT_TRUE(theirs->write("0\r\ngrpc-status: 0\r\n\r\n"));
  exchange();
  EXPECT_EQ(ours->read(), "0\r\ngrpc-status: 0\r\n\r\n.");
}

TEST_F(Http2Pair, ALargeBodyWaitsForItsReader) {
  auto ours = open();
  std::string request = "PUT /big HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n";
  ASSERT_TRUE(ours->write(request));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  std::size_t sent = 0;
  while (sent < 300000 && ours->write(std::string(50000, 'x'))) {
    sent += 50000;
    exchange();
  }
  // The window of the one stream is shut, and what we hold for it is one piece.
  EXPECT_LT(sent, 300000U);
  std::string got = theirs->read();
  for (int turns = 0; turns < 100 && !got.ends_with('.'); ++turns) {
    exchange();
    if (sent < 300000 && ours->write(std::string(50000, 'x'))) sent += 50000;
    exchange();
    got += theirs->read();
  }
  EXPECT_EQ(got.size() - got.find("\r\n\r\n") - 4, 300001U) << "with the end";
}

TEST_F(Http2Pair, ASessionThatLeavesCancelsItsStream) {
  auto ours = open();
  ASSERT_TRUE(ours->write("POST /s HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  EXPECT_TRUE(theirs->read().ends_with("abc"));
  ours.reset();
  exchange();
  EXPECT_EQ(theirs->read(), "!");
  EXPECT_TRUE(theirs->hung_up());
  EXPECT_EQ(client.streams(), 0U);
  EXPECT_EQ(quiet.ended, 1);
}

TEST_F(Http2Pair, AWebSocketIsATunnel) {
  auto ours = open();
  const std::string request =
      "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  // It waits for the backend's settings, which come with its first words.
  ASSERT_TRUE(ours->write(request));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  const std::string asked = theirs->read();
  EXPECT_TRUE(asked.starts_with("GET /chat HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n")) << asked;
  EXPECT_EQ(asked.find("dGhlIHNhbXBsZSBub25jZQ=="), std::string::npos) << asked;
  EXPECT_NE(asked.find("\r\nsec-websocket-version: 13\r\n"), std::string::npos) << asked;
  ASSERT_TRUE(
      theirs->write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Accept: theirs\r\nSec-WebSocket-Protocol: chat\r\n\r\nhi"));
  exchange();
  EXPECT_EQ(ours->read(),
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nsec-websocket-protocol: chat\r\n\r\nhi");
  ASSERT_TRUE(ours->write("hello"));
  exchange();
  EXPECT_EQ(theirs->read(), "hello");
  // Each side's end is its own.
  EXPECT_TRUE(ours->finish());
  exchange();
  EXPECT_EQ(theirs->read(), ".");
  ASSERT_TRUE(theirs->write("bye"));
  EXPECT_TRUE(theirs->finish());
  exchange();
  EXPECT_EQ(ours->read(), "bye.");
  EXPECT_EQ(client.streams(), 0U);
}

TEST_F(Http2Pair, AWebSocketThatIsRefusedIsAnAnswerLikeAnyOther) {
  exchange();
  auto ours = open();
  ASSERT_TRUE(
      ours->write("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
  auto theirs = accept();
  ASSERT_NE(theirs, nullptr);
  theirs->read();
  ASSERT_TRUE(theirs->write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"));
  exchange();
  EXPECT_EQ(ours->read(), "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno.");
}

TEST_F(Http2Pair, AnswersAreReadIntoAnyRoom) {
  for (const std::size_t room : {1U, 2U, 5U, 20U, 21U, 22U, 40U}) {
    auto ours = open();
    ASSERT_TRUE(ours->write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    auto theirs = accept();
    ASSERT_NE(theirs, nullptr);
    ASSERT_TRUE(theirs->write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n"));
    exchange();
    const std::string text = ours->read(room);
    http1::ChunkedDecoder decoder;
    std::string_view body = std::string_view(text).substr(text.find("\r\n\r\n") + 4);
    std::string decoded;
    http1::ChunkedDecoder::Step step;
    while (step.state == http1::ChunkedDecoder::State::kMore && !body.empty()) {
      step = decoder.next(body);
      decoded += step.data;
      body.remove_prefix(step.consumed);
    }
    EXPECT_EQ(step.state, http1::ChunkedDecoder::State::kEnd) << room;
    EXPECT_EQ(decoded, "abcdefghijklmnopqrstuvwxyz");
    EXPECT_EQ(body, ".");
  }
}

TEST_F(Http2Client, HeadsAreFramedByWhatTheStreamSays) {
  struct Case {
    std::string_view request;
    std::string frames;
    std::string_view text;
  };
  const std::string_view get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::uint8_t both = kEndHeaders | kEndStream;
  const Case cases[] = {
      {get, frame(kHeaders, both, 1, block({{":status", "200"}, {"grpc-status", "12"}})),
       "HTTP/1.1 200 OK\r\ngrpc-status: 12\r\ncontent-length: 0\r\n\r\n."},
      {get, frame(kHeaders, both, 1, block({{":status", "204"}, {"content-length", "0"}})),
       "HTTP/1.1 204 No Content\r\n\r\n."},
      {get, frame(kHeaders, both, 1, block({{":status", "304"}, {"etag", "\"x\""}})),
       "HTTP/1.1 304 Not Modified\r\netag: \"x\"\r\n\r\n."},
      {"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
       frame(kHeaders, both, 1, block({{":status", "200"}, {"content-length", "70"}})),
       "HTTP/1.1 200 OK\r\ncontent-length: 70\r\n\r\n."},
      {get,
       frame(kHeaders, kEndHeaders, 1, block({{":status", "103"}, {"link", "</a>"}})) +
           frame(kHeaders, both, 1, block({{":status", "404"}})),
       "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n."},
      // Fields that mean something before the body are dropped behind it.
      {get,
       frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}})) +
           frame(kHeaders, both, 1, block({{"grpc-status", "0"}, {"set-cookie", "a=b"}})),
       "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\ngrpc-status: 0\r\n\r\n."},
      // A length leaves no place for trailers, so it gives way to those that are announced; others are dropped.
      {get,
       frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}, {"content-length", "2"}, {"trailer", "x-sum"}})) +
           frame(kData, 0, 1, "hi") + frame(kHeaders, both, 1, block({{"x-sum", "7"}})),
       "HTTP/1.1 200 OK\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n."},
      {get,
       frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}, {"content-length", "2"}})) +
           frame(kData, 0, 1, "hi") + frame(kHeaders, both, 1, block({{"x-sum", "7"}})),
       "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi."},
  };
  for (const Case& c : cases) {
    Quiet owner;
    ClientConnection connection(engine, owner, false, now);
    Stream stream(loop, connection.open_stream());
    ASSERT_TRUE(stream.write(c.request));
    std::string bytes(64 * 1024, '\0');
    while (connection.produce(bytes, now) != 0) {
    }
    EXPECT_TRUE(connection.feed(frame(kSettings, 0, 0, "") + c.frames, now));
    EXPECT_EQ(stream.read(), c.text);
  }
}

TEST_F(Http2Client, WhatCouldSplitAMessageNeverBecomesText) {
  const std::uint8_t both = kEndHeaders | kEndStream;
  const std::string bad[] = {
      block({{":status", "200"}, {"x-a", "b\r\nx-c: d"}}),
      block({{":status", "200"}, {"x-a\r\nb", "c"}}),
      block({{":status", "200"}, {"x a", "b"}}),
      block({{":status", "200"}, {"X-A", "b"}}),
      block({{":status", "200"}, {"connection", "close"}}),
      block({{":status", "200"}, {"transfer-encoding", "chunked"}}),
      block({{":status", "200"}, {":status", "200"}}),
      block({{":status", "2000"}}),
      block({{":status", "20x"}}),
      block({{":status", "101"}}),
      block({{"x-a", "b"}}),
      block({{":status", "100"}}),
      block({{":status", "200"}, {"content-length", "5"}}),
      block({{":status", "200"}, {"content-length", "1"}, {"content-length", "2"}}),
  };
  for (const std::string& fields : bad) {
    Quiet owner;
    ClientConnection connection(engine, owner, false, now);
    Stream stream(loop, connection.open_stream());
    ASSERT_TRUE(stream.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    std::string bytes(64 * 1024, '\0');
    while (connection.produce(bytes, now) != 0) {
    }
    EXPECT_TRUE(connection.feed(frame(kSettings, 0, 0, "") + frame(kHeaders, both, 1, fields), now));
    while (connection.produce(bytes, now) != 0) {
    }
    const std::string text = stream.read();
    EXPECT_TRUE(text.ends_with("!")) << text;
    EXPECT_EQ(text.find("\r\n\r\n"), std::string::npos) << text;
    EXPECT_FALSE(stream.layer()->untouched());
    EXPECT_EQ(connection.streams(), 0U);
  }
}

TEST_F(Http2Client, ABodyThatIsNotAsLongAsAnnouncedIsAFailure) {
  auto stream = ask();
  say(frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}, {"content-length", "5"}})) +
      frame(kData, kEndStream, 1, "abc"));
  output();
  EXPECT_EQ(stream->read(), "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc!");
}

TEST_F(Http2Client, WhatTheBackendDidNotLookAtMayBeSentAgain) {
  auto refused = ask();
  auto broken = ask();
  auto late = ask();
  say(frame(kRstStream, 0, 1, number(7)));
  EXPECT_EQ(refused->read(), "!");
  EXPECT_TRUE(refused->layer()->untouched());
  say(frame(kRstStream, 0, 3, number(2)));
  EXPECT_EQ(broken->read(), "!");
  EXPECT_FALSE(broken->layer()->untouched());
  // The last stream that it takes is the third: the fifth it has not looked at.
  say(frame(kGoAway, 0, 0, number(3) + number(0)));
  EXPECT_EQ(late->read(), "!");
  EXPECT_TRUE(late->layer()->untouched());
  EXPECT_EQ(client.room(), 0U);
}

TEST_F(Http2Client, AfterGoAwayWhatWasBegunIsFinished) {
  auto stream = ask();
  say(frame(kGoAway, 0, 0, number(1) + number(0)));
  EXPECT_TRUE(client.closing());
  EXPECT_FALSE(client.over());
  say(frame(kHeaders, kEndHeaders | kEndStream, 1, block({{":status", "200"}})));
  EXPECT_EQ(stream->read(), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n.");
  output();
  EXPECT_TRUE(client.over());
}

TEST_F(Http2Client, AnAnswerBeforeTheEndOfTheRequestIsOneAllTheSame) {
  auto stream = ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  say(frame(kHeaders, kEndHeaders | kEndStream, 1, block({{":status", "413"}})) + frame(kRstStream, 0, 1, number(0)));
  EXPECT_FALSE(stream->write("defg"));
  EXPECT_EQ(stream->read(), "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n.");
}

TEST_F(Http2Client, TheBackendSaysHowManyAtATime) {
  EXPECT_EQ(client.room(), 3U);
  auto first = ask();
  EXPECT_EQ(client.room(), 2U);
  say(frame(kSettings, 0, 0, std::string("\0\3", 2) + number(1)));
  EXPECT_EQ(client.room(), 0U);
  first.reset();
  EXPECT_EQ(client.room(), 1U);
}

TEST_F(Http2Client, AStreamNobodyReadsHoldsUpNoOther) {
  auto slow = ask();
  auto quick = ask();
  say(frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}})));
  say(frame(kHeaders, kEndHeaders, 3, block({{":status", "200"}})));
  // Far more than the windows of both, of which one is read.
  const std::string piece(16384, 'x');
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(say(frame(kData, 0, 1, piece)));
  for (int i = 0; i < 1200; ++i) {
    ASSERT_TRUE(say(frame(kData, 0, 3, piece)));
    EXPECT_NE(quick->read(32768), "");
    output();
  }
  EXPECT_FALSE(client.over());
}

/// A backend that sends on every stream whatever its window lets it.
class Http2Unread : public Http2Pair {
 protected:
  static constexpr std::size_t kBody = std::size_t{1} << 20;

  /// A request and its answer's head; the body waits.
  void begin() {
    ours.push_back(open());
    ASSERT_TRUE(ours.back()->write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    theirs.push_back(accept());
    ASSERT_NE(theirs.back(), nullptr);
    theirs.back()->read();
    ASSERT_TRUE(theirs.back()->write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n"));
    written.push_back(0);
  }
  /// All of them send, until none gets on.
  void flood() {
    const std::string piece(16384, 'x');
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (written[i] == kBody || !theirs[i]->write(piece)) continue;
        written[i] += piece.size();
        moved = true;
      }
      exchange();
    }
  }
  /// What lies at our end, and in pieces at theirs.
  std::size_t unread() const { return std::accumulate(written.begin(), written.end(), std::size_t{0}) - read; }
  void take(std::size_t stream) { read += ours[stream]->read(65536).size(); }

  std::vector<std::unique_ptr<Stream>> ours;
  std::vector<std::unique_ptr<Stream>> theirs;
  std::vector<std::size_t> written;
  std::size_t read = 0;
};

TEST_F(Http2Unread, IsBounded) {
  for (int i = 0; i < 3; ++i) begin();
  flood();
  // A window, and what the other end holds back of a body.
  constexpr std::size_t kEach = 64 * 1024 + 128 * 1024;
  EXPECT_GE(unread(), std::size_t{3} * 64 * 1024);
  EXPECT_LE(unread(), 3 * kEach);
  // Whoever reads gets the large window, and all of it.
  const std::size_t others = written[1] + written[2];
  for (int turns = 0; written[0] < kBody && turns < 100; ++turns) {
    take(0);
    flood();
  }
  EXPECT_EQ(written[0], kBody);
  EXPECT_EQ(written[1] + written[2], others) << "whoever does not read gets no further, and holds up nobody";
}

// RFC 8441 §3: no extended CONNECT to a backend that has not said that it takes it.
TEST_F(Http2Client, AWebSocketGoesAsAPlainRequestWhereTheBackendTakesNone) {
  auto stream = open();
  ASSERT_TRUE(stream->write("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
  const auto heads = [&](std::size_t greeting) {
    const std::string sent = output().substr(greeting);
    return std::ranges::count(testing::frames_of(sent), kHeaders, &testing::Frame::type);
  };
  constexpr std::size_t kPreface = 24;
  EXPECT_EQ(heads(kPreface), 0) << "its settings are not known yet";
  ASSERT_TRUE(say(frame(kSettings, 0, 0, "")));
  EXPECT_EQ(heads(0), 1);
  ASSERT_TRUE(say(frame(kHeaders, kEndHeaders | kEndStream, 1, block({{":status", "426"}}))));
  EXPECT_EQ(stream->read(), "HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n.");
}

// RFC 9113 §8.5: neither scheme nor path, and no settings to wait for. What comes after the answer are bytes.
TEST_F(Http2Client, ATunnelOfTcpIsAConnect) {
  auto stream = open();
  ASSERT_TRUE(
      stream->write("GET / HTTP/1.1\r\nHost: api.shop:80\r\nConnection: upgrade\r\nUpgrade: connect-tcp\r\n\r\n"));
  const std::string sent = output().substr(24);
  const auto frames = testing::frames_of(sent);
  EXPECT_EQ(std::ranges::count(frames, kHeaders, &testing::Frame::type), 1);
  ASSERT_TRUE(say(frame(kSettings, 0, 0, "")));
  ASSERT_TRUE(say(frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}}))));
  ASSERT_TRUE(say(frame(kData, kEndStream, 1, "bytes")));
  EXPECT_EQ(stream->read(),
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: connect-tcp\r\n\r\nbytes.");
  // This side goes on by itself.
  ASSERT_TRUE(stream->write("more"));
  const std::string more = output();
  EXPECT_NE(more.find("more"), std::string::npos);
}

TEST_F(Http2Client, ATunnelThatIsRefusedIsAnAnswer) {
  auto stream = open();
  ASSERT_TRUE(
      stream->write("GET / HTTP/1.1\r\nHost: api.shop:80\r\nConnection: upgrade\r\nUpgrade: connect-tcp\r\n\r\n"));
  output();
  ASSERT_TRUE(
      say(frame(kSettings, 0, 0, "") + frame(kHeaders, kEndHeaders | kEndStream, 1, block({{":status", "404"}}))));
  EXPECT_EQ(stream->read(), "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n.");
}

TEST_F(Http2Client, TheConnectionsEndIsTheirs) {
  auto lost = std::make_unique<Quiet>();
  auto connection = std::make_unique<ClientConnection>(engine, *lost, true, now);
  Stream sent(loop, connection->open_stream());
  ASSERT_TRUE(sent.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  std::string bytes(64 * 1024, '\0');
  while (connection->produce(bytes, now) != 0) {
  }
  Stream waiting(loop, connection->open_stream());
  ASSERT_TRUE(waiting.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  connection.reset();
  EXPECT_TRUE(sent.hung_up());
  EXPECT_FALSE(sent.layer()->untouched());
  // It had not left yet.
  EXPECT_TRUE(waiting.layer()->untouched());
  EXPECT_EQ(waiting.read(), "!");
  EXPECT_FALSE(sent.write("x"));
}

}  // namespace
}  // namespace edge::net::http2
