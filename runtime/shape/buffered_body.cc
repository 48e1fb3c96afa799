#include "runtime/shape/buffered_body.h"

#include <algorithm>
#include <utility>

#include "net/http1/chunked.h"
#include "runtime/phase/cross_thread_wake.h"
#include "runtime/shape/body_pace.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/trailers.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using net::http1::BodyKind;
using net::http1::ChunkedDecoder;

/// Receives before other sessions get their turn.
constexpr int kFillsATurn = 16;

/// Moves a request's body from an inlet into a spool.
class BodyIntake {
 public:
  BodyIntake(const net::http1::Body& body, Spool& spool) : kind_(body.kind), left_(body.length), spool_(spool) {}

  bool done() const { return done_; }
  FailureKind fault() const { return fault_; }
  std::string_view trailers(const RequestTrailerRules& rules) {
    decoder_.keep_trailers([&](std::string_view name) { return passes_as_request_trailer(rules, name); });
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

/// Bytes that the framing of a copied body of so many bytes may take together with it: the inlet retains them as they
/// came. Chunks of one byte could take 21 times the body.
constexpr std::uint64_t most_framed(std::uint64_t limit) { return 2 * limit + (std::uint64_t{16} << 10); }

/// Copies a request's body from an inlet, which retains it.
class BodyCopy {
 public:
  BodyCopy(const net::http1::Body& body, BodyPart part, std::uint64_t limit, std::string& into)
      : body_(body), part_(part), limit_(limit), into_(into) {}

  bool done() const { return done_; }
  FailureKind fault() const { return fault_; }

  /// `unread`: of the inlet, from the body's first byte on.
  void take(std::string_view unread) {
    while (at_ < unread.size() && !done_ && fault_ == FailureKind::kNone) {
      ChunkedDecoder::Step step;
      if (body_.kind == BodyKind::kLength) {
        step.data = unread.substr(at_, static_cast<std::size_t>(body_.length) - into_.size());
        step.consumed = step.data.size();
        done_ = into_.size() + step.data.size() == body_.length;
      } else {
        step = decoder_.next(unread.substr(at_));
        if (step.state == ChunkedDecoder::State::kFault) fault_ = FailureKind::kBadBody;
        done_ = step.state == ChunkedDecoder::State::kEnd;
      }
      at_ += step.consumed;
      if (into_.size() + step.data.size() <= limit_) {
        into_.append(step.data);
      } else if (part_ == BodyPart::kWhole) {
        fault_ = FailureKind::kTooLarge;
      } else {
        into_.append(step.data.substr(0, static_cast<std::size_t>(limit_) - into_.size()));
      }
      if (part_ == BodyPart::kBeginning) done_ = done_ || into_.size() == limit_;
      if (!done_ && at_ > most_framed(limit_)) fault_ = FailureKind::kBadBody;
    }
  }

 private:
  const net::http1::Body& body_;
  BodyPart part_;
  std::uint64_t limit_;
  std::string& into_;
  ChunkedDecoder decoder_;
  std::size_t at_ = 0;
  FailureKind fault_ = FailureKind::kNone;
  bool done_ = false;
};

Failure client_fault(FailureKind kind) { return {Origin::kClient, kind, false}; }

/// Sends 100 to a client that waits for it with its body. \returns false when the client is gone.
bool invite_body(RequestBody& body, const ClientEnd& client, net::Counter& interim) {
  const bool awaited = std::exchange(body.expect_continue, false);
  if (!awaited || !client.inlet.empty()) return true;
  iovec go_on = net::piece(kContinue);
  interim.add();
  return client.outlet.send(client.channel, {&go_on, 1});
}

}  // namespace

// Reads the body to its end before anything is forwarded; the head then tells its length.
net::Task<Failure> buffer_body(RequestBody& body, std::string_view head, const BodyIntakePlan& from,
                               const RequestTrailerRules& trailers, net::Counter& interim) {
  const ClientEnd& client = from.client;
  net::Loop& loop = from.worker.loop;
  body.head.append(head);
  if (!invite_body(body, client, interim)) co_return client_fault(FailureKind::kClientGone);

  BodyIntake intake(body.framing, *body.buffered);
  BodyPace pace(body.pace());
  intake.take(client.inlet);
  for (int fills = 0; !intake.done() && intake.fault() == FailureKind::kNone;) {
    const bool disk_is_behind = body.buffered->backlogged();
    if (!disk_is_behind && client.channel.readable() && ++fills <= kFillsATurn) {
      const Transfer got = client.inlet.fill(client.channel, from.worker.scratch.client());
      intake.take(client.inlet);
      if (got.kind == Transfer::Kind::kDone || got.kind == Transfer::Kind::kWouldBlock) continue;
      co_return client_fault(FailureKind::kClientGone);
    }
    fills = 0;
    const CrossThreadWake room(client.waiter, loop);
    if (disk_is_behind && !body.buffered->await_room(room.callback())) continue;
    if (!disk_is_behind) client.channel.defer();
    const net::Time now = loop.now();
    disk_is_behind ? pace.pause(now) : pace.begin(now);
    const net::Time due = pace.due(body.buffered->size());
    const bool writes = disk_is_behind || client.outlet.blocked();
    const net::Time until = std::min({from.deadlines.until, from.deadlines.idle_until(now, writes), due});
    std::uint8_t interest = disk_is_behind ? net::kHangUp : net::kRead;
    if (client.outlet.blocked()) interest |= net::kWrite;
    const Wake wake = co_await client.waiter.wait(until, client.channel, interest);
    if (wake == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    const bool late = from.deadlines.until <= loop.now();
    if (wake == Wake::kTimeout && disk_is_behind && !late) {
      co_return Failure{Origin::kProxy, FailureKind::kNoSpool, false};
    }
    if (wake == Wake::kTimeout && disk_is_behind)
      co_return Failure{Origin::kProxy, FailureKind::kRequestTimeout, false};
    if (wake == Wake::kTimeout) {
      const bool slow = !late && due <= loop.now();
      co_return client_fault(slow ? FailureKind::kBodyTooSlow : FailureKind::kClientStalled);
    }
    if (client.channel.hung_up() || !client.outlet.flush(client.channel)) {
      co_return client_fault(FailureKind::kClientGone);
    }
  }
  // What follows belongs to the next request, and the scratch is needed to send this one.
  client.inlet.keep();
  if (intake.fault() != FailureKind::kNone) co_return client_fault(intake.fault());

  body.trailers = intake.trailers(trailers);
  std::optional<std::uint64_t> length;
  if (body.trailers.empty()) length = body.buffered->size();
  body.framing = {length ? BodyKind::kLength : BodyKind::kChunked, length.value_or(0)};
  char end[64];
  net::http1::HeadWriter out(end, sizeof(end));
  finish_request_head(length, out);
  body.head.append(out.text());
  co_return Failure{};
}

net::Task<Failure> copy_body(RequestBody& body, BodyPart part, std::uint64_t limit, const BodyIntakePlan& from,
                             std::string& into, net::Counter& interim) {
  const ClientEnd& client = from.client;
  net::Loop& loop = from.worker.loop;
  if (part == BodyPart::kWhole && body.framing.kind == BodyKind::kLength && body.framing.length > limit) {
    co_return client_fault(FailureKind::kTooLarge);
  }
  if (!invite_body(body, client, interim)) co_return client_fault(FailureKind::kClientGone);

  BodyCopy copy(body.framing, part, limit, into);
  BodyPace pace(body.pace());
  for (int fills = 0;;) {
    copy.take(client.inlet.unread());
    if (copy.done() || copy.fault() != FailureKind::kNone) break;
    if (client.channel.readable() && ++fills <= kFillsATurn) {
      const Transfer got = client.inlet.fill(client.channel, from.worker.scratch.client());
      if (got.kind == Transfer::Kind::kDone || got.kind == Transfer::Kind::kWouldBlock) continue;
      co_return client_fault(FailureKind::kClientGone);
    }
    fills = 0;
    client.channel.defer();
    client.inlet.keep();
    const net::Time now = loop.now();
    pace.begin(now);
    const net::Time due = pace.due(into.size());
    const net::Time until =
        std::min({from.deadlines.until, from.deadlines.idle_until(now, client.outlet.blocked()), due});
    const std::uint8_t interest = client.outlet.blocked() ? net::kRead | net::kWrite : net::kRead;
    const Wake wake = co_await client.waiter.wait(until, client.channel, interest);
    if (wake == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    if (wake == Wake::kTimeout) {
      const bool slow = from.deadlines.until > loop.now() && due <= loop.now();
      co_return client_fault(slow ? FailureKind::kBodyTooSlow : FailureKind::kClientStalled);
    }
    if (client.channel.hung_up() || !client.outlet.flush(client.channel)) {
      co_return client_fault(FailureKind::kClientGone);
    }
  }
  client.inlet.keep();
  co_return copy.fault() == FailureKind::kNone ? Failure{} : client_fault(copy.fault());
}

net::Task<Failure> await_body(const RequestBody& body, std::string_view head, const BodyIntakePlan& from) {
  const ClientEnd& client = from.client;
  net::Loop& loop = from.worker.loop;
  BodyPace pace(body.pace());
  net::Buffer kept;
  for (;;) {
    const Transfer got = client.inlet.fill(client.channel, from.worker.scratch.client());
    if (got.kind == Transfer::Kind::kDone) {
      std::ranges::copy(kept.view(), from.worker.scratch.head().begin());
      co_return Failure{};
    }
    if (got.kind != Transfer::Kind::kWouldBlock) co_return client_fault(FailureKind::kClientGone);
    const net::Time now = loop.now();
    pace.begin(now);
    if (kept.empty()) kept.append(head);
    const net::Time until = std::min({from.deadlines.until, from.deadlines.idle_until(now, false), pace.due(0)});
    const Wake wake = co_await client.waiter.wait(until, client.channel, net::kRead);
    if (wake == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    if (wake == Wake::kReady) continue;
    co_return client_fault(FailureKind::kClientStalled);
  }
}

}  // namespace edge::runtime
