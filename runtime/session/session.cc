#include "runtime/session/session.h"

#include <algorithm>

#include "runtime/session/http2_session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using net::http1::ParseState;
using std::chrono::seconds;

/// For a client that does not take an answer of ours.
constexpr net::Duration kFlushTime = seconds(10);
/// For the first request of a connection that was accepted just before a drain.
constexpr net::Duration kDrainGrace = seconds(1);
/// Requests that are served in a row while the client had sent them all.
constexpr std::uint16_t kTurns = 256;
/// How long, and for how much, we listen on after the last answer, so that a client that still sends gets to read it:
/// closing with unread bytes would reset the connection under the answer (RFC 9112 §9.6).
constexpr net::Duration kLingerTime = seconds(2);
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;

}  // namespace

Session::Session(Worker& worker, ClientConnection connection, net::Transport transport, Kind kind)
    : worker_(worker), connection_(std::move(connection)), waiter_(worker.loop()), kind_(kind) {
  client_.open(worker.loop(), std::move(transport));
  head_since_ = worker_.loop().now();
}

net::Detached Session::run() {
  Next next = Next::kAgain;
  while (next == Next::kAgain) {
    HeadState state = read_head();
    while (state == HeadState::kMore) {
      unwaited_ = 0;
      inlet_.keep();
      idle_ = inlet_.empty();
      const Wake wake = co_await waiter_.wait(head_deadline(), client_, net::kRead);
      idle_ = false;
      if (wake == Wake::kReady) {
        state = read_head();
      } else {
        state = wake == Wake::kTimeout && !inlet_.empty() ? HeadState::kFault : HeadState::kGone;
      }
    }
    if (state == HeadState::kHttp2) {
      become_http2();
      co_return;
    }
    if (state == HeadState::kGone) {
      next = Next::kClose;
    } else if (state == HeadState::kComplete) {
      next = co_await serve();
      if (next == Next::kAgain && (outlet_.blocked() || ++unwaited_ > kTurns)) next = co_await rest();
      if (next == Next::kAgain && kind_ == Kind::kStream) next = Next::kClose;
      head_since_ = worker_.loop().now();
    } else {
      next = refuse_head();
    }
  }
  co_await finish(next);
  client_.close();
  worker_.forget(*this);
}

Session::HeadState Session::read_head() {
  if (inlet_.empty() || torn_) {
    // While draining an idle connection is looked at once more, so that no request is lost to the end.
    if (!client_.readable() && !worker_.draining()) return client_.hung_up() ? HeadState::kGone : HeadState::kMore;
    const bool first = inlet_.empty();
    const Transfer got = inlet_.fill(client_, worker_.scratch().client());
    if (got.kind == Transfer::Kind::kWouldBlock) {
      const bool over = client_.hung_up() || (worker_.draining() && first && requests_ != 0);
      return over ? HeadState::kGone : HeadState::kMore;
    }
    if (got.kind != Transfer::Kind::kDone) return HeadState::kGone;
    if (first) head_since_ = worker_.loop().now();
  }
  const auto parsed =
      net::http1::parse_request(inlet_.unread(), worker_.scratch().limits, hint_, worker_.scratch().request);
  torn_ = parsed.state == ParseState::kIncomplete;
  if (torn_) return HeadState::kMore;
  hint_ = {};
  if (parsed.state == ParseState::kFault) {
    // Prior knowledge (RFC 9113 §3.3): the preface is no request of HTTP/1.1, on purpose.
    if (requests_ == 0 && kind_ == Kind::kConnection && net::http2::begins_http2(inlet_.unread()))
      return HeadState::kHttp2;
    fault_ = parsed.fault;
    return HeadState::kFault;
  }
  // The views stay where they are until the next wait or fill.
  inlet_.consume(parsed.consumed);
  return HeadState::kComplete;
}

net::Time Session::head_deadline() const {
  const ServerOptions& options = worker_.options();
  // Between two requests the connection may rest; a head once begun, and the first of all, has to come.
  const bool resting = inlet_.empty() && requests_ != 0;
  // A connection that was made for a request gets a moment for it, even when the end is near.
  if (worker_.draining() && inlet_.empty()) return head_since_ + std::min(options.head_timeout, kDrainGrace);
  if (!resting) return head_since_ + options.head_timeout;
  return head_since_ + (rest_time_ != net::Duration{} ? rest_time_ : net::Duration(options.keep_alive_timeout));
}

void Session::drain() {
  if (idle_) waiter_.wake(Wake::kReady);
}

void Session::become_http2() {
  auto* session = new Http2Session(worker_, std::move(connection_), client_.release(), inlet_.unread());
  worker_.hand_over(*this, *session);
  worker_.forget(*this);
  session->start();
}

// Before the next request of a client that has not taken its answers, or that sends so many at once that others wait.
net::Task<Session::Next> Session::rest() {
  unwaited_ = 0;
  inlet_.keep();
  const bool flushed = co_await flush();
  if (!flushed) co_return Next::kReset;
  const Wake wake = co_await waiter_.wait(worker_.loop().now());
  co_return wake == Wake::kCancelled ? Next::kReset : Next::kAgain;
}

net::Task<bool> Session::flush() {
  const net::Time until = worker_.loop().now() + kFlushTime;
  while (outlet_.blocked()) {
    const Wake wake = co_await waiter_.wait(until, client_, net::kWrite);
    if (wake != Wake::kReady || !outlet_.flush(client_)) co_return false;
  }
  co_return true;
}

net::Task<void> Session::finish(Next how) {
  bool flushed = how != Next::kReset && !waiter_.cancelled();
  if (flushed && outlet_.blocked()) flushed = co_await flush();
  if (!flushed) {
    client_.reset_on_close();
    co_return;
  }
  // A stream's end is the layer's to tell; it needs nobody who listens on.
  if (kind_ == Kind::kStream) {
    client_.finish();
    co_return;
  }
  const bool unread = how == Next::kLinger || !inlet_.empty() || client_.readable();
  inlet_.drop();
  if (!unread) {
    // A layer has an end of its own to tell; the socket's close tells the kernel's.
    if (client_.layer() != nullptr) client_.finish();
    co_return;
  }
  const net::Time until = worker_.loop().now() + kLingerTime;
  bool open = client_.finish();
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
