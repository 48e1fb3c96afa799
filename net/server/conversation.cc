#include "net/server/conversation.h"

#include <algorithm>
#include <utility>

#include "net/http1/chunked.h"
#include "net/server/answer_head.h"
#include "net/server/gzip.h"
#include "net/server/http2_connection.h"

namespace edge::net::server {
namespace {

using http1::BodyKind;
using http1::ChunkedDecoder;

/// Offered to the socket at a time: what it does not take is copied.
constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

Request request_of(const http1::RequestHead& head, std::shared_ptr<const Peer> peer) {
  Request request{.method = std::string(head.method_text),
                  .path = std::string(head.path),
                  .query = std::string(head.query),
                  .host = std::string(head.host),
                  .fields = {},
                  .body = {},
                  .peer = std::move(peer)};
  request.fields.reserve(head.fields.size());
  for (const Field& field : head.fields.all()) request.fields.emplace_back(field.name, field.value);
  return request;
}

Reply fault_reply(const ServerOptions& options, int status, std::string_view text) {
  if (options.fault) return options.fault(status, text);
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::string(text) + "\n"};
}

std::string_view body_fault_text(int status) {
  if (status == 413) return "The body is larger than this server takes.";
  if (status == 408) return "The body did not come in time.";
  if (status == 503) return "There is no room for the body now.";
  return "The body is malformed.";
}

}  // namespace

/// The share of a request's body in the memory limit of all bodies.
class Conversation::HeldBody {
 public:
  explicit HeldBody(Host& host) : host_(host) {}
  ~HeldBody() { host_.let_go(held_); }
  HeldBody(const HeldBody&) = delete;
  HeldBody& operator=(const HeldBody&) = delete;

  bool add(std::size_t bytes) {
    if (!host_.hold(bytes)) return false;
    held_ += bytes;
    return true;
  }

 private:
  Host& host_;
  std::size_t held_ = 0;
};

void Conversation::drain() {
  if (idle_ || awaits_source_) waiter_.wake_later();
}

void Conversation::become_http2() {
  auto* next = new Http2Connection(host_, peer_, client_.release(), inlet_.unread());
  host_.hand_over(*this, *next);
  host_.forget(*this);
  next->start();
}

/// A head that cannot be served: at fault, or too slow.
Task<Conversation::Next> Conversation::refuse_head() {
  const bool slow = fault_ == http1::HeadFault::kNone;
  Reply reply = slow ? fault_reply(host_.options(), 408, "The request's head did not come in time.")
                     : fault_reply(host_.options(), http1::fault_status(fault_), http1::fault_text(fault_));
  const Next next = co_await answer(std::move(reply), {}, Next::kLinger);
  co_return next;
}

Task<Conversation::Next> Conversation::serve() {
  const http1::RequestHead& head = host_.head();
  const Framing framing{.body = head.body,
                        .keep_alive = head.keep_alive,
                        .old = head.minor == 0,
                        .head_only = head.method == http1::Method::kHead,
                        .expects_continue = head.expect_continue};
  Request request = request_of(head, peer_);
  const bool has_body = framing.body.kind == BodyKind::kChunked || framing.body.length != 0;
  if (host_.options().admit) {
    std::optional<Reply> refusal = host_.options().admit(request);
    if (refusal) {
      const Next next = co_await answer(std::move(*refusal), framing, has_body ? Next::kLinger : Next::kAgain);
      co_return next;
    }
  }
  HeldBody held(host_);
  const int fault = co_await read_body(framing, held, request.body);
  if (fault < 0) co_return Next::kReset;
  if (fault > 0) {
    Reply refusal = fault_reply(host_.options(), fault, body_fault_text(fault));
    const Next next = co_await answer(std::move(refusal), framing, Next::kLinger);
    co_return next;
  }
  inlet_.keep();
  Reply reply = co_await host_.handler()(request);
  const std::size_t size = reply.stream != nullptr ? reply.stream_size.value_or(0) : reply.body.size();
  const std::size_t gzip_from = host_.options().gzip_from;
  const bool gzip = gzip_from != 0 && size >= gzip_from && takes_gzip(request.field("accept-encoding"));
  if (gzip) compress(reply);
  // An answer may go on for hours; what was asked is of no use any more.
  request = Request();
  const Next next = co_await answer(std::move(reply), framing, Next::kAgain);
  co_return next;
}

Task<int> Conversation::read_body(const Framing& framing, HeldBody& held, std::string& body) {
  if (framing.body.kind == BodyKind::kNone) co_return 0;
  const std::size_t limit = host_.options().max_body;
  const bool counted = framing.body.kind == BodyKind::kLength;
  if (counted && framing.body.length > limit) co_return 413;
  if (framing.expects_continue && inlet_.empty()) {
    const bool sent = co_await put(kContinue);
    if (!sent) co_return -1;
  }
  ChunkedDecoder chunks;
  bool whole = counted && framing.body.length == 0;
  while (!whole) {
    std::string_view data;
    std::size_t consumed = 0;
    if (counted) {
      data =
          inlet_.unread().substr(0, std::min<std::size_t>(inlet_.unread().size(), framing.body.length - body.size()));
      consumed = data.size();
    } else if (!inlet_.empty()) {
      const ChunkedDecoder::Step step = chunks.next(inlet_.unread());
      if (step.state == ChunkedDecoder::State::kFault) co_return 400;
      whole = step.state == ChunkedDecoder::State::kEnd;
      data = step.data;
      consumed = step.consumed;
    }
    if (data.size() > limit - body.size()) co_return 413;
    if (!held.add(data.size())) co_return 503;
    body += data;
    inlet_.consume(consumed);
    whole |= counted && body.size() == framing.body.length;
    if (whole || !inlet_.empty()) continue;
    Transfer got = inlet_.fill(client_, host_.scratch_in());
    while (got.kind == Transfer::Kind::kWouldBlock && !client_.hung_up()) {
      const Wake wake = co_await waiter_.wait(host_.loop().now() + host_.options().stall_time, client_, kRead);
      if (wake != Wake::kReady) co_return wake == Wake::kTimeout ? 408 : -1;
      got = inlet_.fill(client_, host_.scratch_in());
    }
    if (got.kind != Transfer::Kind::kDone) co_return -1;
  }
  co_return 0;
}

// ---- Answers ------------------------------------------------------------------------------------------------------

Task<Conversation::Next> Conversation::answer(Reply reply, Framing framing, Next then) {
  inlet_.keep();
  const bool bodiless = framing.head_only || reply.status == 204 || reply.status == 304;
  AnswerHead head{.status = reply.status, .date = host_.date()};
  if (reply.stream != nullptr && reply.stream_size) {
    head.length = *reply.stream_size;
  } else if (reply.stream != nullptr) {
    head.body = framing.old ? AnswerHead::Body::kUntilClose : AnswerHead::Body::kChunked;
  } else if (!reply.trailers.empty() && !framing.old && !bodiless) {
    head.body = AnswerHead::Body::kChunked;
    reply.body = write_chunked_body(reply);
  } else {
    head.body = reply.status == 204 || reply.status == 304 ? AnswerHead::Body::kNone : AnswerHead::Body::kLength;
    head.length = reply.body.size();
  }
  if (then == Next::kAgain && (!framing.keep_alive || host_.draining())) then = Next::kClose;
  if (head.body == AnswerHead::Body::kUntilClose && then == Next::kAgain) then = Next::kClose;
  head.connection = then != Next::kAgain ? "close" : (framing.old ? "keep-alive" : "");
  std::string text = write_answer_head(head, reply);
  if (!bodiless && reply.body.size() < kPiece) {
    text += reply.body;
    reply.body.clear();
  }
  bool sent = co_await put(text);
  if (!sent) co_return Next::kReset;
  text = std::string();
  if (bodiless) co_return then;
  if (reply.stream != nullptr) {
    const bool chunked = head.body == AnswerHead::Body::kChunked;
    sent = co_await send_stream(*reply.stream, chunked, reply.stream_size);
  } else if (!reply.body.empty()) {
    sent = co_await put(reply.body);
  }
  co_return sent ? then : Next::kReset;
}

Task<bool> Conversation::send_stream(BodySource& source, bool chunked, std::optional<std::size_t> announced) {
  std::size_t given = 0;
  source.on_ready([this] {
    source_ready_ = true;
    if (awaits_source_) waiter_.wake_later();
  });
  for (bool over = false; !over;) {
    source_ready_ = false;
    std::string piece;
    // At the end of the server a stream ends where it is: its reader comes back to whoever listens then. A part of what
    // is one whole must not look like it.
    if (host_.draining() && !source.is_endless()) co_return false;
    const auto next = host_.draining() ? BodySource::Next::kEnd : source.next(piece);
    over = next == BodySource::Next::kEnd;
    given += piece.size();
    if (announced && given > *announced) co_return false;
    std::string text;
    if (!piece.empty() && chunked) {
      char line[http1::kMaxChunkHead];
      const std::size_t size = http1::write_chunk_head(piece.size(), line);
      text.reserve(size + piece.size() + http1::kChunkEnd.size() + http1::kLastChunk.size());
      text.append(line, size).append(piece).append(http1::kChunkEnd);
    } else {
      text = std::move(piece);
    }
    if (over && chunked) text += http1::kLastChunk;
    const bool sent = co_await put(text);
    if (!sent) co_return false;
    if (next != BodySource::Next::kNothingYet) continue;
    text = std::string();
    const bool there = co_await await_source();
    if (!there) co_return false;
  }
  // What was announced and does not come must not look whole.
  co_return !announced || given == *announced;
}

Task<bool> Conversation::await_source() {
  while (!source_ready_ && !host_.draining()) {
    // A client that has gone is noticed while there is nothing to send. One that sends its next request early waits; a
    // stream of HTTP/2 is at its end of what it sends, and tells of its going in another way.
    const bool listens = kind_ == Kind::kConnection && inlet_.empty();
    awaits_source_ = true;
    const Wake wake = co_await waiter_.wait(kNever, client_, listens ? kRead : kHangUp);
    awaits_source_ = false;
    if (wake == Wake::kCancelled || client_.hung_up()) co_return false;
    if (!listens || !client_.readable()) continue;
    const Transfer got = inlet_.fill(client_, host_.scratch_in());
    inlet_.keep();
    if (got.kind == Transfer::Kind::kEnd || got.kind == Transfer::Kind::kFailed) co_return false;
  }
  co_return true;
}

Task<bool> Conversation::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool flushed = co_await flush();
    if (!flushed) co_return false;
    const std::size_t size = std::min({bytes.size(), kPiece, client_.appetite()});
    if (size == 0) {
      const Wake wake = co_await waiter_.wait(host_.loop().now() + host_.options().stall_time, client_, kWrite);
      if (wake != Wake::kReady || client_.hung_up()) co_return false;
      continue;
    }
    iovec part = piece(bytes.substr(0, size));
    if (!outlet_.send(client_, {&part, 1})) co_return false;
    bytes.remove_prefix(size);
  }
  const bool flushed = co_await flush();
  co_return flushed;
}

Task<bool> Conversation::flush() {
  while (outlet_.blocked()) {
    const Wake wake = co_await waiter_.wait(host_.loop().now() + host_.options().stall_time, client_, kWrite);
    if (wake != Wake::kReady || !outlet_.flush(client_)) co_return false;
  }
  co_return true;
}

}  // namespace edge::net::server
