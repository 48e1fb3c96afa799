#include "runtime/upstream/relay/byte_pump.h"

#include <algorithm>

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;

/// Receives of one side before other sessions get their turn.
constexpr int kPumpFillsATurn = 16;
constexpr std::size_t kFill = std::size_t{64} * 1024;
/// An endpoint that breaks off after so long without a byte of the client's has given the client up.
constexpr net::Duration kClientPatience = std::chrono::seconds(1);

}  // namespace

BytePump::BytePump(const Context& context, PumpEnd client, PumpEnd upstream, net::Duration idle)
    : context_(context),
      client_(client),
      upstream_(upstream),
      up_{client_, upstream_, context.counts.tunnel_bytes_up},
      down_{upstream_, client_, context.counts.tunnel_bytes_down},
      idle_(idle),
      last_moved_(context.loop.now()) {}

void BytePump::advance() {
  client_interest_ = upstream_interest_ = net::kHangUp;
  move(up_);
  if (!failure_) move(down_);
  // Who has sent all and is gone will take nothing more, which no send need ever find out.
  if (up_.ended && !down_.passed && client_.channel.hung_up()) break_off(client_);
  if (down_.ended && !up_.passed && upstream_.channel.hung_up()) break_off(upstream_);
}

void BytePump::move(Direction& direction) {
  PumpEnd& from = direction.from;
  PumpEnd& to = direction.to;
  for (int fills = 0;;) {
    if (!to.outlet.flush(to.channel)) return break_off(to);
    if (to.outlet.blocked()) {
      interest(to) |= net::kWrite;
      return;
    }
    // A stream of HTTP/2 takes so much; an end it always takes.
    const std::size_t wanted = to.channel.appetite();
    if (wanted == 0 && !direction.ended) {
      interest(to) |= net::kWrite;
      return;
    }
    if (!from.inlet.empty()) {
      const std::size_t bytes = from.inlet.unread().size();
      iovec whole = net::piece(from.inlet.unread());
      if (!to.outlet.send(to.channel, {&whole, 1})) return break_off(to);
      from.inlet.consume(bytes);
      moved(direction, bytes);
      continue;
    }
    if (direction.ended) {
      if (!direction.passed && !to.channel.finish()) return break_off(to);
      direction.passed = true;
      return;
    }
    if (fills++ >= kPumpFillsATurn) {
      from.channel.defer();
      interest(from) |= net::kRead;
      return;
    }
    if (!from.channel.readable() && !from.channel.hung_up()) {
      interest(from) |= net::kRead;
      return;
    }
    const Transfer got = from.inlet.fill(from.channel, context_.scratch.client().first(std::min(kFill, wanted)));
    if (got.kind == Transfer::Kind::kFailed) return break_off(from);
    if (got.kind == Transfer::Kind::kWouldBlock && !from.channel.hung_up()) {
      interest(from) |= net::kRead;
      return;
    }
    direction.ended = got.kind != Transfer::Kind::kDone;
  }
}

void BytePump::moved(Direction& direction, std::size_t bytes) {
  direction.bytes.add(bytes);
  direction.moved += bytes;
  last_moved_ = context_.loop.now();
  if (&direction == &down_ && unanswered_ != nullptr) {
    constexpr int kFine = 200;  // of bytes nothing more is known
    unanswered_->answered(last_moved_, kFine);
    unanswered_ = nullptr;
  }
}

void BytePump::break_off(const PumpEnd& at) {
  client_given_up_ = context_.loop.now() - last_moved_ >= kClientPatience;
  failure_ = &at == &upstream_ ? Failure{Origin::kUpstream, FailureKind::kTruncated, false}
                               : Failure{Origin::kClient, FailureKind::kClientGone, false};
}

void BytePump::keep() {
  client_.inlet.keep();
  upstream_.inlet.keep();
}

net::Time BytePump::wait_until() const {
  if (idle_ != net::Duration(0)) return last_moved_ + idle_;
  const bool writes = ((client_interest_ | upstream_interest_) & net::kWrite) != 0;
  return writes ? last_moved_ + kWriteStall : net::kNever;
}

net::Waiter::Awaiter BytePump::wait(net::Waiter& waiter) {
  const net::Time until = wait_until();
  // One that has hung up and is waited for by nobody would end each wait at once.
  if (client_.channel.hung_up() && client_interest_ == net::kHangUp) {
    return waiter.wait(until, upstream_.channel, upstream_interest_);
  }
  if (upstream_.channel.hung_up() && upstream_interest_ == net::kHangUp) {
    return waiter.wait(until, client_.channel, client_interest_);
  }
  return waiter.wait(until, upstream_.channel, upstream_interest_, client_.channel, client_interest_);
}

net::Task<void> run_pump(BytePump& pump, net::Waiter& waiter) {
  while (!pump.ended()) {
    pump.advance();
    if (pump.ended()) break;
    pump.keep();
    const Wake wake = co_await pump.wait(waiter);
    if (wake == Wake::kCancelled) pump.cancel();
    if (wake == Wake::kTimeout) pump.timed_out();
  }
}

}  // namespace edge::runtime
