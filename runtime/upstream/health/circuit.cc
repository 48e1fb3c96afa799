#include "runtime/upstream/health/circuit.h"

namespace edge::runtime {

Circuit::Admission Circuit::admit(net::Time now) {
  if (state_ == State::kClosed) return Admission::kPass;
  if (state_ == State::kHalfOpen || now < until_) return Admission::kRefuse;
  state_ = State::kHalfOpen;
  return Admission::kProbe;
}

bool Circuit::observe(RequestResult outcome, bool probe, const CircuitSettings& settings, net::Time now) {
  if (state_ != State::kClosed) {
    // What was admitted before the circuit opened has had its say.
    if (!probe || state_ != State::kHalfOpen) return false;
    if (outcome == RequestResult::kSuccess) {
      *this = {};
    } else {
      open(outcome == RequestResult::kUnknown ? now : now + settings.open_time);
    }
    return true;
  }
  if (outcome == RequestResult::kUnknown || settings.errors == 0) return false;
  if (now - last_error_ > settings.interval && settings.interval > net::Duration(0)) run_ = server_run_ = 0;
  // An answer, of whatever status, ends a run of requests without one.
  std::uint32_t& counted = settings.split && outcome == RequestResult::kServerError ? server_run_ : run_;
  if (outcome == RequestResult::kSuccess) {
    run_ = server_run_ = 0;
    return false;
  }
  if (settings.split && outcome == RequestResult::kServerError) run_ = 0;
  last_error_ = now;
  if (++counted < settings.errors) return false;
  open(now + settings.open_time);
  return true;
}

void Circuit::open(net::Time until) {
  state_ = State::kOpen;
  run_ = server_run_ = 0;
  until_ = until;
}

}  // namespace edge::runtime
