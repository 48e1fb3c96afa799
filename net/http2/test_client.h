// A client's connection of HTTP/2 and the session's end of its streams, for tests. The backend's frames are written by
// hand (test_frames.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "net/http2/client_connection.h"
#include "net/http2/server_connection.h"
#include "net/http2/test_frames.h"
#include "net/loop.h"

namespace edge::net::http2::testing {

struct Quiet final : ServerConnection::Owner, ClientConnection::Owner {
  void output_waits() override {}
  void stream_ended() override { ++ended; }
  int ended = 0;
};

/// A session's channel over one stream.
class Stream final : public Channel {
 public:
  Stream(Loop& loop, std::unique_ptr<Layer> layer) { open(loop, Transport{Fd(), std::move(layer)}); }

  bool write(std::string_view text) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return send({&piece, 1}).kind == Transfer::Kind::kDone;
  }
  /// What is there; `!` stands for a failure, `.` for an end.
  std::string read(std::size_t at_once = 4096) {
    std::string text;
    std::string bytes(at_once, '\0');
    for (;;) {
      const Transfer got = receive(bytes);
      if (got.kind == Transfer::Kind::kFailed) return text + "!";
      if (got.kind == Transfer::Kind::kEnd) return text + ".";
      if (got.kind == Transfer::Kind::kWouldBlock) return text;
      text.append(bytes, 0, got.bytes);
    }
  }
};

class Http2Client : public ::testing::Test {
 protected:
  std::unique_ptr<Stream> open() { return std::make_unique<Stream>(loop, client.open_stream()); }

  /// What the client has to say.
  std::string output() {
    std::string all;
    std::string bytes(64 * 1024, '\0');
    while (const std::size_t size = client.produce(bytes, now)) all.append(bytes, 0, size);
    return all;
  }
  bool say(std::string_view bytes) { return client.feed(bytes, now); }
  /// A backend that took the connection, and the first request on it, `GET /`.
  std::unique_ptr<Stream> ask(std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n") {
    auto stream = open();
    EXPECT_TRUE(stream->write(request));
    output();
    if (!std::exchange(greeted, true)) EXPECT_TRUE(say(frame(kSettings, 0, 0, "")));
    return stream;
  }

  Loop loop;
  Time now{};
  Quiet quiet;
  ClientEngine engine{ClientSettings{.head = {}, .max_streams = 3}};
  ClientConnection client{engine, quiet, false, now};
  bool greeted = false;
};

}  // namespace edge::net::http2::testing
