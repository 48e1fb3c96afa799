#include "runtime/session/server/loop_probe.h"

#include <algorithm>

namespace edge::runtime {

void LoopProbe::begin() {
  due_ = loop_.now() + kInterval;
  loop_.timers().set(*this, due_);
}

void LoopProbe::expired() {
  // A deadline is rounded up to a tick: so much is no lateness.
  count(std::max(net::Duration::zero(), loop_.now() - due_ - net::TimerWheel::kTick));
  begin();
}

void LoopProbe::count(net::Duration late) {
  const double seconds = std::chrono::duration<double>(late).count();
  const auto* const bound = std::ranges::lower_bound(metrics::kDurationBounds, seconds);
  counts_[static_cast<std::size_t>(bound - std::begin(metrics::kDurationBounds))].add();
  nanoseconds_.add(static_cast<std::uint64_t>(std::chrono::nanoseconds(late).count()));
}

void LoopProbe::add_to(LoopLag& sum) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) sum.counts[i] += counts_[i].value();
  sum.nanoseconds += nanoseconds_.value();
}

}  // namespace edge::runtime
