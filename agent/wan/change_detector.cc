#include "agent/wan/change_detector.h"

#include <algorithm>
#include <cmath>

namespace edge::agent::wan {
namespace {

double log_ratio(bool bad, double of, double against) {
  return bad ? std::log(of / against) : std::log((1 - of) / (1 - against));
}

/// The rate with `factor` times the odds of `limit`, which for small rates is `factor` times the rate, and stays
/// below 1.
double with_odds(double limit, double factor) {
  const double odds = factor * limit / (1 - limit);
  return odds / (1 + odds);
}

}  // namespace

void Cusum::add(double log_ratio, Time at) {
  if (sum_ == 0) since_ = at;
  sum_ = std::max(0.0, sum_ + log_ratio);
}

ChangeDetector::ChangeDetector(double limit) : limit_(limit) {
  constexpr std::array<double, kRates> kFactors = {2, 8, 32};
  for (std::size_t i = 0; i < kRates; ++i) rates_[i] = with_odds(limit, kFactors[i]);
}

void ChangeDetector::forget() {
  for (Cusum& sum : excess_) sum.reset();
  recovery_.reset();
}

void ChangeDetector::add(bool bad, Time at) {
  if (beyond_) {
    recovery_.add(log_ratio(bad, well_, found_), at);
    if (!recovery_.decided()) return;
    beyond_ = false;
    since_ = recovery_.since();
    forget();
    return;
  }
  for (std::size_t i = 0; i < kRates; ++i) excess_[i].add(log_ratio(bad, rates_[i], limit_), at);
  // The largest that is found decides: recovery from it is told soonest.
  for (std::size_t i = kRates; i-- > 0;) {
    if (!excess_[i].decided()) continue;
    beyond_ = true;
    since_ = excess_[i].since();
    // A link that was found a little beyond its limit may be exactly at it. It has recovered when it is clearly better
    // than that, or else it would be taken and left in turns.
    found_ = i == 0 ? limit_ : rates_[i];
    well_ = i == 0 ? with_odds(limit_, 0.5) : limit_;
    forget();
    return;
  }
}

}  // namespace edge::agent::wan
