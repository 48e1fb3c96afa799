#include "net/http2/server_link.h"

namespace edge::net::http2 {
namespace {

using std::chrono::seconds;

/// A client that takes nothing from its socket, though every stream has a window of its own to say so.
constexpr Duration kBlockedTime = seconds(30);
/// After GOAWAY, for requests that are on their way, where the client does not answer the PING that went with it.
constexpr Duration kDrainGrace = seconds(1);
/// How long, and for how much, we listen on, so that the client gets to read why before it is reset.
constexpr Duration kLingerTime = seconds(2);
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
/// Receives before other sessions get their turn.
constexpr int kFillsATurn = 4;

}  // namespace

ServerLink::ServerLink(Loop& loop, ServerEngine& engine, Host& host, const LinkSettings& settings, Scratch scratch,
                       Transport transport)
    : loop_(loop),
      host_(host),
      settings_(settings),
      scratch_(scratch),
      waiter_(loop),
      http2_(engine, *this, loop.now()),
      idle_since_(loop.now()) {
  if (settings.takes_connect) http2_.take_connect();
  client_.open(loop, std::move(transport));
}

Task<void> ServerLink::run(Buffer unread) {
  output_waits();
  bool open = http2_.feed(unread.view(), loop_.now());
  unread.release();
  start_streams();
  while (open) {
    open = take_input() && !http2_.over() && !broken_;
    if (open) open = follow_shutdown();
    if (!open) break;
    const bool busy = http2_.streams() != 0;
    if (busy || busy_) idle_since_ = loop_.now();
    if (busy_ && !busy) host_.rests();
    busy_ = busy;
    // What a client does not take holds up what it sends: its answers are bounded by the output that waits for it.
    const std::uint8_t interest = outlet_.blocked() ? kWrite : kRead;
    until_ = wait_until();
    const Wake wake = co_await waiter_.wait(until_, client_, interest);
    if (wake == Wake::kCancelled) break;
    if (wake == Wake::kTimeout) open = timed_out();
    if (wake == Wake::kReady && outlet_.blocked()) flush();
  }
  co_await finish();
  client_.close();
}

bool ServerLink::take_input() {
  for (int fills = 0; !outlet_.blocked(); ++fills) {
    if (!client_.readable()) return !client_.hung_up();
    if (fills == kFillsATurn) {
      client_.defer();
      return true;
    }
    const Transfer got = client_.receive(scratch_.in);
    if (got.kind == Transfer::Kind::kWouldBlock) return !client_.hung_up();
    if (got.kind != Transfer::Kind::kDone) return false;
    const bool sound = http2_.feed({scratch_.in.data(), got.bytes}, loop_.now());
    start_streams();
    if (!sound) return false;
  }
  return !client_.hung_up();
}

void ServerLink::start_streams() {
  while (http2_.opened_waits()) {
    if (!host_.admits(http2_.given() + 1)) {
      http2_.refuse_opened();
    } else if (std::unique_ptr<Layer> layer = http2_.next_opened()) {
      host_.stream_opened(std::move(layer));
    }
  }
}

// ---- Output -------------------------------------------------------------------------------------------------------

// After the sessions of this batch: what all of them wrote goes out in as few pieces as may be.
void ServerLink::run_deferred() {
  if (!client_.is_open()) return;
  const bool blocked = outlet_.blocked();
  if (!blocked) flush();
  // Whoever waits is to see what has changed: what it waits for, or that all is over.
  const bool idle = busy_ && http2_.streams() == 0;
  if (outlet_.blocked() != blocked || broken_ || idle || http2_.over() || wait_until() < until_) waiter_.wake_later();
}

void ServerLink::flush() {
  const std::span<char> out = scratch_.out;
  while (!broken_) {
    if (!outlet_.flush(client_)) broken_ = true;
    if (outlet_.blocked() || broken_) break;
    const std::size_t size = http2_.produce(out, loop_.now());
    if (size == 0) break;
    iovec frames = piece({out.data(), size});
    if (!outlet_.send(client_, {&frames, 1})) broken_ = true;
  }
  if (!outlet_.blocked()) {
    blocked_since_ = kNever;
  } else if (blocked_since_ == kNever) {
    blocked_since_ = loop_.now();
  }
}

// ---- Time ---------------------------------------------------------------------------------------------------------

Time ServerLink::wait_until() const {
  const auto after = [](Time since, Duration time) { return since == kNever ? since : since + time; };
  Time until = std::min(after(blocked_since_, kBlockedTime), after(http2_.head_since(), settings_.head_time));
  until = std::min(until, after(http2_.stalled_since(), settings_.idle_time));
  if (!gone_away_) until = std::min(until, after(announced_at_, kDrainGrace));
  if (http2_.streams() == 0) until = std::min(until, idle_since_ + idle_time());
  return until;
}

Duration ServerLink::idle_time() const { return http2_.requests() == 0 ? settings_.head_time : settings_.idle_time; }

// What was waited for may have moved on meanwhile: then there is nothing to do but to wait anew.
bool ServerLink::timed_out() {
  const Time now = loop_.now();
  const auto over = [now](Time since, Duration time) { return since != kNever && since + time <= now; };
  if (over(blocked_since_, kBlockedTime)) {
    broken_ = true;
    return false;
  }
  if (over(http2_.head_since(), settings_.head_time) || over(http2_.stalled_since(), settings_.idle_time)) {
    http2_.give_up();
    return true;
  }
  const bool idle = http2_.streams() == 0 && over(idle_since_, idle_time());
  if (!idle && (gone_away_ || !over(announced_at_, kDrainGrace))) return true;
  http2_.go_away();
  gone_away_ = true;
  return http2_.streams() != 0;
}

// Once the client knows that it is to end, no request can be on its way that it does not know to be refused.
bool ServerLink::follow_shutdown() {
  if (announced_at_ == kNever || gone_away_ || !http2_.shutdown_heard()) return true;
  gone_away_ = true;
  http2_.go_away();
  return http2_.streams() != 0;
}

void ServerLink::drain() {
  // Closed: only what the client still sends is listened to.
  if (announced_at_ != kNever || http2_.over()) return;
  announced_at_ = loop_.now();
  http2_.announce_shutdown();
}

// ---- The end ------------------------------------------------------------------------------------------------------

Task<void> ServerLink::finish() {
  const bool lost = waiter_.cancelled() || broken_ || client_.hung_up();
  if (!lost) flush();
  http2_.close();
  if (lost || broken_) {
    client_.reset_on_close();
    co_return;
  }
  const Time until = loop_.now() + kLingerTime;
  while (outlet_.blocked() && !broken_) {
    const Wake wake = co_await waiter_.wait(until, client_, kWrite);
    if (wake != Wake::kReady) broken_ = true;
    flush();
  }
  bool open = !broken_ && client_.finish();
  for (std::size_t dropped = 0; open && dropped < kLingerBytes;) {
    const Transfer got = client_.receive(scratch_.in);
    if (got.kind == Transfer::Kind::kDone) {
      dropped += got.bytes;
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock) break;
    const Wake wake = co_await waiter_.wait(until, client_, kRead);
    open = wake == Wake::kReady;
  }
}

}  // namespace edge::net::http2
