#include "runtime/session/http2_session.h"

#include <algorithm>

#include "runtime/session/session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using std::chrono::seconds;

/// A client that takes nothing from its socket, though every stream has a window of its own to say so.
constexpr net::Duration kBlockedTime = seconds(30);
/// After GOAWAY, for requests that are on their way, where the client does not answer the PING that went with it.
constexpr net::Duration kDrainGrace = seconds(1);
/// How long, and for how much, we listen on, so that the client gets to read why (as Session does).
constexpr net::Duration kLingerTime = seconds(2);
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
/// Receives before other sessions get their turn.
constexpr int kFillsATurn = 4;

}  // namespace

Http2Session::Http2Session(Worker& worker, ClientConnection connection, net::Transport transport,
                           std::string_view unread)
    : worker_(worker),
      connection_(std::move(connection)),
      waiter_(worker.loop()),
      http2_(worker.http2(), *this, worker.loop().now()),
      idle_since_(worker.loop().now()) {
  connection_.http = 2;
  client_.open(worker.loop(), std::move(transport));
  unread_.append(unread);
}

net::Detached Http2Session::run() {
  output_waits();
  if (worker_.draining()) drain();
  bool open = http2_.feed(unread_.view(), worker_.loop().now());
  unread_.release();
  start_streams();
  while (open) {
    open = take_input() && !http2_.over() && !broken_;
    if (open) open = follow_shutdown();
    if (!open) break;
    const bool busy = http2_.streams() != 0;
    if (busy || busy_) idle_since_ = worker_.loop().now();
    busy_ = busy;
    // What a client does not take holds up what it sends: its answers are bounded by the output that waits for it.
    const std::uint8_t interest = outlet_.blocked() ? net::kWrite : net::kRead;
    until_ = wait_until();
    const Wake wake = co_await waiter_.wait(until_, client_, interest);
    if (wake == Wake::kCancelled) break;
    if (wake == Wake::kTimeout) open = timed_out();
    if (wake == Wake::kReady && outlet_.blocked()) flush();
  }
  co_await finish();
  client_.close();
  worker_.forget(*this);
}

bool Http2Session::take_input() {
  for (int fills = 0; !outlet_.blocked(); ++fills) {
    if (!client_.readable()) return !client_.hung_up();
    if (fills == kFillsATurn) {
      client_.defer();
      return true;
    }
    const Transfer got = client_.receive(worker_.scratch().client());
    if (got.kind == Transfer::Kind::kWouldBlock) return !client_.hung_up();
    if (got.kind != Transfer::Kind::kDone) return false;
    const bool sound = http2_.feed({worker_.scratch().client().data(), got.bytes}, worker_.loop().now());
    start_streams();
    if (!sound) return false;
  }
  return !client_.hung_up();
}

void Http2Session::start_streams() {
  while (std::unique_ptr<net::Layer> layer = http2_.next_opened()) {
    auto* session = new Session(worker_, connection_, {net::Fd(), std::move(layer)}, Session::Kind::kStream);
    worker_.keep(*session);
    session->start();
  }
}

// ---- Output -------------------------------------------------------------------------------------------------------

void Http2Session::output_waits() { worker_.loop().defer(*this); }

// After the sessions of this batch: what all of them wrote goes out in as few pieces as may be.
void Http2Session::run_deferred() {
  if (!client_.is_open()) return;
  const bool blocked = outlet_.blocked();
  if (!blocked) flush();
  // Whoever waits is to see what has changed: what it waits for, or that all is over.
  const bool idle = busy_ && http2_.streams() == 0;
  if (outlet_.blocked() != blocked || broken_ || idle || http2_.over() || wait_until() < until_) waiter_.wake_later();
}

void Http2Session::flush() {
  const std::span<char> out = worker_.scratch().upstream();
  while (!broken_) {
    if (!outlet_.flush(client_)) broken_ = true;
    if (outlet_.blocked() || broken_) break;
    const std::size_t size = http2_.produce(out, worker_.loop().now());
    if (size == 0) break;
    iovec piece = net::piece({out.data(), size});
    if (!outlet_.send(client_, {&piece, 1})) broken_ = true;
  }
  if (!outlet_.blocked()) {
    blocked_since_ = net::kNever;
  } else if (blocked_since_ == net::kNever) {
    blocked_since_ = worker_.loop().now();
  }
}

// ---- Time ---------------------------------------------------------------------------------------------------------

net::Time Http2Session::wait_until() const {
  const auto after = [](net::Time since, net::Duration time) { return since == net::kNever ? since : since + time; };
  const ServerOptions& options = worker_.options();
  net::Time until = std::min(after(blocked_since_, kBlockedTime), after(http2_.head_since(), options.head_timeout));
  until = std::min(until, after(http2_.stalled_since(), options.keep_alive_timeout));
  if (!gone_away_) until = std::min(until, after(announced_at_, kDrainGrace));
  if (http2_.streams() == 0) until = std::min(until, idle_since_ + idle_time());
  return until;
}

net::Duration Http2Session::idle_time() const {
  return http2_.requests() == 0 ? worker_.options().head_timeout : worker_.options().keep_alive_timeout;
}

// What was waited for may have moved on meanwhile: then there is nothing to do but to wait anew.
bool Http2Session::timed_out() {
  const net::Time now = worker_.loop().now();
  const ServerOptions& options = worker_.options();
  const auto over = [now](net::Time since, net::Duration time) { return since != net::kNever && since + time <= now; };
  if (over(blocked_since_, kBlockedTime)) {
    broken_ = true;
    return false;
  }
  if (over(http2_.head_since(), options.head_timeout) || over(http2_.stalled_since(), options.keep_alive_timeout)) {
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
bool Http2Session::follow_shutdown() {
  if (announced_at_ == net::kNever || gone_away_ || !http2_.shutdown_heard()) return true;
  gone_away_ = true;
  http2_.go_away();
  return http2_.streams() != 0;
}

void Http2Session::drain() {
  // Closed: only what the client still sends is listened to.
  if (announced_at_ != net::kNever || http2_.over()) return;
  announced_at_ = worker_.loop().now();
  http2_.announce_shutdown();
}

// ---- The end ------------------------------------------------------------------------------------------------------

net::Task<void> Http2Session::finish() {
  const bool lost = waiter_.cancelled() || broken_ || client_.hung_up();
  if (!lost) flush();
  http2_.close();
  if (lost || broken_) {
    client_.reset_on_close();
    co_return;
  }
  const net::Time until = worker_.loop().now() + kLingerTime;
  while (outlet_.blocked() && !broken_) {
    const Wake wake = co_await waiter_.wait(until, client_, net::kWrite);
    if (wake != Wake::kReady) broken_ = true;
    flush();
  }
  bool open = !broken_ && client_.finish();
  for (std::size_t dropped = 0; open && dropped < kLingerBytes;) {
    const Transfer got = client_.receive(worker_.scratch().client());
    if (got.kind == Transfer::Kind::kDone) {
      dropped += got.bytes;
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock) break;
    const Wake wake = co_await waiter_.wait(until, client_, net::kRead);
    open = wake == Wake::kReady;
  }
}

}  // namespace edge::runtime
