// One path against the limits of a policy or a link: which limit it exceeds, and since when.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/wan/path_meter.h"

namespace edge::agent::wan {

/// What a path must keep; without a value there is no limit.
struct Limits {
  std::optional<double> loss{};   ///< share of probes, within (0, 1)
  std::optional<Time> latency{};  ///< of the median round trip
  std::optional<Time> jitter{};   ///< of the median change between round trips
};

enum class Fault : std::uint8_t { kNone, kDisabled, kDead, kLoss, kLatency, kJitter };
std::string_view to_string(Fault fault);

class Fitness {
 public:
  explicit Fitness(const Limits& limits);

  /// Takes what `meter` decided. Of the time when the path was dead nothing counts: it is the meter that reports that.
  void add(const PathMeter& meter, std::span<const Outcome> outcomes);

  /// Returns the limit that is exceeded, kNone without one.
  Fault fault() const;
  /// When the fault began, or the last one ended.
  Time since() const;

 private:
  void add(const Outcome& outcome);

  struct Limit {
    Fault fault;
    Time limit{};  ///< of latency and jitter
    ChangeDetector detector;
  };
  std::array<std::optional<Limit>, 3> limits_;
};

}  // namespace edge::agent::wan
