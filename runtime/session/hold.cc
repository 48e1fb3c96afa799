// Bodies that are held whole (rule D7), what is done to them on their way (rule D6), and the delivery of what was held.
#include <algorithm>

#include "net/http1/chunked.h"
#include "runtime/session/body_pace.h"
#include "runtime/session/cross_thread_wake.h"
#include "runtime/session/delivery.h"
#include "runtime/session/heads.h"
#include "runtime/session/session.h"
#include "runtime/session/trailers.h"
#include "runtime/session/worker.h"
#include "runtime/shape/accept_encoding.h"
#include "runtime/shape/compressible.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using net::http1::BodyKind;
using net::http1::ChunkedDecoder;

/// Receives before other sessions get their turn.
constexpr int kFillsATurn = 16;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Takes a request's body out of an inlet into a spool.
class BodyIntake {
 public:
  BodyIntake(const net::http1::Body& body, Spool& spool) : kind_(body.kind), left_(body.length), spool_(spool) {}

  bool done() const { return done_; }
  FailureKind fault() const { return fault_; }
  std::string_view trailers_of(const Exchange& exchange) {
    decoder_.keep_trailers([&](std::string_view name) { return passes_as_request_trailer(exchange, name); });
    return decoder_.trailer_lines();
  }

  void take(net::Inlet& inlet) {
    while (!inlet.empty() && !done_ && fault_ == FailureKind::kNone) {
      const std::string_view unread = inlet.unread();
      ChunkedDecoder::Step step;
      if (kind_ == BodyKind::kLength) {
        step.data = unread.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(unread.size(), left_)));
        step.consumed = step.data.size();
        left_ -= step.consumed;
        done_ = left_ == 0;
      } else {
        step = decoder_.next(unread);
        if (step.state == ChunkedDecoder::State::kFault) fault_ = FailureKind::kBadBody;
        done_ = step.state == ChunkedDecoder::State::kEnd;
      }
      const Spool::Put put = spool_.append(step.data);
      if (put == Spool::Put::kTooLarge) fault_ = FailureKind::kTooLarge;
      if (put == Spool::Put::kFailed) fault_ = FailureKind::kNoSpool;
      inlet.consume(step.consumed);
    }
  }

 private:
  BodyKind kind_;
  std::uint64_t left_;
  Spool& spool_;
  ChunkedDecoder decoder_;
  FailureKind fault_ = FailureKind::kNone;
  bool done_ = false;
};

Failure client_fault(FailureKind kind) { return {Origin::kClient, kind, false}; }

}  // namespace

std::uint64_t Session::body_limit(const program::TrafficRecord& traffic) {
  const std::uint64_t limit = traffic.max_request_body;
  if ((traffic.flags & program::kBufferRequest) == 0 || traffic.max_buffer == 0) return limit;
  return limit == 0 ? traffic.max_buffer : std::min(limit, traffic.max_buffer);
}

// What is done to this exchange's bodies, as far as the request and its rule tell.
void Session::shape(Exchange& exchange) {
  const net::http1::RequestHead& head = worker_.scratch().request;
  const program::TrafficRecord& traffic = *exchange.traffic;
  Shaping& shaping = exchange.shaping;
  const program::CompressionRecord* compression = exchange.listener->compression;
  if (compression != nullptr && !no_transform(head.fields)) {
    shaping.compression = compression;
    const auto algorithms = exchange.program->program->listeners_section().array(compression->algorithms);
    if (compressed_for(head.fields, compression->compressed_for)) {
      shaping.coding = choose_coding(algorithms, AcceptedCodings::of(head.fields));
    }
  }
  // What follows an Upgrade is no body.
  if ((traffic.flags & program::kBufferResponse) != 0 && !head.upgrade) {
    shaping.held = std::make_unique<HeldResponse>(worker_.spool_space(), traffic.max_buffer);
  }
  const bool has_body = head.body.kind == BodyKind::kChunked || head.body.length != 0;
  if ((traffic.flags & program::kBufferRequest) != 0 && has_body) {
    shaping.request = std::make_unique<Spool>(worker_.spool_space(), body_limit(traffic));
  }
}

// Reads the body to its end before anything is forwarded; the head then tells its length.
net::Task<Failure> Session::hold_request(Exchange& exchange) {
  Shaping& shaping = exchange.shaping;
  shaping.request_head.append({worker_.scratch().head().data(), exchange.head_size});
  if (exchange.expect_continue && inlet_.empty()) {
    iovec go_on = net::piece(kContinue);
    worker_.counters().responses[1].add();
    if (!outlet_.send(client_, {&go_on, 1})) co_return client_fault(FailureKind::kClientGone);
  }
  exchange.expect_continue = false;

  BodyIntake intake(exchange.body, *shaping.request);
  BodyPace pace(exchange.body_limits());
  intake.take(inlet_);
  for (int fills = 0; !intake.done() && intake.fault() == FailureKind::kNone;) {
    const bool disk_is_behind = shaping.request->backlogged();
    if (!disk_is_behind && client_.readable() && ++fills <= kFillsATurn) {
      const Transfer got = inlet_.fill(client_, worker_.scratch().client());
      intake.take(inlet_);
      if (got.kind == Transfer::Kind::kDone || got.kind == Transfer::Kind::kWouldBlock) continue;
      co_return client_fault(FailureKind::kClientGone);
    }
    fills = 0;
    const CrossThreadWake room(waiter_, worker_.loop());
    if (disk_is_behind && !shaping.request->await_room(room.callback())) continue;
    if (!disk_is_behind) client_.defer();
    const net::Time now = worker_.loop().now();
    disk_is_behind ? pace.pause(now) : pace.begin(now);
    const net::Time due = pace.due(shaping.request->size());
    const bool writes = disk_is_behind || outlet_.blocked();
    const net::Time until = std::min({exchange.deadline, idle_until(exchange, now, writes), due});
    std::uint8_t interest = disk_is_behind ? net::kHangUp : net::kRead;
    if (outlet_.blocked()) interest |= net::kWrite;
    const Wake wake = co_await waiter_.wait(until, client_, interest);
    if (wake == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    const bool late = exchange.deadline <= worker_.loop().now();
    if (wake == Wake::kTimeout && disk_is_behind && !late) {
      co_return Failure{Origin::kProxy, FailureKind::kNoSpool, false};
    }
    if (wake == Wake::kTimeout && disk_is_behind)
      co_return Failure{Origin::kProxy, FailureKind::kRequestTimeout, false};
    if (wake == Wake::kTimeout) {
      const bool slow = !late && due <= worker_.loop().now();
      co_return client_fault(slow ? FailureKind::kBodyTooSlow : FailureKind::kClientStalled);
    }
    if (client_.hung_up() || !outlet_.flush(client_)) co_return client_fault(FailureKind::kClientGone);
  }
  // What follows belongs to the next request, and the scratch is needed to send this one.
  inlet_.keep();
  if (intake.fault() != FailureKind::kNone) co_return client_fault(intake.fault());

  shaping.request_trailers = intake.trailers_of(exchange);
  std::optional<std::uint64_t> length;
  if (shaping.request_trailers.empty()) length = shaping.request->size();
  exchange.body = {length ? BodyKind::kLength : BodyKind::kChunked, length.value_or(0)};
  char end[64];
  net::http1::HeadWriter out(end, sizeof(end));
  finish_request_head(length, out);
  shaping.request_head.append(out.text());
  co_return Failure{};
}

// No connection to a backend is taken, and none waited for, for a body of which nothing has come, neither for the
// request nor for its copies: such requests cost their clients nothing. An expectation has to be forwarded (RFC 9110
// §10.1.1), for the backend answers it.
bool Session::awaits_body(const Exchange& exchange) const {
  const bool announced = exchange.body.kind == BodyKind::kChunked ||
                         (exchange.body.kind == BodyKind::kLength && exchange.body.length != 0);
  return announced && inlet_.empty() && exchange.shaping.request == nullptr && !exchange.expect_continue &&
         !exchange.streams_messages();
}

net::Task<Failure> Session::await_body(const Exchange& exchange) {
  BodyPace pace(exchange.body_limits());
  net::Buffer head;
  for (;;) {
    const Transfer got = inlet_.fill(client_, worker_.scratch().client());
    if (got.kind == Transfer::Kind::kDone) {
      std::ranges::copy(head.view(), worker_.scratch().head().begin());
      co_return Failure{};
    }
    if (got.kind != Transfer::Kind::kWouldBlock) co_return client_fault(FailureKind::kClientGone);
    const net::Time now = worker_.loop().now();
    pace.begin(now);
    if (head.empty()) {
      head.append({worker_.scratch().head().data(), exchange.head_size});
      if (exchange.cache != nullptr) exchange.cache->keep();
    }
    const net::Time until = std::min({exchange.deadline, idle_until(exchange, now, false), pace.due(0)});
    const Wake wake = co_await waiter_.wait(until, client_, net::kRead);
    if (wake == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    if (wake == Wake::kReady) continue;
    co_return client_fault(FailureKind::kClientStalled);
  }
}

// The response that was held, at the client's pace; its upstream serves others already.
net::Task<Session::Outcome> Session::deliver_held(const Exchange& exchange, Outcome before) {
  const HeldResponse& held = *exchange.shaping.held;
  ResponseTee* const tee = exchange.shaping.tee;
  const StoredResponse stored{held.head.view(), *held.body, tee != nullptr ? tee->fields() : std::string_view{},
                              held.trailers, held.cut};
  Outcome outcome = co_await deliver(exchange, stored, before);
  co_return outcome;
}

net::Task<Session::Outcome> Session::deliver(const Exchange& exchange, const StoredResponse& stored, Outcome before) {
  inlet_.keep();
  Delivery delivery(exchange, {client_, inlet_, outlet_}, relay_place(), stored);
  delivery.begin(before.body == BodyState::kRead);
  while (!delivery.ended()) {
    Wake wake;
    if (delivery.waits_for_client()) {
      wake = co_await waiter_.wait(delivery.wait_until(), client_, net::kWrite);
    } else if (delivery.starved()) {
      const CrossThreadWake news(waiter_, worker_.loop());
      const BodySource::More more = delivery.await(news.callback());
      wake = Wake::kReady;
      if (more == BodySource::More::kNever) delivery.broke_off();
      if (more == BodySource::More::kComes) {
        wake = co_await waiter_.wait(delivery.wait_until(), client_, net::kHangUp);
      }
    } else {
      // Others have their turn.
      wake = co_await waiter_.wait(worker_.loop().now());
      if (wake == Wake::kTimeout) wake = Wake::kReady;
    }
    if (wake == Wake::kCancelled) delivery.cancel();
    if (wake == Wake::kTimeout) delivery.timed_out();
    if (!delivery.ended()) delivery.advance();
  }
  Outcome outcome;
  outcome.failure = delivery.failure();
  outcome.status = delivery.status();
  outcome.answered = delivery.answered();
  outcome.body = before.body;
  outcome.reusable = delivery.client_reusable();
  outcome.reset = delivery.failed() && delivery.answered();
  outcome.attempts = before.attempts;
  outcome.received = before.received;
  outcome.sent = delivery.body_sent();
  if (stored.cut) outcome.reason = kResponseCut;
  co_return outcome;
}

RelayPlace Session::relay_place() {
  return {worker_.loop(),     worker_.scratch(), worker_.counters(),
          worker_.encoders(), worker_.date(),    worker_.draining()};
}

}  // namespace edge::runtime
