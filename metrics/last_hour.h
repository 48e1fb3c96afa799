// Traffic statistics of the last hour, in bounded memory: differences between readings of monotonic counters, by
// gateway, route and backend. docs/last-hour.md.
//
// The last five minutes are stored in steps of five seconds and the hour in steps of a minute; totals over all rows are
// stored in steps of five seconds for the whole hour. Rows without requests use no memory. Of one step the rows with
// the most requests are stored, the others are added up as route `other`.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "metrics/histogram.h"

namespace edge::metrics {

/// `namespace/name` each; empty where there is none.
struct TrafficNames {
  std::string gateway;
  std::string route;
  std::string backend;
  friend auto operator<=>(const TrafficNames&, const TrafficNames&) = default;
};

struct TrafficCounts {
  std::array<std::uint64_t, 6> by_class{};  ///< index 0: no response; else the first digit of the status
  std::array<std::uint64_t, std::size(kDurationBounds) + 1> durations{};
  std::uint64_t nanoseconds = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;

  std::uint64_t requests() const;
  void add(const TrafficCounts& more);
  /// Returns the difference to `before`; the whole value where a counter decreased, because it was reset.
  TrafficCounts since(const TrafficCounts& before) const;
};

/// Events of a backend. Monotonic.
struct BackendEvents {
  std::uint64_t retries = 0;
  std::uint64_t ejections = 0;
  std::uint64_t circuit_opened = 0;
  std::uint64_t connect_failures = 0;
  std::uint64_t failed_checks = 0;

  bool any() const { return (retries | ejections | circuit_opened | connect_failures | failed_checks) != 0; }
  void add(const BackendEvents& more);
  BackendEvents since(const BackendEvents& before) const;
};

/// A reading of the counters.
struct TrafficReading {
  std::map<TrafficNames, TrafficCounts> rows;
  std::map<std::string, BackendEvents> backends;  ///< by `namespace/name`
  std::uint64_t connections = 0;                  ///< currently open
  double cpu_seconds = 0;                         ///< of the process, so far
};

/// Traffic in a period of time.
struct TrafficSpan {
  std::chrono::nanoseconds covered{};  ///< its actual length
  std::map<TrafficNames, TrafficCounts> rows;
  std::map<std::string, BackendEvents> backends;
  TrafficCounts total;
  double cpu_seconds = 0;
};

/// One point of a time series.
struct TrafficPoint {
  std::chrono::nanoseconds ago{};      ///< from its end to now
  std::chrono::nanoseconds covered{};  ///< 0: no data for this time
  TrafficCounts counts;
  std::uint64_t connections = 0;  ///< maximum; only for series over all rows
};

/// For one thread at a time.
class LastHour {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kStep = std::chrono::seconds(5);
  static constexpr auto kFine = std::chrono::minutes(5);
  static constexpr auto kKept = std::chrono::hours(1);
  static constexpr std::size_t kMostRows = 512;  ///< per step
  static constexpr std::size_t kMostPoints = 720;

  LastHour(TrafficReading first, Clock::time_point at);

  /// Ends a step. To be called every kStep; a longer pause makes a longer step.
  void record(TrafficReading now, Clock::time_point at);
  /// Returns the traffic of the last `window` up to `now`, as far as it is stored, and at least of that time.
  TrafficSpan span(const TrafficReading& now, Clock::time_point at, std::chrono::nanoseconds window) const;

  /// An empty name selects all.
  struct Line {
    std::chrono::nanoseconds range{};
    std::size_t points = 60;
    TrafficNames names{};
  };
  /// Returns `line.points` points of equal length, the oldest first; at most kMostPoints.
  std::vector<TrafficPoint> line(const Line& line, const TrafficReading& now, Clock::time_point at) const;
  Clock::time_point since() const { return began_; }

 private:
  using Name = std::shared_ptr<const TrafficNames>;
  struct Row {
    Name name;
    TrafficCounts counts;
  };
  struct Step {
    Clock::time_point from, to;
    std::vector<Row> rows;
    std::map<std::string, BackendEvents> backends;
    double cpu_seconds = 0;
  };
  struct Total {
    Clock::time_point from, to;
    TrafficCounts counts;
    std::uint64_t connections = 0;
  };
  struct ByNames {
    using is_transparent = void;
    static const TrafficNames& of(const Name& name) { return *name; }
    static const TrafficNames& of(const TrafficNames& name) { return name; }
    bool operator()(const auto& a, const auto& b) const { return of(a) < of(b); }
  };

  Step step_between(const TrafficReading& before, const TrafficReading& now, Clock::time_point from,
                    Clock::time_point to);
  Name name_of(const TrafficNames& names);
  void add_to_minute(const Step& step);
  void end_minute();
  static void keep_most(std::vector<Row>& rows, const Name& other);
  /// Returns the steps, oldest first, needed for `window` up to `at`, including the current one.
  std::vector<const Step*> steps_of(Clock::time_point at, std::chrono::nanoseconds window) const;

  Clock::time_point began_;
  Clock::time_point last_;  ///< when `before_` was read
  TrafficReading before_;
  std::deque<Step> fine_;     ///< within kFine
  std::deque<Step> minutes_;  ///< within kKept
  Step minute_;               ///< steps since the last complete minute
  std::map<Name, TrafficCounts, ByNames> minute_rows_;
  std::deque<Total> totals_;  ///< within kKept
  std::set<Name, ByNames> names_;
  static constexpr std::size_t kManyNames = 4096;
  /// Unused names are removed once there are this many.
  std::size_t prune_at_ = kManyNames;
  Name other_;
};

}  // namespace edge::metrics
