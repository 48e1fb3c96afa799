// Responses of HTTP/1.1 as sessions write them, torn at every byte.
#include "net/http2/response_reader.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace edge::net::http2 {
namespace {

using Event = ResponseReader::Event;
using http1::Method;

/// What came of a response, as one line: `1xx`, status and fields, body, trailers.
std::string read(std::string_view text, std::size_t step, Method method = Method::kGet, bool tunnel = false,
                 bool close = false) {
  ResponseReader reader(method, tunnel);
  const auto head = std::make_unique<http1::ResponseHead>();
  const http1::HeadLimits limits;
  std::string reported;
  std::string body;
  std::vector<Field> fields;
  char status[3];
  while (!text.empty()) {
    std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    for (;;) {
      const ResponseReader::Step got = reader.next(piece, limits, *head);
      if (got.event == Event::kFault) return reported + "fault";
      if (got.event == Event::kInterim || got.event == Event::kHead) {
        response_fields(*head, status, fields);
        for (const Field& field : fields) reported += std::string(field.name) + "=" + std::string(field.value) + " ";
      }
      if (got.event == Event::kData) body += got.data;
      piece.remove_prefix(got.consumed);
      if (got.event == Event::kMore || (piece.empty() && got.event == Event::kEnd)) break;
    }
  }
  if (close) reader.close();
  reported += "[" + body + "]" + (reader.ended() ? "." : "...");
  trailer_fields(reader.trailer_lines(), fields);
  for (const Field& field : fields) reported += " " + std::string(field.name) + "=" + std::string(field.value);
  return reported;
}

void expect_torn(std::string_view text, const std::string& reported, Method method = Method::kGet, bool tunnel = false,
                 bool close = false) {
  for (std::size_t step = 1; step <= text.size(); ++step) {
    ASSERT_EQ(read(text, step, method, tunnel, close), reported) << "in pieces of " << step;
  }
}

TEST(ResponseReader, ReadsALength) {
  expect_torn("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\nxyz", ":status=200 A=b Content-Length=3 [xyz].");
  expect_torn("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxy", ":status=200 Content-Length=3 [xy]...");
  expect_torn("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ":status=200 Content-Length=0 [].");
}

TEST(ResponseReader, TakesChunksApart) {
  expect_torn("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n1\r\nz\r\n0\r\n\r\n",
              ":status=200 [xyz].");
  expect_torn("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\nGrpc-Status: 0\r\nb: c\r\n\r\n",
              ":status=200 [xy]. Grpc-Status=0 b=c");
}

TEST(ResponseReader, KnowsWhatHasNoBody) {
  expect_torn("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", ":status=304 Content-Length=9 [].");
  expect_torn("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ":status=200 Content-Length=9 [].", Method::kHead);
}

TEST(ResponseReader, PassesInterimHeads) {
  expect_torn("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
              ":status=103 Link=a :status=204 [].");
}

TEST(ResponseReader, LeavesOutWhatBelongsToAConnection) {
  expect_torn("HTTP/1.1 204 No Content\r\nConnection: close, x-a\r\nX-A: b\r\nKeep-Alive: 1\r\nX-B: c\r\n\r\n",
              ":status=204 X-B=c [].");
}

TEST(ResponseReader, MakesATunnelOf101) {
  expect_torn(
      "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nraw",
      ":status=200 [raw].", Method::kGet, true, true);
  EXPECT_EQ(read("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", 999), "fault");
}

TEST(ResponseReader, RefusesWhatIsNone) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", 999), ":status=200 Content-Length=1 fault");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 999), "fault");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 999), ":status=200 fault");
  EXPECT_EQ(read("nonsense\r\n\r\n", 999), "fault");
}

}  // namespace
}  // namespace edge::net::http2
