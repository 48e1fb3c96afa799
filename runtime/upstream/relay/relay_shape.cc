// Responses that are not relayed unchanged: compressed (D6), buffered (D7), stored by the cache, or withheld from the
// client for the cache.
#include <algorithm>

#include "runtime/shape/compressible.h"
#include "runtime/shape/response_plan.h"
#include "runtime/shape/trailers.h"
#include "runtime/upstream/relay/relay.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::ChunkedDecoder;
using std::chrono::milliseconds;

/// How long an encoder may keep bytes back while the upstream rests, and an answer of unknown size its head.
constexpr net::Duration kPatience = milliseconds(10);
/// An encoder's input at a time.
constexpr std::size_t kReadPiece = std::size_t{64} * 1024;
/// More of a response that neither a client nor the cache wants is not read for the sake of its connection.
constexpr std::uint64_t kMostSwallowed = std::uint64_t{256} * 1024;

}  // namespace

// A body without a length may be too small to be compressed: its head waits until that much of it is here.
bool Relay::await_size(std::size_t head_size) {
  const std::string_view body = from_upstream_.unread().substr(head_size);
  if (all_here_ && worker_.scratch.response.body.kind == BodyKind::kUntilClose) known_length_ = body.size();
  if (all_here_ || decide_at_ <= worker_.loop.now()) return false;
  if (!size_undecided(request_.response, worker_.scratch.response, body, known_length_)) return false;
  if (decide_at_ == net::kNever) decide_at_ = worker_.loop.now() + kPatience;
  return true;
}

void Relay::choose_way(std::size_t head_size) {
  const net::http1::ResponseHead& head = worker_.scratch.response;
  const ResponseRules& rules = request_.response;
  const std::string_view text = from_upstream_.unread().substr(0, head_size);
  decide_at_ = net::kNever;
  if (rules.cache != nullptr) {
    const cache::Transaction::Take take = rules.cache->head(head, text);
    watched_ = take == cache::Transaction::Take::kCopy;
    if (take == cache::Transaction::Take::kSwallow) way_ = Way::kSwallowed;
  }
  if (way_ == Way::kStraight && rules.buffered != nullptr) choose_buffer(text);
  if (withheld()) {
    from_upstream_.consume(head_size);
    response_ = Response::kBody;
    BodyWriter::Turn now = turn();
    pump_shaped(now);
    // For the sake of its connection a body that nobody gets is waited for a little, and no longer.
    if (replaced() && !watched_ && response_ == Response::kBody) decide_at_ = worker_.loop.now() + kPatience;
    return;
  }
  ResponsePlan plan;
  if (rules.compression != nullptr) {
    const std::optional<std::uint64_t> length = known_length_ ? known_length_ : declared_length(head);
    plan = plan_response(rules, head, length, worker_.encoders);
    change_ = plan.change;
  }
  if (rules.cache != nullptr) change_.extra = rules.cache->fields();
  if (plan.encoder == nullptr && !watched_) return;
  if (plan.encoder != nullptr) body_out_ = request_.response.minor == 0 ? BodyOut::kUntilClose : BodyOut::kChunked;
  writer_ = std::make_unique<BodyWriter>(body_out_, std::move(plan.encoder), is_event_stream(head.fields));
  way_ = Way::kWritten;
}

void Relay::choose_buffer(std::string_view text) {
  BufferedResponse& buffered = *request_.response.buffered;
  const bool has_body = body_in_ != BodyKind::kNone && !(body_in_ == BodyKind::kLength && response_left_ == 0);
  if (buffered.replace(worker_.scratch.response, text)) {
    way_ = Way::kSwallowed;
  } else if (buffered.buffers && has_body) {
    buffered.begin(text);
    way_ = Way::kBuffered;
  }
}

bool Relay::replaced() const {
  return way_ == Way::kSwallowed && request_.response.buffered != nullptr &&
         request_.response.buffered->page != nullptr;
}

/// The rest of the body is not read.
void Relay::leave_body() {
  if (client_lost()) return fail(Origin::kClient, lost_);
  response_ = Response::kDone;
  decide_at_ = net::kNever;
  upstream_keeps_alive_ = false;
}

BodyWriter::Turn Relay::turn() const { return {client_.channel, client_.outlet, worker_.scratch.head(), {}}; }

void Relay::pump_shaped(BodyWriter::Turn& turn) {
  do {
    const Piece piece = next_piece();
    if (failed()) return;
    take_piece(piece, turn);
    if (failed()) return;
    from_upstream_.consume(piece.consumed);
    if (body_in_ == BodyKind::kLength) response_left_ -= piece.consumed;
    if (piece.last) {
      end_shaped(turn);
      response_ = Response::kDone;
      upstream_at_end_ = upstream_at_end_ || from_upstream_.empty();
    }
  } while (!failed() && response_ == Response::kBody && !from_upstream_.empty() && !waits_for_client());
  if (client_lost()) {
    if (response_ == Response::kDone) fail(Origin::kClient, lost_);
    return;
  }
  if (way_ != Way::kWritten || failed()) return;
  written(writer_->end_turn(turn));
  // A body of known length is no stream that somebody follows: it is compressed as well as can be.
  if (response_ == Response::kBody && body_in_ != BodyKind::kLength && writer_->keeps_back()) {
    if (flush_at_ == net::kNever) flush_at_ = worker_.loop.now() + kPatience;
  } else {
    flush_at_ = net::kNever;
  }
}

Relay::Piece Relay::next_piece() {
  const std::string_view unread = from_upstream_.unread();
  Piece piece;
  switch (body_in_) {
    case BodyKind::kNone:
      piece.last = true;
      break;
    case BodyKind::kLength:
      piece.data = unread.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(kReadPiece, response_left_)));
      piece.consumed = piece.data.size();
      piece.last = piece.consumed == response_left_;
      break;
    case BodyKind::kUntilClose:
      piece.data = unread.substr(0, kReadPiece);
      piece.consumed = piece.data.size();
      break;
    case BodyKind::kChunked: {
      if (unread.empty()) break;
      const ChunkedDecoder::Step step = response_decoder_.next(unread.substr(0, kReadPiece));
      if (step.state == ChunkedDecoder::State::kFault) fail(Origin::kUpstream, FailureKind::kTruncated);
      piece = {step.data, step.consumed, step.state == ChunkedDecoder::State::kEnd};
      break;
    }
  }
  return piece;
}

void Relay::take_piece(const Piece& piece, BodyWriter::Turn& turn) {
  if (watched_) request_.response.cache->body(piece.data);
  if (client_lost()) return;
  if (way_ == Way::kWritten) return written(writer_->write(turn, piece.data));
  bool enough = false;
  if (way_ == Way::kBuffered) {
    BufferedResponse& buffered = *request_.response.buffered;
    const Spool::Put put = buffered.body->append(piece.data);
    if (put == Spool::Put::kFailed) return fail(Origin::kProxy, FailureKind::kNoSpool);
    // Rule D7: what is too much is discarded. It need not come for that.
    enough = buffered.cut = put == Spool::Put::kTooLarge;
  } else {
    if (watched_ && !request_.response.cache->stores()) {
      // It was too large for the cache: from here on nobody wants it.
      watched_ = false;
      decide_at_ = worker_.loop.now() + kPatience;
    }
    swallowed_ += piece.data.size();
    enough = !watched_ && swallowed_ > kMostSwallowed;
  }
  if (enough) leave_body();
}

void Relay::end_shaped(BodyWriter::Turn& turn) {
  response_decoder_.keep_trailers(
      [this](std::string_view name) { return passes_as_response_trailer(request_.response, name); });
  const std::string_view trailers =
      body_in_ == BodyKind::kChunked ? response_decoder_.trailer_lines() : std::string_view{};
  if (watched_) request_.response.cache->end();
  if (way_ == Way::kBuffered) request_.response.buffered->trailers = trailers;
  // HEAD and its like: not even the end of a body is told.
  if (way_ == Way::kWritten && body_in_ != BodyKind::kNone && !client_lost()) written(writer_->end(turn, trailers));
}

void Relay::flush_writer() {
  // Behind what the client does not take yet it would only lie.
  flush_at_ = client_.outlet.blocked() ? worker_.loop.now() + kPatience : net::kNever;
  if (flush_at_ != net::kNever) return;
  BodyWriter::Turn now = turn();
  written(writer_->flush(now));
}

// Others who read along are not held up by this client; what it does not take yet is kept for it.
bool Relay::read_along() const {
  return client_lost() || (watched_ && request_.response.cache->shared(client_.outlet.pending().size()));
}

bool Relay::waits_for_client() const { return client_.outlet.blocked() && !read_along(); }

void Relay::lose_client(FailureKind kind) {
  if (client_lost()) return;
  const bool read_on = response_ == Response::kBody && watched_ && request_.response.cache->outlives_client();
  if (!read_on) return fail(Origin::kClient, kind);
  lost_ = kind;
  flush_at_ = net::kNever;
}

void Relay::written(BodyWriter::Result result) {
  if (result == BodyWriter::Result::kClientGone) lose_client(FailureKind::kClientGone);
  if (result == BodyWriter::Result::kEncoderFailed) fail(Origin::kProxy, FailureKind::kTruncated);
}

}  // namespace edge::runtime
