// Whether a stream of trials (a probe was lost, a round trip was longer than allowed) keeps a limit: a sequential test
// that tells a change from chance, and since when.
//
// It is Page's cumulative sum (Biometrika 41, 1954). Each trial adds the logarithm of its likelihood ratio between a
// rate beyond the limit and the limit itself; the sum never falls below zero. The rate has changed when the sum reaches
// kEvidence, and changed when the sum last left zero. A window and its average would need either a threshold that
// single losses pass (60 probes cannot tell 0.5% from 1.7%), or minutes for a link that loses every fifth packet.
#pragma once

#include <array>
#include <chrono>

namespace edge::agent::wan {

/// Time since an arbitrary moment, local to a node. Includes suspended time.
using Time = std::chrono::nanoseconds;

/// Natural logarithm of how much likelier trials must be under the changed rate. With ten trials a second a rate
/// exactly at the limit passes it less than once in 25 days (the mean number of trials is at least e^kEvidence).
inline constexpr double kEvidence = 17;

/// The sum and when it last was zero.
class Cusum {
 public:
  void add(double log_ratio, Time at);
  void reset() { sum_ = 0; }
  bool decided() const { return sum_ >= kEvidence; }
  Time since() const { return since_; }

 private:
  double sum_ = 0;
  Time since_{};
};

/// A rate of bad trials against its limit. Begins as kept.
class ChangeDetector {
 public:
  /// `limit` is the rate allowed, within (0, 1).
  explicit ChangeDetector(double limit);

  void add(bool bad, Time at);
  /// Forgets trials that have not decided anything: those before and after an outage are not of one rate.
  void forget();

  bool beyond() const { return beyond_; }
  /// When the last change between beyond and kept began; before what `add` was given when it was found.
  Time since() const { return since_; }

 private:
  static constexpr std::size_t kRates = 3;

  double limit_;
  /// Rates beyond the limit that are looked for, ascending: a small excess takes thousands of trials to be told from
  /// the limit, a large one some tens.
  std::array<double, kRates> rates_{};
  std::array<Cusum, kRates> excess_{};
  Cusum recovery_{};
  /// What recovery must be told from: the rate that was found, and the rate of a link that is well.
  double found_ = 0;
  double well_ = 0;
  bool beyond_ = false;
  Time since_{};
};

}  // namespace edge::agent::wan
