#include "agent/wan/fitness.h"

#include <algorithm>

namespace edge::agent::wan {
namespace {

/// A median exceeds its limit when more than half of the samples do.
constexpr double kHalf = 0.5;

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "";
    case Fault::kDisabled:
      return "disabled";
    case Fault::kDead:
      return "no answers";
    case Fault::kLoss:
      return "loss";
    case Fault::kLatency:
      return "latency";
    case Fault::kJitter:
      return "jitter";
  }
  return "";
}

Fitness::Fitness(const Limits& limits) {
  if (limits.loss) limits_[0] = Limit{.fault = Fault::kLoss, .detector = ChangeDetector(*limits.loss)};
  if (limits.latency)
    limits_[1] = Limit{.fault = Fault::kLatency, .limit = *limits.latency, .detector = ChangeDetector(kHalf)};
  if (limits.jitter)
    limits_[2] = Limit{.fault = Fault::kJitter, .limit = *limits.jitter, .detector = ChangeDetector(kHalf)};
}

void Fitness::add(const PathMeter& meter, std::span<const Outcome> outcomes) {
  if (!meter.alive()) {
    for (auto& limit : limits_) {
      if (limit) limit->detector.forget();
    }
    return;
  }
  for (const Outcome& outcome : outcomes) {
    if (outcome.sent >= meter.alive_since()) add(outcome);
  }
}

void Fitness::add(const Outcome& outcome) {
  for (auto& limit : limits_) {
    if (!limit) continue;
    switch (limit->fault) {
      case Fault::kLoss:
        limit->detector.add(outcome.lost, outcome.sent);
        break;
      case Fault::kLatency:
        if (!outcome.lost) limit->detector.add(outcome.latency > limit->limit, outcome.sent);
        break;
      default:
        if (outcome.change) limit->detector.add(*outcome.change > limit->limit, outcome.sent);
    }
  }
}

Fault Fitness::fault() const {
  for (const auto& limit : limits_) {
    if (limit && limit->detector.beyond()) return limit->fault;
  }
  return Fault::kNone;
}

Time Fitness::since() const {
  const bool unfit = fault() != Fault::kNone;
  std::optional<Time> since;
  for (const auto& limit : limits_) {
    if (!limit || limit->detector.beyond() != unfit) continue;
    // A path is unfit since its first fault, and fit since the last one ended.
    const Time of = limit->detector.since();
    since = !since ? of : unfit ? std::min(*since, of) : std::max(*since, of);
  }
  return since.value_or(Time::zero());
}

}  // namespace edge::agent::wan
