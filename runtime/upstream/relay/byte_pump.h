// Forwards bytes in both directions between a client and an endpoint: TCP, TLS passthrough, and what follows an
// Upgrade.
//
// A state machine that never waits, like Relay: `advance` forwards what it can, then the caller waits for the stated
// events. Back-pressure: nothing is read for a side that does not accept data. A half-close is passed on, and the other
// direction continues.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/byte_stream.h"
#include "net/task.h"
#include "runtime/phase/deadlines.h"
#include "runtime/phase/failure.h"
#include "runtime/phase/scratch.h"
#include "runtime/upstream/forward_counts.h"
#include "runtime/upstream/pool/connection.h"

namespace edge::runtime {

/// The access log's reason for an idle timeout of either side.
inline constexpr std::string_view kIdleTimeout = "idle-timeout";

/// One side of the forwarded connection.
struct PumpEnd {
  net::Channel& channel;
  net::Inlet& inlet;
  net::Outlet& outlet;
};

class BytePump {
 public:
  struct Context {
    net::Loop& loop;
    Scratch& scratch;
    ForwardCounts& counts;
  };

  /// `idle`: the idle timeout; 0: none, except where a peer accepts no data.
  BytePump(const Context& context, PumpEnd client, PumpEnd upstream, net::Duration idle);
  BytePump(const BytePump&) = delete;
  BytePump& operator=(const BytePump&) = delete;
  /// Sets the connection to notify when its endpoint first sends data.
  void first_answer_to(UpstreamConnection& connection) { unanswered_ = &connection; }

  void advance();
  bool ended() const { return failure_ || idle_out_ || (up_.passed && down_.passed); }
  /// Returns the failure: one side was reset, or the server shuts down; both sides are then reset, so that neither
  /// mistakes its data for complete.
  const Failure& failure() const { return failure_; }
  /// Returns why it ended, unless both sides closed; the access log's reason.
  std::string_view reason() const { return idle_out_ ? kIdleTimeout : loss_of(failure_.kind); }
  /// Returns whether the endpoint failed before it sent anything, and the client was not the cause.
  bool never_answered() const {
    return failure_.origin == Origin::kUpstream && unanswered_ != nullptr && !client_given_up_;
  }

  /// Returns the bytes forwarded from the client, and below, to it.
  std::uint64_t passed_up() const { return up_.moved; }
  std::uint64_t passed_down() const { return down_.moved; }

  void timed_out() { idle_out_ = true; }
  void cancel() { failure_ = {Origin::kProxy, FailureKind::kCancelled, false}; }
  /// Called before every wait: copies data out of the thread's scratch.
  void keep();
  /// Waits until something can be forwarded, or the time is up.
  net::Waiter::Awaiter wait(net::Waiter& waiter);

 private:
  net::Time wait_until() const;
  struct Direction {
    PumpEnd& from;
    PumpEnd& to;
    net::Counter& bytes;
    std::uint64_t moved = 0;
    bool ended = false;   ///< `from` was closed by its peer
    bool passed = false;  ///< and the close was passed to `to`
  };

  void move(Direction& direction);
  void moved(Direction& direction, std::size_t bytes);
  void break_off(const PumpEnd& at);
  std::uint8_t& interest(const PumpEnd& end) { return &end == &client_ ? client_interest_ : upstream_interest_; }

  Context context_;
  PumpEnd client_;
  PumpEnd upstream_;
  Direction up_;
  Direction down_;
  net::Duration idle_;
  net::Time last_moved_;
  UpstreamConnection* unanswered_ = nullptr;
  std::uint8_t client_interest_ = net::kHangUp;
  std::uint8_t upstream_interest_ = net::kHangUp;
  Failure failure_;
  bool idle_out_ = false;
  bool client_given_up_ = false;
};

/// Forwards until both directions have ended, one fails, or the idle timeout passes.
net::Task<void> run_pump(BytePump& pump, net::Waiter& waiter);

}  // namespace edge::runtime
