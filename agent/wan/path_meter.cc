#include "agent/wan/path_meter.h"

#include <algorithm>

#include <boost/math/distributions/binomial.hpp>

namespace edge::agent::wan {
namespace {

/// Of `values`, which are reordered; zero for none.
Time quantile(std::vector<Time>& values, double share) {
  if (values.empty()) return {};
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

Time distance(Time one, Time other) { return one > other ? one - other : other - one; }

double ratio(std::uint32_t part, std::uint32_t of) { return of == 0 ? 0 : static_cast<double>(part) / of; }

}  // namespace

PathMeter::PathMeter(const ProbeSettings& settings)
    : settings_(settings),
      probes_(settings.window + static_cast<std::size_t>(settings.timeout / settings.interval) + kFewestMissed + 1) {}

std::uint32_t PathMeter::first() const {
  return next_ > probes_.size() ? next_ - static_cast<std::uint32_t>(probes_.size()) : 0;
}

std::uint32_t PathMeter::sent(Time now) {
  // Probes may be sent faster than the settings say; what is overwritten must have been decided.
  if (next_ - undecided_ >= probes_.size()) {
    probe(undecided_).state = State::kLost;
    decide();
  }
  probe(next_) = {.sent = now, .state = State::kAwaited};
  return next_++;
}

bool PathMeter::answered(const Answer& answer) {
  if (answer.number >= next_ || answer.number < undecided_) return false;
  Probe& found = probe(answer.number);
  if (found.state != State::kAwaited) return false;
  found.forward = answer.reflector_received - found.sent;
  found.backward = answer.arrived - answer.reflector_sent;
  // A reflector whose clock was set meanwhile would make it negative, or longer than it can be.
  found.latency = std::clamp(found.forward + found.backward, Time::zero(), answer.arrived - found.sent);
  found.counted = answer.reflector_count.has_value();
  found.reflector_count = answer.reflector_count.value_or(0);
  found.state = State::kAnswered;
  const Time error = distance(found.latency, smoothed_);
  deviation_ = smoothed_ == Time::zero() ? found.latency / 2 : (3 * deviation_ + error) / 4;
  smoothed_ = smoothed_ == Time::zero() ? found.latency : (7 * smoothed_ + found.latency) / 8;
  liveness_.answered(found.sent);
  decide();
  return true;
}

void PathMeter::advance(Time now) {
  unheard_ = std::max(unheard_, first());
  for (const Time wait = patience(); unheard_ < next_; ++unheard_) {
    const Probe& oldest = probe(unheard_);
    if (oldest.state == State::kAnswered) continue;
    if (oldest.state == State::kAwaited && now - oldest.sent < wait) break;
    liveness_.missed(oldest.sent);
  }
  for (std::uint32_t number = undecided_; number < next_; ++number) {
    Probe& late = probe(number);
    if (now - late.sent < settings_.timeout) break;
    if (late.state == State::kAwaited) late.state = State::kLost;
  }
  decide();
}

/// Outcomes are in the order of sending, so that changes of the latency are between neighbours.
void PathMeter::decide() {
  for (; undecided_ < next_ && probe(undecided_).state != State::kAwaited; ++undecided_) {
    const Probe& decided = probe(undecided_);
    Outcome outcome{.sent = decided.sent, .lost = decided.state == State::kLost, .latency = decided.latency};
    if (!outcome.lost && last_latency_) outcome.change = distance(decided.latency, *last_latency_);
    last_latency_ = outcome.lost ? std::nullopt : std::optional(decided.latency);
    outcomes_.push_back(outcome);
  }
}

/// Liveness waits less than `timeout`, which a slow answer is given: as long as TCP would before it sends again.
Time PathMeter::patience() const {
  if (smoothed_ == Time::zero()) return settings_.timeout;
  const Time shortest = std::min(settings_.interval, settings_.timeout);
  return std::clamp(smoothed_ + 4 * deviation_, shortest, settings_.timeout);
}

std::vector<Outcome> PathMeter::take_outcomes() { return std::exchange(outcomes_, {}); }

void PathMeter::add_loss_by_direction(std::uint32_t begin, Quality& quality) const {
  std::optional<std::uint32_t> first;
  std::uint32_t last = 0;
  std::uint32_t heard = 0;  // after the first
  for (std::uint32_t number = begin; number < undecided_; ++number) {
    const Probe& decided = probe(number);
    if (decided.state == State::kLost || !decided.counted) continue;
    if (first) {
      ++heard;
    } else {
      first = number;
    }
    last = number;
  }
  if (heard == 0) return;
  const std::uint32_t sent = last - *first;
  // Modulo 2^32. More than were sent: the reflector began again, and counts from zero.
  const std::uint32_t arrived = probe(last).reflector_count - probe(*first).reflector_count;
  if (arrived > sent || heard > arrived) return;
  quality.forward_loss = ratio(sent - arrived, sent);
  quality.backward_loss = ratio(arrived - heard, arrived);
}

Quality PathMeter::quality() const {
  Quality quality;
  std::vector<Time> latencies;
  std::vector<Time> changes;
  std::vector<Time> forward_changes;
  std::vector<Time> backward_changes;
  const Probe* previous = nullptr;
  const std::uint32_t begin = std::max(first(), undecided_ - std::min(undecided_, settings_.window));
  for (std::uint32_t number = begin; number < undecided_; ++number) {
    const Probe& decided = probe(number);
    ++quality.probes;
    if (decided.state == State::kLost) {
      previous = nullptr;
      continue;
    }
    ++quality.answered;
    latencies.push_back(decided.latency);
    if (previous != nullptr) {
      changes.push_back(distance(decided.latency, previous->latency));
      forward_changes.push_back(distance(decided.forward, previous->forward));
      backward_changes.push_back(distance(decided.backward, previous->backward));
    }
    previous = &decided;
  }
  if (quality.probes == 0) return quality;

  const std::uint32_t lost = quality.probes - quality.answered;
  quality.loss = ratio(lost, quality.probes);
  using Binomial = boost::math::binomial_distribution<double>;
  quality.loss_low = Binomial::find_lower_bound_on_p(quality.probes, lost, 0.025);
  quality.loss_high = Binomial::find_upper_bound_on_p(quality.probes, lost, 0.025);
  add_loss_by_direction(begin, quality);
  quality.latency = quantile(latencies, 0.5);
  quality.latency_p95 = quantile(latencies, 0.95);
  quality.jitter = quantile(changes, 0.5);
  quality.forward_jitter = quantile(forward_changes, 0.5);
  quality.backward_jitter = quantile(backward_changes, 0.5);
  return quality;
}

}  // namespace edge::agent::wan
