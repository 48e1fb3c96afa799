#include "agent/wan/liveness.h"

#include <algorithm>
#include <cmath>

namespace edge::agent::wan {
namespace {

/// How seldom a living path misses so many probes in a row that it is taken for dead.
constexpr double kChance = 1e-6;
/// What one probe weighs in the shares of missed ones.
constexpr std::array<double, 2> kWeights = {1.0 / 8, 1.0 / 64};

unsigned missed_until_dead(double lost) {
  if (lost <= 0) return kFewestMissed;
  if (lost >= 1) return kMostMissed;
  const double probes = std::ceil(std::log(kChance) / std::log(lost));
  return static_cast<unsigned>(std::clamp<double>(probes, kFewestMissed, kMostMissed));
}

}  // namespace

void Liveness::answered(Time sent) {
  if (!alive_) {
    missed_ = 0;
    if (answers_++ == 0) answers_since_ = sent;
    if (answers_ >= kAnswersToLive) turn(true);
    return;
  }
  // A row that has not ended tells nothing of the share: that would put off its own end.
  for (; missed_ > 0; --missed_) count(true);
  count(false);
  until_dead_ = wan::missed_until_dead(std::ranges::max(lost_));
}

void Liveness::missed(Time sent) {
  if (missed_ == 0) missed_since_ = sent;
  missed_ = std::min(missed_ + 1, kMostMissed);
  if (!alive_) {
    if (missed_ >= kFewestMissed) answers_ = 0;
    return;
  }
  if (missed_ >= until_dead_) turn(false);
}

void Liveness::count(bool missed) {
  for (std::size_t i = 0; i < lost_.size(); ++i) lost_[i] += ((missed ? 1 : 0) - lost_[i]) * kWeights[i];
}

void Liveness::turn(bool alive) {
  alive_ = alive;
  since_ = alive ? answers_since_ : missed_since_;
  // A path that comes back soon was not dead but lossy; what is missed from now on is of the outage, and no share.
  for (; !alive && missed_ > 0; --missed_) count(true);
  until_dead_ = wan::missed_until_dead(std::ranges::max(lost_));
  missed_ = 0;
  answers_ = 0;
}

}  // namespace edge::agent::wan
