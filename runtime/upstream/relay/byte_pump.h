// Moves bytes both ways between a client and an endpoint that speak to each other: TCP, TLS that is not decrypted here,
// and what follows an Upgrade.
//
// A state machine that never waits, as Relay: `advance` moves what can be moved, then says what it waits for. A side
// that does not take what it is sent is not read for; an end that comes from one side is passed on to the other, and
// the other direction goes on.
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

/// The log's word for either.
inline constexpr std::string_view kIdleTimeout = "idle-timeout";

/// One end of a connection that is pumped.
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

  /// `idle`: how long nothing may move; 0: for any time, unless it is a peer that takes nothing.
  BytePump(const Context& context, PumpEnd client, PumpEnd upstream, net::Duration idle);
  BytePump(const BytePump&) = delete;
  BytePump& operator=(const BytePump&) = delete;
  /// Has the connection told when its endpoint first speaks.
  void first_answer_to(UpstreamConnection& connection) { unanswered_ = &connection; }

  void advance();
  bool ended() const { return failure_ || idle_out_ || (up_.passed && down_.passed); }
  /// One side broke off, or the server ends: neither side may take what it got for the whole.
  const Failure& failure() const { return failure_; }
  /// Why it ended where not both sides have ended it; the log's word.
  std::string_view reason() const { return idle_out_ ? kIdleTimeout : loss_of(failure_.kind); }
  /// The endpoint broke off before it said anything, and not because the client kept it waiting.
  bool never_answered() const {
    return failure_.origin == Origin::kUpstream && unanswered_ != nullptr && !client_given_up_;
  }

  /// Bytes from the client, and to it.
  std::uint64_t passed_up() const { return up_.moved; }
  std::uint64_t passed_down() const { return down_.moved; }

  void timed_out() { idle_out_ = true; }
  void cancel() { failure_ = {Origin::kProxy, FailureKind::kCancelled, false}; }
  /// Before every wait: what lies in the thread's scratch becomes our own.
  void keep();
  /// Until something can be moved, or the time is up.
  net::Waiter::Awaiter wait(net::Waiter& waiter);

 private:
  net::Time wait_until() const;
  struct Direction {
    PumpEnd& from;
    PumpEnd& to;
    net::Counter& bytes;
    std::uint64_t moved = 0;
    bool ended = false;   ///< `from` sends no more
    bool passed = false;  ///< and `to` was told
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

/// Pumps until both directions have ended, or one breaks, or nothing moves for the pump's time.
net::Task<void> run_pump(BytePump& pump, net::Waiter& waiter);

}  // namespace edge::runtime
