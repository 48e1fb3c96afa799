// The server side of HTTP/1.1: for one connection, or one HTTP/2 stream as HTTP/1.1 text. Reads heads one after the
// other, has each request served, and ends so that the client can read the last response. Shared by data plane and
// control plane; Derived provides memory and serves the requests.
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

/// kStream: serves one request, on an HTTP/2 stream whose layer is the transport.
enum class ConversationKind : std::uint8_t { kConnection, kStream };

/// What to do with the connection after a request. kLinger: close, but the client may still be sending.
enum class AfterRequest : std::uint8_t { kAgain, kClose, kLinger, kReset };

/// Derived, which declares this class a friend, has
///
///     Loop& loop();
///     std::span<char> room();                          the thread's buffer to receive into
///     const http1::HeadLimits& head_limits() const;
///     http1::RequestHead& head();                      the thread's, parsed before each `serve`
///     bool draining() const;
///     Duration head_time() const;                      for a head, and for the first request
///     Duration rest_time() const;                      between two requests
///     Task<AfterRequest> serve();                      answers the request in `head`
///     Task<AfterRequest> refuse_head();                answers an invalid head (`fault_`), or one that timed out
///     (kNone)
///     Task<bool> flush();                              until the client has accepted all; false: it does not
///     void become_http2();                             called for the HTTP/2 preface: takes over, and frees this
///     object
///     void forget();                                   may destroy this object
///     static constexpr bool kDrainsAtOnce              whether a drain closes idle connections at once; else those
///     that
///                                                      were used within the last second have the rest of it
template <class Derived>
class Http1Conversation {
 protected:
  Http1Conversation(Loop& loop, Transport transport, ConversationKind kind) : waiter_(loop), kind_(kind) {
    client_.open(loop, std::move(transport));
    head_since_ = loop.now();
  }
  ~Http1Conversation() = default;

  /// Runs until the connection ends.
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
  /// When the head began to arrive; before that, when the connection became idle.
  Time head_since_{};
  http1::ParseHint hint_;
  std::uint16_t unwaited_ = 0;  ///< requests since the last wait
  ConversationKind kind_;
  http1::HeadFault fault_ = http1::HeadFault::kNone;
  bool served_ = false;  ///< whether any request was served
  bool idle_ = false;    ///< waiting for the first byte of a request
  bool torn_ = false;    ///< the unread bytes are an incomplete head

 private:
  enum class HeadState : std::uint8_t { kComplete, kMore, kFault, kHttp2, kGone };

  /// For the first request of a connection that was accepted just before a drain.
  static constexpr Duration kDrainGrace = std::chrono::seconds(1);
  /// The most requests served in a row when the client had sent them all.
  static constexpr std::uint16_t kTurns = 256;
  /// How long, and how much, is read after the last response, so that a client that still sends can read it: closing
  /// with unread bytes would reset the connection and lose the response (RFC 9112 §9.6).
  static constexpr Duration kLingerTime = std::chrono::seconds(2);
  static constexpr std::size_t kLingerBytes = std::size_t{4} << 20;

  Derived& self() { return static_cast<Derived&>(*this); }

  HeadState read_head() {
    if (inlet_.empty() || torn_) {
      // While draining, an idle connection is checked once more, so that no request is lost. One that was used a moment
      // ago may wait for its next request, whose answer says that it is the last.
      if (!client_.readable() && !self().draining()) return client_.hung_up() ? HeadState::kGone : HeadState::kMore;
      const bool first = inlet_.empty();
      const Transfer got = inlet_.fill(client_, self().room());
      if (got.kind == Transfer::Kind::kWouldBlock) {
        const bool over = Derived::kDrainsAtOnce && self().draining() && first && served_;
        return over || client_.hung_up() ? HeadState::kGone : HeadState::kMore;
      }
      if (got.kind != Transfer::Kind::kDone) return HeadState::kGone;
      if (first) head_since_ = self().loop().now();
    }
    const auto parsed = http1::parse_request(inlet_.unread(), self().head_limits(), hint_, self().head());
    torn_ = parsed.state == http1::ParseState::kIncomplete;
    if (torn_) return HeadState::kMore;
    hint_ = {};
    if (parsed.state == http1::ParseState::kFault) {
      // Prior knowledge (RFC 9113 §3.3): the preface is by design not a valid HTTP/1.1 request.
      const bool first = !served_ && kind_ == ConversationKind::kConnection;
      if (first && http2::begins_http2(inlet_.unread())) return HeadState::kHttp2;
      fault_ = parsed.fault;
      return HeadState::kFault;
    }
    // The views stay valid until the next wait or fill.
    inlet_.consume(parsed.consumed);
    return HeadState::kComplete;
  }

  Time head_deadline() {
    // While draining a connection gets a moment for its first request, or for its next.
    if (self().draining() && inlet_.empty()) return head_since_ + std::min(self().head_time(), kDrainGrace);
    // Between two requests the connection may be idle; the first head, and one that has begun, must arrive in time.
    const bool resting = inlet_.empty() && served_;
    return head_since_ + (resting ? self().rest_time() : self().head_time());
  }

  /// Yields before the next request of a client that has not read its responses, or that sent so many requests at once
  /// that others wait.
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
    // The layer ends a stream; lingering is not needed.
    if (kind_ == ConversationKind::kStream) {
      client_.finish();
      co_return;
    }
    const bool unread = how == AfterRequest::kLinger || !inlet_.empty() || client_.readable();
    inlet_.drop();
    if (!unread) {
      // A layer has its own end to send; for a socket, closing is enough.
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
