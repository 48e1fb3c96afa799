// The server's end of HTTP/1.1: of one connection, or of one stream of HTTP/2 as text of the same. Reads one head after
// the other, has each request served, and ends so that the client gets to read the last answer. Data plane and control
// plane share it; what a request is, who answers it and whose memory it lies in is the Derived's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "net/byte_stream.h"
#include "net/http1/parse.h"
#include "net/http2/server_link.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::net::server {

/// kStream: serves one request, on a stream of HTTP/2 whose layer is the transport.
enum class ConversationKind : std::uint8_t { kConnection, kStream };

/// How a request left the connection. kLinger: closed, but the client may still be sending.
enum class AfterRequest : std::uint8_t { kAgain, kClose, kLinger, kReset };

/// Derived, which names this class its friend, has
///
///     Loop& loop();
///     std::span<char> room();                          the thread's, to receive into
///     const http1::HeadLimits& head_limits() const;
///     http1::RequestHead& head();                      the thread's, filled before each `serve`
///     bool draining() const;
///     Duration head_time() const;                      for a head, and for the first request
///     Duration rest_time() const;                      between two requests
///     Task<AfterRequest> serve();                      answers the request of `head`
///     Task<AfterRequest> refuse_head();                answers a head at fault (`fault_`), or too slow (kNone)
///     Task<bool> flush();                              until the client has taken all; false: it does not
///     void become_http2();                             its preface came: takes over, and forgets this
///     void forget();                                   may destroy this
template <class Derived>
class Http1Conversation {
 protected:
  Http1Conversation(Loop& loop, Transport transport, ConversationKind kind) : waiter_(loop), kind_(kind) {
    client_.open(loop, std::move(transport));
    head_since_ = loop.now();
  }
  ~Http1Conversation() = default;

  /// Until the connection ends.
  Detached run() {
    AfterRequest next = AfterRequest::kAgain;
    while (next == AfterRequest::kAgain) {
      HeadState state = read_head();
      while (state == HeadState::kMore) {
        unwaited_ = 0;
        inlet_.keep();
        idle_ = inlet_.empty();
        const Wake wake = co_await waiter_.wait(head_deadline(), client_, kRead);
        idle_ = false;
        if (wake == Wake::kReady) {
          state = read_head();
        } else {
          state = wake == Wake::kTimeout && !inlet_.empty() ? HeadState::kFault : HeadState::kGone;
        }
      }
      if (state == HeadState::kHttp2) {
        self().become_http2();
        co_return;
      }
      if (state == HeadState::kGone) {
        next = AfterRequest::kClose;
      } else if (state == HeadState::kComplete) {
        served_ = true;
        next = co_await self().serve();
        if (next == AfterRequest::kAgain && (outlet_.blocked() || ++unwaited_ > kTurns)) next = co_await rest();
        if (next == AfterRequest::kAgain && kind_ == ConversationKind::kStream) next = AfterRequest::kClose;
        head_since_ = self().loop().now();
      } else {
        next = co_await self().refuse_head();
      }
    }
    co_await finish(next);
    client_.close();
    self().forget();
  }

  Channel client_;
  Waiter waiter_;
  Inlet inlet_;
  Outlet outlet_;
  /// When the head began to come; before it, when the connection began to rest.
  Time head_since_{};
  http1::ParseHint hint_;
  std::uint16_t unwaited_ = 0;  ///< requests since the last wait
  ConversationKind kind_;
  http1::HeadFault fault_ = http1::HeadFault::kNone;
  bool served_ = false;  ///< some request
  bool idle_ = false;    ///< waits for the first byte of a request
  bool torn_ = false;    ///< what is unread is not a whole head

 private:
  enum class HeadState : std::uint8_t { kComplete, kMore, kFault, kHttp2, kGone };

  /// For the first request of a connection that was accepted just before a drain.
  static constexpr Duration kDrainGrace = std::chrono::seconds(1);
  /// Requests that are served in a row while the client had sent them all.
  static constexpr std::uint16_t kTurns = 256;
  /// How long, and for how much, we listen on after the last answer, so that a client that still sends gets to read it:
  /// closing with unread bytes would reset the connection under the answer (RFC 9112 §9.6).
  static constexpr Duration kLingerTime = std::chrono::seconds(2);
  static constexpr std::size_t kLingerBytes = std::size_t{4} << 20;

  Derived& self() { return static_cast<Derived&>(*this); }

  HeadState read_head() {
    if (inlet_.empty() || torn_) {
      // While draining an idle connection is looked at once more, so that no request is lost to the end.
      if (!client_.readable() && !self().draining()) return client_.hung_up() ? HeadState::kGone : HeadState::kMore;
      const bool first = inlet_.empty();
      const Transfer got = inlet_.fill(client_, self().room());
      if (got.kind == Transfer::Kind::kWouldBlock) {
        const bool over = client_.hung_up() || (self().draining() && first && served_);
        return over ? HeadState::kGone : HeadState::kMore;
      }
      if (got.kind != Transfer::Kind::kDone) return HeadState::kGone;
      if (first) head_since_ = self().loop().now();
    }
    const auto parsed = http1::parse_request(inlet_.unread(), self().head_limits(), hint_, self().head());
    torn_ = parsed.state == http1::ParseState::kIncomplete;
    if (torn_) return HeadState::kMore;
    hint_ = {};
    if (parsed.state == http1::ParseState::kFault) {
      // Prior knowledge (RFC 9113 §3.3): the preface is no request of HTTP/1.1, on purpose.
      const bool first = !served_ && kind_ == ConversationKind::kConnection;
      if (first && http2::begins_http2(inlet_.unread())) return HeadState::kHttp2;
      fault_ = parsed.fault;
      return HeadState::kFault;
    }
    // The views stay where they are until the next wait or fill.
    inlet_.consume(parsed.consumed);
    return HeadState::kComplete;
  }

  Time head_deadline() {
    // A connection that was made for a request gets a moment for it, even when the end is near.
    if (self().draining() && inlet_.empty()) return head_since_ + std::min(self().head_time(), kDrainGrace);
    // Between two requests the connection may rest; a head once begun, and the first of all, has to come.
    const bool resting = inlet_.empty() && served_;
    return head_since_ + (resting ? self().rest_time() : self().head_time());
  }

  /// Before the next request of a client that has not taken its answers, or that sends so many at once that others
  /// wait.
  Task<AfterRequest> rest() {
    unwaited_ = 0;
    inlet_.keep();
    const bool flushed = co_await self().flush();
    if (!flushed) co_return AfterRequest::kReset;
    const Wake wake = co_await waiter_.wait(self().loop().now());
    co_return wake == Wake::kCancelled ? AfterRequest::kReset : AfterRequest::kAgain;
  }

  Task<void> finish(AfterRequest how) {
    bool flushed = how != AfterRequest::kReset && !waiter_.cancelled();
    if (flushed && outlet_.blocked()) flushed = co_await self().flush();
    if (!flushed) {
      client_.reset_on_close();
      co_return;
    }
    // A stream's end is the layer's to tell; it needs nobody who listens on.
    if (kind_ == ConversationKind::kStream) {
      client_.finish();
      co_return;
    }
    const bool unread = how == AfterRequest::kLinger || !inlet_.empty() || client_.readable();
    inlet_.drop();
    if (!unread) {
      // A layer has an end of its own to tell; the socket's close tells the kernel's.
      if (client_.layer() != nullptr) client_.finish();
      co_return;
    }
    const Time until = self().loop().now() + kLingerTime;
    bool open = client_.finish();
    for (std::size_t dropped = 0; open && dropped < kLingerBytes;) {
      const Transfer got = client_.receive(self().room());
      if (got.kind == Transfer::Kind::kDone) {
        dropped += got.bytes;
        continue;
      }
      if (got.kind != Transfer::Kind::kWouldBlock) break;
      const Wake wake = co_await waiter_.wait(until, client_, kRead);
      open = wake == Wake::kReady;
    }
  }
};

}  // namespace edge::net::server
