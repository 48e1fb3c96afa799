// What is known of one path from its probes: whether it lives, and its latency, jitter and loss. Without clock or
// socket.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/wan/change_detector.h"
#include "agent/wan/liveness.h"

namespace edge::agent::wan {

struct ProbeSettings {
  Time interval = std::chrono::milliseconds(100);
  Time timeout = std::chrono::milliseconds(500);  ///< a probe that is not answered by then is lost
  std::uint32_t window = 1000;                    ///< probes that `quality` is of; within [2, 10,000]
};

/// The times of an answered probe.
struct Answer {
  std::uint32_t number = 0;  ///< what `sent` returned
  Time arrived{};            ///< on the clock of `sent`
  /// The reflector's clock; any origin, as only differences count.
  Time reflector_received{};
  Time reflector_sent{};
  /// Probes that the reflector had received of this session; nullopt: it does not count them.
  std::optional<std::uint32_t> reflector_count{};
};

/// Of the window. Latencies are round trips without the reflector's own time.
struct Quality {
  std::uint32_t probes = 0;    ///< sent and decided
  std::uint32_t answered = 0;  ///< with none, latency and jitter are zero
  double loss = 0;             ///< share of `probes`
  double loss_low = 0;         ///< 95% confidence interval of `loss` (Clopper and Pearson)
  double loss_high = 1;
  std::optional<double> forward_loss{};  ///< towards the reflector; nullopt: not known
  std::optional<double> backward_loss{};
  Time latency{};      ///< median
  Time latency_p95{};  ///< 95th percentile
  /// Median of the difference between consecutive delays (RFC 3393), of the round trip and each way.
  Time jitter{};
  Time forward_jitter{};
  Time backward_jitter{};
};

/// A decided probe, for tests of rates.
struct Outcome {
  Time sent{};
  bool lost = false;
  Time latency{};                ///< of an answered one
  std::optional<Time> change{};  ///< difference to the latency before; nullopt: that probe was lost
};

class PathMeter {
 public:
  explicit PathMeter(const ProbeSettings& settings);

  /// Records a probe that is being sent. \returns its number.
  std::uint32_t sent(Time now);
  /// Records an answer. False: it answers nothing that is awaited: unknown, too late, or a duplicate.
  bool answered(const Answer& answer);
  /// Decides what is overdue. To be called at least every interval.
  void advance(Time now);

  /// Returns what was decided since the last call, in the order of sending.
  std::vector<Outcome> take_outcomes();

  /// Returns whether enough probes were decided to know whether it lives.
  bool measured() const { return undecided_ >= kFewestMissed; }
  bool alive() const { return liveness_.alive(); }
  /// Liveness::since.
  Time alive_since() const { return liveness_.since(); }
  /// Cost: a sort of the window.
  Quality quality() const;

 private:
  enum class State : std::uint8_t { kAwaited, kAnswered, kLost };
  struct Probe {
    Time sent{};
    Time latency{};
    Time forward{};   ///< includes the difference of the clocks
    Time backward{};  ///< includes the difference of the clocks
    std::uint32_t reflector_count = 0;
    State state = State::kLost;
    bool counted = false;  ///< reflector_count is known
  };

  Probe& probe(std::uint32_t number) { return probes_[number % probes_.size()]; }
  const Probe& probe(std::uint32_t number) const { return probes_[number % probes_.size()]; }
  /// The oldest that is kept.
  std::uint32_t first() const;
  void decide();
  Time patience() const;
  /// Tells loss on the way there from loss on the way back, by the reflector's counts from probe `begin` on.
  void add_loss_by_direction(std::uint32_t begin, Quality& quality) const;

  ProbeSettings settings_;
  std::vector<Probe> probes_;    ///< by number, the last ones
  std::uint32_t next_ = 0;       ///< number of the next probe
  std::uint32_t undecided_ = 0;  ///< the oldest whose outcome is not known
  std::uint32_t unheard_ = 0;    ///< the oldest that liveness did not count
  std::vector<Outcome> outcomes_;
  std::optional<Time> last_latency_;  ///< of the probe before; nullopt: lost
  /// Latency and its deviation, smoothed as TCP does (RFC 6298), for how long liveness waits.
  Time smoothed_{};
  Time deviation_{};
  Liveness liveness_;
};

}  // namespace edge::agent::wan
