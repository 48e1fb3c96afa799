// The circuit of one backend: the table "Circuit breaker" of the specification.
//
//   Closed --errors in a row--> Open --open time--> HalfOpen --the probe succeeds--> Closed
//                                ^----------------------'  the probe fails
//
// The probe is a request: the first one after the open time. Until its result is known all others are refused.
#pragma once

#include <cstdint>

#include "net/clock.h"
#include "runtime/upstream/health/request_result.h"

namespace edge::runtime {

struct CircuitSettings {
  std::uint32_t errors = 0;  ///< consecutive errors that open the circuit; 0: never
  net::Duration interval{};  ///< errors further apart are not consecutive
  net::Duration open_time{};
  /// Responses of 500 and above, and requests without a response, are counted separately.
  bool split = false;
};

class Circuit {
 public:
  enum class State : std::uint8_t { kClosed, kHalfOpen, kOpen };
  enum class Admission : std::uint8_t { kPass, kProbe, kRefuse };

  /// Called for every request while the state is not kClosed.
  Admission admit(net::Time now);
  /// Records the result of an admitted request. kUnknown for a probe makes the next request the probe. \returns whether
  /// the state has changed.
  bool observe(RequestResult outcome, bool probe, const CircuitSettings& settings, net::Time now);

  State state() const { return state_; }
  /// Returns when a probe is allowed; for an open circuit.
  net::Time open_until() const { return until_; }
  /// Returns whether a success would change nothing.
  bool clean() const { return state_ == State::kClosed && run_ == 0 && server_run_ == 0; }

 private:
  void open(net::Time until);

  State state_ = State::kClosed;
  std::uint32_t run_ = 0;
  std::uint32_t server_run_ = 0;
  net::Time last_error_{};
  net::Time until_{};
};

}  // namespace edge::runtime
