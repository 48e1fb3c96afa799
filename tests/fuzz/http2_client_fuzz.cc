// A backend's bytes into the client's side of HTTP/2, with requests under way. What comes out of a stream must be text
// that the parser of HTTP/1.1 takes for one response, framed as the stream was.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http1/chunked.h"
#include "net/http1/parse.h"
#include "net/http2/client_connection.h"
#include "net/loop.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::net;

struct Quiet final : http2::ClientConnection::Owner {
  void output_waits() override {}
  void stream_ended() override {}
};

class Stream final : public Channel {
 public:
  Stream(Loop& loop, http2::ClientConnection& connection, std::string_view request) {
    open(loop, Transport{Fd(), connection.open_stream()});
    const iovec piece{const_cast<char*>(request.data()), request.size()};
    send({&piece, 1});
  }
  void read() {
    char bytes[512];
    for (;;) {
      const Transfer got = receive(bytes);
      if (got.kind != Transfer::Kind::kDone) {
        ended = got.kind == Transfer::Kind::kEnd;
        return;
      }
      text.append(bytes, got.bytes);
    }
  }
  std::string text;
  bool ended = false;
  bool may_switch = false;
};

void check(const Stream& stream, http1::Method method) {
  static http1::ResponseHead head;
  const http1::HeadLimits limits{std::size_t{1} << 20, http1::HeadFields::kMax, 0};
  std::string_view rest = stream.text;
  do {
    http1::ParseHint hint;
    const auto parsed = http1::parse_response(rest, method, limits, hint, head);
    const auto lines = std::count(rest.begin(), rest.end(), '\n');
    // More fields than a head can hold are refused by who reads them.
    if (parsed.state == http1::ParseState::kFault && lines > 200) return;
    require(parsed.state != http1::ParseState::kFault);
    if (parsed.state == http1::ParseState::kIncomplete) return require(!stream.ended);
    rest.remove_prefix(parsed.consumed);
    // Bytes of a tunnel follow, whatever they are.
    if (head.status == 101) return require(stream.may_switch);
  } while (head.status < 200);
  if (head.body.kind == http1::BodyKind::kNone) return require(rest.empty());
  if (head.body.kind == http1::BodyKind::kLength) {
    return require(stream.ended ? rest.size() == head.body.length : rest.size() <= head.body.length);
  }
  require(head.body.kind == http1::BodyKind::kChunked);
  http1::ChunkedDecoder decoder;
  http1::ChunkedDecoder::Step step;
  while (!rest.empty() && step.state == http1::ChunkedDecoder::State::kMore) {
    step = decoder.next(rest);
    rest.remove_prefix(step.consumed);
  }
  // Of trailers there may be more than a reader takes.
  if (step.state == http1::ChunkedDecoder::State::kFault) return require(stream.ended);
  require(!stream.ended || (step.state == http1::ChunkedDecoder::State::kEnd && rest.empty()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Loop loop;
  static http2::ClientEngine engine{http2::ClientSettings{}};
  Quiet quiet;
  http2::ClientConnection connection(engine, quiet, false, Time{});
  Stream get(loop, connection, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  Stream post(loop, connection, "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  Stream chat(loop, connection, "GET /c HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  chat.may_switch = true;
  std::string out(64 * 1024, '\0');
  while (connection.produce(out, Time{}) != 0) {
  }
  std::string_view input(reinterpret_cast<const char*>(data), size);
  // Torn by what the input says itself.
  while (!input.empty()) {
    const std::size_t piece = std::min<std::size_t>(input.size(), 1 + static_cast<unsigned char>(input.back()) % 64);
    if (!connection.feed(input.substr(0, piece), Time{})) break;
    input.remove_prefix(piece);
    get.read();
    while (connection.produce(out, Time{}) != 0) {
    }
  }
  get.read();
  post.read();
  chat.read();
  check(chat, http1::Method::kGet);
  check(get, http1::Method::kGet);
  check(post, http1::Method::kPost);
  return 0;
}
