#include "runtime/upstream/relay/relay.h"

#include <algorithm>

#include "runtime/shape/buffered_body.h"
#include "runtime/shape/trailers.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::http1::BodyKind;
using net::http1::ChunkedDecoder;
using net::http1::HeadWriter;
using net::http1::ParseState;
using std::chrono::seconds;

/// A backend that does not know `Expect` says nothing; then the client is told to go on (RFC 9110 §10.1.1).
constexpr net::Duration kContinueAfter = seconds(1);
/// Receives of one side before other sessions get their turn.
constexpr int kFillsATurn = 16;
/// The same where what was received is compressed, which costs a hundred times as much.
constexpr int kCodedFillsATurn = 2;
constexpr std::size_t kFirstFill = std::size_t{64} * 1024;
constexpr std::size_t kSpoolPiece = std::size_t{128} * 1024;
constexpr int kMaxInterims = 32;
/// An endpoint that breaks off, or answers that it failed, when the client's body has rested for so long has given the
/// client up: no server does that sooner.
constexpr net::Duration kBodyPatience = seconds(1);
/// 4: DEADLINE_EXCEEDED, as a reply of our own would have it.
constexpr std::string_view kDeadlineTrailers =
    "grpc-status: 4\r\ngrpc-message: The call took longer than its deadline.\r\n";

}  // namespace

Relay::Relay(const ForwardRequest& request, const ForwardFor& on_behalf, UpstreamConnection& upstream)
    : request_(request),
      client_(on_behalf.client),
      worker_(on_behalf.worker),
      counts_(on_behalf.counts),
      upstream_(upstream),
      request_left_(request.body.framing.length),
      pace_(request.body.pace()),
      began_(on_behalf.worker.loop.now()) {
  request_done_ = request.body.none();
}

void Relay::fail(Origin origin, FailureKind kind) {
  if (failed()) return;
  // Its answer is known, and the end of the body that a page replaces is missed by nobody.
  if (origin == Origin::kUpstream && replaced()) return leave_body();
  const bool refused = origin == Origin::kUpstream && !response_bytes_ && upstream_.refused();
  if (refused) kind = FailureKind::kUpstreamRefused;
  const bool at_hand = !body_taken_ || (refused && !upstream_.sent_in_vain().empty());
  const bool nothing_done = !to_upstream_.sent_any() || ((refused || request_.idempotent()) && at_hand);
  const bool given_up = !refused && client_given_up();
  failure_ = {origin, kind, origin == Origin::kUpstream && !response_bytes_ && nothing_done && !given_up};
}

void Relay::wake_by(std::function<void()> news) {
  news_ = std::move(news);
  if (request_.response.cache != nullptr) request_.response.cache->tell_of_readers(news_);
}

void Relay::begin(std::string_view head) {
  Pieces pieces;
  pieces.add(head);
  if (!request_done_ && (request_.body.buffered != nullptr || !client_.inlet.empty())) take_request_body(pieces);
  if (failed()) return;
  if (!to_upstream_.send(upstream_, pieces.all())) {
    if (!to_upstream_.sent_any()) return fail(Origin::kUpstream, FailureKind::kUpstreamReset);
    request_abandoned_ = true;
    return;
  }
  took_request_body(pieces);
  if (request_.body.expect_continue && !body_taken_) continue_at_ = worker_.loop.now() + kContinueAfter;
}

std::optional<Relay::Progress> Relay::progress() {
  if (!body_taken_) return std::nullopt;
  Progress progress{{}, std::move(request_decoder_), request_left_, request_done_};
  progress.text.append(upstream_.sent_in_vain());
  progress.text.append(to_upstream_.pending());
  return progress;
}

void Relay::resume(Progress from) {
  request_decoder_ = std::move(from.decoder);
  request_left_ = from.left;
  request_done_ = from.done;
  body_taken_ = true;
  Pieces pieces;
  pieces.add(from.text.view());
  if (!to_upstream_.send(upstream_, pieces.all())) request_abandoned_ = true;
}

void Relay::advance() {
  client_interest_ = upstream_interest_ = net::kHangUp;
  if (client_.channel.hung_up()) lose_client(FailureKind::kClientGone);
  if (failed()) return;
  const bool timed = !request_done_;
  pump_request();
  if (timed) time_request();
  if (!failed()) pump_response();
}

void Relay::keep() {
  client_.inlet.keep();
  from_upstream_.keep();
}

// ---- Request body, client to upstream -----------------------------------------------------------------------------

void Relay::pump_request() {
  for (int fills = 0; !failed();) {
    if (to_upstream_.blocked()) {
      if (!to_upstream_.flush(upstream_)) request_abandoned_ = true;
      if (to_upstream_.blocked() && !request_abandoned_) {
        upstream_interest_ |= net::kWrite;
        return;
      }
    }
    // Abandoned: the upstream takes no more, but its answer may be on its way.
    if (request_done_ || request_abandoned_) return;
    const std::size_t wanted = upstream_.appetite();
    if (wanted == 0) {
      upstream_interest_ |= net::kWrite;
      return;
    }
    if (client_.inlet.empty() && request_.body.buffered == nullptr) {
      if (!client_.channel.readable() || ++fills > kFillsATurn) {
        client_.channel.defer();
        client_interest_ |= net::kRead;
        return;
      }
      const std::span<char> scratch = worker_.scratch.client();
      const Transfer got = client_.inlet.fill(client_.channel, scratch.first(std::min(scratch.size(), wanted)));
      if (got.kind == Transfer::Kind::kWouldBlock) {
        client_interest_ |= net::kRead;
        return;
      }
      if (got.kind != Transfer::Kind::kDone) return fail(Origin::kClient, FailureKind::kClientGone);
      body_at_ = worker_.loop.now();
    }
    Pieces pieces;
    take_request_body(pieces);
    if (failed() || spool_is_late_) return;
    if (!to_upstream_.send(upstream_, pieces.all())) request_abandoned_ = true;
    took_request_body(pieces);
  }
}

// A backend that does not take what is here is no fault of the client's.
void Relay::time_request() {
  if ((client_interest_ & net::kRead) != 0) {
    pace_.begin(worker_.loop.now());
  } else {
    pace_.pause(worker_.loop.now());
  }
}

void Relay::take_request_body(Pieces& pieces) {
  const std::size_t first = pieces.count;
  if (request_.body.buffered != nullptr) {
    take_spooled_body(pieces);
  } else {
    take_client_body(pieces);
  }
  if (request_.body.mirrors.empty()) return;
  for (std::size_t i = first; i < pieces.count; ++i) {
    const std::string_view piece{static_cast<const char*>(pieces.at[i].iov_base), pieces.at[i].iov_len};
    request_.body.mirrors.feed(mirrored_, piece);
    mirrored_ += piece.size();
  }
}

void Relay::take_client_body(Pieces& pieces) {
  const std::string_view unread = client_.inlet.unread();
  if (request_.body.framing.kind == BodyKind::kLength) {
    pieces.consumed = static_cast<std::size_t>(std::min<std::uint64_t>(unread.size(), request_left_));
    pieces.add(unread.substr(0, pieces.consumed));
    pieces.last = pieces.consumed == request_left_;
    return;
  }
  const ChunkedDecoder::Step step = request_decoder_.forward(unread);
  const std::uint64_t limit = request_.treatment->max_request_body;
  if (step.state == ChunkedDecoder::State::kFault) return fail(Origin::kClient, FailureKind::kBadBody);
  if (limit != 0 && request_decoder_.body_bytes() > limit) return fail(Origin::kClient, FailureKind::kTooLarge);
  pieces.consumed = step.consumed;
  pieces.add(step.data);
  if (step.state == ChunkedDecoder::State::kEnd) {
    const RequestTrailerRules rules = request_.trailer_rules();
    request_decoder_.keep_trailers([&](std::string_view name) { return passes_as_request_trailer(rules, name); });
    pieces.add(request_decoder_.trailer_lines());
    pieces.add(net::http1::kChunkEnd);
    pieces.last = true;
  }
}

// The client's part of the thread's scratch is free: the body was read to its end before.
void Relay::take_spooled_body(Pieces& pieces) {
  const Spool& spool = *request_.body.buffered;
  const std::string_view piece = next_spooled();
  if (failed() || spool_is_late_) return;
  spool_at_ += piece.size();
  request_done_ = spool_at_ == spool.size();
  if (request_.body.framing.kind == BodyKind::kLength) return pieces.add(piece);
  if (!piece.empty()) {
    pieces.add({pieces.chunk_head, net::http1::write_chunk_head(piece.size(), pieces.chunk_head)});
    pieces.add(piece);
    pieces.add(net::http1::kChunkEnd);
  }
  if (!request_done_) return;
  pieces.add(net::http1::kLastChunkLine);
  pieces.add(request_.body.trailers);
  pieces.add(net::http1::kChunkEnd);
}

// Empty at the end; or while it comes from a disk, which will tell.
std::string_view Relay::next_spooled() {
  Spool& spool = *request_.body.buffered;
  spool_is_late_ = false;
  while (spool_at_ != spool.size()) {
    const std::string_view piece = spool.read(spool_at_, worker_.scratch.client()).substr(0, kSpoolPiece);
    if (!piece.empty()) return piece;
    const BodySource::More more = spool.await(spool_at_, news_);
    if (more == BodySource::More::kHere) continue;
    if (more == BodySource::More::kNever) fail(Origin::kProxy, FailureKind::kNoSpool);
    spool_is_late_ = more == BodySource::More::kComes;
    break;
  }
  return {};
}

void Relay::took_request_body(const Pieces& pieces) {
  if (pieces.consumed == 0) return;
  client_.inlet.consume(pieces.consumed);
  body_taken_ = true;
  continue_at_ = net::kNever;
  if (request_.body.framing.kind == BodyKind::kLength) request_left_ -= pieces.consumed;
  request_done_ = pieces.last;
}

// ---- Response, upstream to client ---------------------------------------------------------------------------------

void Relay::pump_response() {
  for (int fills = 0; !failed();) {
    if (!client_lost() && !client_.outlet.flush(client_.channel)) lose_client(FailureKind::kClientGone);
    if (failed()) return;
    if (!client_lost() && client_.outlet.blocked()) client_interest_ |= net::kWrite;
    if (waits_for_client()) return;
    if (way_ == Way::kBuffered && response_ == Response::kBody && request_.response.buffered->body->await_room(news_))
      return;
    if (response_ == Response::kDone) return;
    const std::size_t wanted = read_along() ? kSpoolPiece : client_.channel.appetite();
    if (wanted == 0) {
      client_interest_ |= net::kWrite;
      return;
    }
    if (from_upstream_.empty() || head_incomplete_) {
      const bool worth_trying = upstream_.readable() || upstream_.hung_up();
      const int most = writer_ != nullptr && writer_->codes() ? kCodedFillsATurn : kFillsATurn;
      if (!worth_trying || ++fills > most) {
        upstream_.defer();
        upstream_interest_ |= net::kRead;
        return;
      }
      const Transfer got = from_upstream_.fill(upstream_, room(wanted));
      if (got.kind == Transfer::Kind::kWouldBlock && !upstream_.hung_up()) {
        upstream_interest_ |= net::kRead;
        return;
      }
      if (got.kind != Transfer::Kind::kDone) return upstream_ended(got.kind);
      head_incomplete_ = false;
      response_bytes_ = true;
      continue_at_ = net::kNever;
    }
    if (response_ == Response::kHead) {
      take_response_head();
    } else if (way_ != Way::kStraight) {
      BodyWriter::Turn now = turn();
      pump_shaped(now);
    } else {
      Pieces pieces;
      take_response_body(pieces);
      if (failed()) return;
      send_to_client(pieces);
      took_response_body(pieces);
    }
  }
}

// A body of middle size stays in the cache when it moves in two halves; a large one is worth fewer system calls. More
// than the client's side takes would only fill memory.
std::span<char> Relay::room(std::size_t wanted) const {
  const std::span<char> whole = worker_.scratch.upstream();
  return whole.first(std::min(response_ == Response::kHead ? kFirstFill : whole.size(), wanted));
}

void Relay::take_response_head() {
  head_incomplete_ = false;
  net::http1::ResponseHead& head = worker_.scratch.response;
  const auto parsed = net::http1::parse_response(from_upstream_.unread(), request_.response.method,
                                                 worker_.scratch.limits, hint_, head);
  if (parsed.state == ParseState::kIncomplete) {
    head_incomplete_ = true;
    return;
  }
  // 101 has to answer what was asked for, else one side would read as HTTP what the other does not mean so.
  const bool switches = head.status == 101 && parsed.state == ParseState::kComplete;
  if (parsed.state == ParseState::kFault || (switches && !(request_.websocket && switches_to_websocket(head)))) {
    return fail(Origin::kUpstream, FailureKind::kBadResponse);
  }
  hint_ = {};
  if (switches) {
    switch_protocols(parsed.consumed);
  } else if (head.status < 200) {
    if (++interims_ > kMaxInterims) return fail(Origin::kUpstream, FailureKind::kBadResponse);
    forward_interim();
    from_upstream_.consume(parsed.consumed);
  } else if (request_.response.reshapes() && await_size(parsed.consumed)) {
    head_incomplete_ = true;
  } else {
    answer(parsed.consumed);
  }
}

void Relay::forward_interim() {
  const net::http1::ResponseHead& head = worker_.scratch.response;
  // HTTP/1.0 knows no interim responses (RFC 9110 §15.2); a client hears `continue` once.
  if (request_.response.minor == 0 || (head.status == 100 && own_continue_)) return;
  HeadWriter out(worker_.scratch.head().data(), worker_.scratch.head().size());
  write_interim_head(head, out);
  if (out.overflowed()) return fail(Origin::kUpstream, FailureKind::kBadResponse);
  counts_.responses[1].add();
  Pieces pieces;
  pieces.add(out.text());
  send_to_client(pieces);
}

void Relay::switch_protocols(std::size_t head_size) {
  const net::http1::ResponseHead& head = worker_.scratch.response;
  const program::FieldEdits edits = request_.response.edits();
  HeadWriter out(worker_.scratch.head().data(), worker_.scratch.head().size());
  write_response_head(
      {head, BodyOut::kAsIs, {}, worker_.date, request_.response.backend_http, edits, request_.response.added}, out);
  if (out.overflowed()) return fail(Origin::kUpstream, FailureKind::kBadResponse);
  status_ = head.status;
  upstream_.answered(worker_.loop.now(), status_);
  if (request_.notes != nullptr) request_.notes->answered_at = worker_.loop.now();
  close_client_ = true;
  from_upstream_.consume(head_size);
  response_ = Response::kDone;
  Pieces pieces;
  pieces.add(out.text());
  send_to_client(pieces);
}

/// An answer that nobody is to see: the request is tried once more. Its connection lives when all of it is here.
bool Relay::gives_way(std::size_t head_size) {
  if (!request_.idempotent() || body_taken_ || client_given_up() || !retries_->again(status_)) return false;
  const std::size_t here = from_upstream_.unread().size() - head_size;
  upstream_at_end_ = body_in_ == BodyKind::kNone ? here == 0 : body_in_ == BodyKind::kLength && here == response_left_;
  failure_ = {Origin::kUpstream, FailureKind::kRetriedAnswer, true};
  return true;
}

void Relay::answer(std::size_t head_size) {
  const net::http1::ResponseHead& head = worker_.scratch.response;
  body_in_ = head.body.kind;
  response_left_ = head.body.length;
  upstream_keeps_alive_ = head.keep_alive;
  status_ = head.status;
  upstream_.answered(worker_.loop.now(), status_);
  if (status_ >= 500 && client_given_up()) upstream_.tells_nothing();
  if (request_.notes != nullptr) request_.notes->answered_at = worker_.loop.now();
  if (retries_ != nullptr && gives_way(head_size)) return;
  try_until_ = net::kNever;
  if (body_in_ == BodyKind::kChunked || body_in_ == BodyKind::kUntilClose) {
    body_out_ = request_.response.minor == 0 ? BodyOut::kUntilClose : BodyOut::kChunked;
  }
  if (request_.response.reshapes()) {
    choose_way(head_size);
    if (withheld()) return;
  }
  // A body that is not read to its end leaves the connection at no boundary.
  close_client_ =
      !request_.response.keep_alive || worker_.closing || body_out_ == BodyOut::kUntilClose || !request_read();

  const program::FieldEdits edits = request_.response.edits();
  HeadWriter out(worker_.scratch.head().data(), worker_.scratch.head().size() - BodyWriter::kRoomBehindHead);
  write_response_head({head, body_out_, request_.response.connection_field(close_client_), worker_.date,
                       request_.response.backend_http, edits, request_.response.added,
                       request_.response.reshapes() ? &change_ : nullptr, request_.response.varies_by_accept(status_)},
                      out);
  if (out.overflowed()) return fail(Origin::kUpstream, FailureKind::kBadResponse);

  from_upstream_.consume(head_size);
  response_ = Response::kBody;
  if (way_ != Way::kStraight) {
    BodyWriter::Turn now = turn();
    now.head = out.text();
    now.area = now.area.subspan(out.size());
    return pump_shaped(now);
  }
  Pieces pieces;
  pieces.add(out.text());
  take_response_body(pieces);
  send_to_client(pieces);
  took_response_body(pieces);
}

void Relay::take_response_body(Pieces& pieces) {
  const std::string_view unread = from_upstream_.unread();
  switch (body_in_) {
    case BodyKind::kNone:
      pieces.last = true;
      return;
    case BodyKind::kLength:
      pieces.consumed = static_cast<std::size_t>(std::min<std::uint64_t>(unread.size(), response_left_));
      pieces.add(unread.substr(0, pieces.consumed));
      pieces.last = pieces.consumed == response_left_;
      return;
    case BodyKind::kUntilClose:
      pieces.consumed = unread.size();
      if (unread.empty()) return;
      if (body_out_ == BodyOut::kChunked) {
        pieces.add({pieces.chunk_head, net::http1::write_chunk_head(unread.size(), pieces.chunk_head)});
        pieces.add(unread);
        pieces.add(net::http1::kChunkEnd);
      } else {
        pieces.add(unread);
      }
      return;
    case BodyKind::kChunked:
      break;
  }
  if (unread.empty()) return;
  const bool decode = body_out_ == BodyOut::kUntilClose;
  const ChunkedDecoder::Step step = decode ? response_decoder_.next(unread) : response_decoder_.forward(unread);
  if (step.state == ChunkedDecoder::State::kFault) return fail(Origin::kUpstream, FailureKind::kTruncated);
  pieces.consumed = step.consumed;
  pieces.add(step.data);
  pieces.last = step.state == ChunkedDecoder::State::kEnd;
  if (pieces.last && !decode) {
    response_decoder_.keep_trailers(
        [this](std::string_view name) { return passes_as_response_trailer(request_.response, name); });
    pieces.add(response_decoder_.trailer_lines());
    pieces.add(net::http1::kChunkEnd);
  }
}

void Relay::took_response_body(const Pieces& pieces) {
  from_upstream_.consume(pieces.consumed);
  if (body_in_ == BodyKind::kLength) response_left_ -= pieces.consumed;
  sent_straight_ = body_in_ == BodyKind::kChunked ? response_decoder_.body_bytes() : sent_straight_ + pieces.consumed;
  if (!pieces.last) return;
  response_ = Response::kDone;
  // Bytes after the end belong to nothing that was asked for.
  upstream_at_end_ = from_upstream_.empty();
}

void Relay::send_to_client(Pieces& pieces) {
  if (pieces.count == 0) return;
  if (!client_.outlet.send(client_.channel, pieces.all())) fail(Origin::kClient, FailureKind::kClientGone);
}

void Relay::upstream_ended(Transfer::Kind how) {
  if (response_ == Response::kHead && decide_at_ != net::kNever && how == Transfer::Kind::kEnd) {
    // What is here is all that comes: the answer waits for no more.
    all_here_ = true;
    take_response_head();
    if (client_.outlet.blocked()) client_interest_ |= net::kWrite;
    if (failed() || response_ != Response::kBody || !from_upstream_.empty()) return;
  }
  if (response_ == Response::kHead) {
    const bool torn = response_bytes_ && !from_upstream_.empty();
    return fail(Origin::kUpstream, torn ? FailureKind::kBadResponse : FailureKind::kUpstreamReset);
  }
  // A reset that a send has met is over when the receive comes to it, and looks like an end there.
  if (body_in_ != BodyKind::kUntilClose || how != Transfer::Kind::kEnd || request_abandoned_) {
    return fail(Origin::kUpstream, FailureKind::kTruncated);
  }
  if (way_ != Way::kStraight) {
    BodyWriter::Turn now = turn();
    end_shaped(now);
  } else {
    Pieces pieces;
    if (body_out_ == BodyOut::kChunked) pieces.add(net::http1::kLastChunk);
    send_to_client(pieces);
  }
  response_ = Response::kDone;
  if (client_.outlet.blocked()) client_interest_ |= net::kWrite;
}

std::uint64_t Relay::body_received() const {
  if (request_.body.buffered != nullptr) return request_.body.buffered->size();
  if (request_.body.framing.kind == BodyKind::kLength) return request_.body.framing.length - request_left_;
  return request_.body.framing.kind == BodyKind::kChunked ? request_decoder_.body_bytes() : 0;
}

bool Relay::client_given_up() const {
  const bool awaits_body = (client_interest_ & net::kRead) != 0;
  return awaits_body && worker_.loop.now() - std::max(began_, body_at_) >= kBodyPatience;
}

AfterUse Relay::after_use() const {
  const bool silent =
      was_late_ || failure_.kind == FailureKind::kUpstreamStalled || failure_.kind == FailureKind::kTryTimeout;
  const bool gave_way = failure_.kind == FailureKind::kRetriedAnswer;
  const bool refused = failure_.kind == FailureKind::kUpstreamRefused;
  // That a pooled connection had died says nothing of its endpoint, nor that one takes no more requests.
  const bool fault = failure_.origin == Origin::kUpstream && !gave_way && !refused && !client_given_up() &&
                     !(failure_.replayable && upstream_.requests() > 1);
  if (!answered() && (silent || fault)) return AfterUse::kFailed;
  const bool reusable = (!failed() || gave_way) && request_done_ && !request_abandoned_ && !to_upstream_.blocked() &&
                        upstream_keeps_alive_ && upstream_at_end_;
  return reusable ? AfterUse::kKeep : AfterUse::kClose;
}

// ---- Time ---------------------------------------------------------------------------------------------------------

net::Time Relay::wait_until() const {
  const net::Time mine = std::min({continue_at_, flush_at_, decide_at_, try_until_});
  const net::Time now = worker_.loop.now();
  const bool writes = ((client_interest_ | upstream_interest_) & net::kWrite) != 0 || disk_is_behind();
  net::Time idle = request_.deadlines.idle_until(now, writes);
  // Others wait for this client, and had better not be given up with it.
  if (watched_ && client_.outlet.blocked() && request_.response.cache->shared(0)) idle = now + (idle - now) / 2;
  return std::min({request_.deadlines.until, mine, pace_.due(body_received()), idle});
}

bool Relay::disk_is_behind() const {
  return spool_is_late_ || (way_ == Way::kBuffered && request_.response.buffered->body->backlogged());
}

// The client owes neither bytes nor room, and no disk is behind.
bool Relay::awaits_endpoint() const { return !disk_is_behind() && client_interest_ == net::kHangUp; }

// A caller of gRPC whose answer has begun learns of it where it looks for the status: behind the messages that it got.
// Not within one, and not where the body is another than the backend's.
void Relay::past_deadline() {
  const bool between =
      body_in_ == BodyKind::kChunked ? response_decoder_.between_chunks() : body_in_ == BodyKind::kUntilClose;
  const bool tells = request_.grpc && response_ == Response::kBody && way_ == Way::kStraight &&
                     body_out_ == BodyOut::kChunked && between && !client_lost();
  if (tells) {
    Pieces pieces;
    pieces.add(net::http1::kLastChunkLine);
    pieces.add(kDeadlineTrailers);
    pieces.add(net::http1::kChunkEnd);
    send_to_client(pieces);
  }
  fail(Origin::kProxy, FailureKind::kRequestTimeout);
}

void Relay::timed_out() {
  const net::Time now = worker_.loop.now();
  if (request_.deadlines.until <= now) {
    // The page is known: only the cache was still waited for.
    if (response_ == Response::kBody && replaced()) return leave_body();
    was_late_ = awaits_endpoint() && std::max(began_, body_at_) < request_.deadlines.fault_before;
    const bool body_missing = (client_interest_ & net::kRead) != 0 && !answered();
    if (body_missing) return fail(Origin::kClient, FailureKind::kClientStalled);
    return past_deadline();
  }
  if (try_until_ <= now) {
    // It is the endpoint's time, and begins once more with each wait for the client.
    const net::Time due = retries_->try_until(awaits_endpoint() ? body_at_ : now);
    if (due <= now) return fail(Origin::kUpstream, FailureKind::kTryTimeout);
    try_until_ = due;
    return;
  }
  if (continue_at_ <= now) {
    continue_at_ = net::kNever;
    own_continue_ = true;
    Pieces pieces;
    pieces.add(kContinue);
    counts_.responses[1].add();
    return send_to_client(pieces);
  }
  if (pace_.due(body_received()) <= now) return fail(Origin::kClient, FailureKind::kBodyTooSlow);
  if (flush_at_ <= now) return flush_writer();
  if (decide_at_ <= now) return response_ == Response::kHead ? take_response_head() : leave_body();
  if (disk_is_behind()) return fail(Origin::kProxy, FailureKind::kNoSpool);
  if (client_interest_ != net::kHangUp) return lose_client(FailureKind::kClientStalled);
  fail(Origin::kUpstream, FailureKind::kUpstreamStalled);
}

}  // namespace edge::runtime
