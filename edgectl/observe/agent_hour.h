// Reads and adds up the statistics of agents' last hour (docs/last-hour.md): the same tables and series as from a
// Prometheus server, without one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edgectl/observe/metric_table.h"

namespace edge::edgectl {

/// For several agents: per second. For one agent: totals over its time.
struct HourCounts {
  std::array<double, 6> by_class{};    ///< index 0: no response
  std::map<double, double> buckets{};  ///< requests by duration: upper bound, not cumulative
  double request_bytes = 0;
  double response_bytes = 0;

  double requests() const;
  double client_errors() const { return by_class[4]; }
  /// Returns 5xx responses and requests without a response.
  double errors() const { return by_class[0] + by_class[5]; }
  /// Return fractions of all requests, 0 to 1; NaN without any.
  double client_error_part() const;
  double error_part() const;
  /// Returns seconds; NaN without requests.
  double quantile(double part) const;
  void add(const HourCounts& more, double factor);
};

struct HourRow {
  std::string gateway, route, backend;
  HourCounts counts{};
};

struct HourBackend {
  std::string name;
  double healthy = 0;
  double endpoints = 0;
  double connections = 0;
  double retries = 0;
  double ejections = 0;
  double circuit = 0;  ///< 0 closed, 1 half-open, 2 open
};

/// One agent's statistics for a window.
struct AgentHour {
  std::string agent;
  double covered = 0;  ///< seconds
  std::string program;
  double connections = 0;
  double cpu_seconds = 0;
  double resident_bytes = 0;
  HourCounts total{};
  std::vector<HourRow> rows{};
  std::vector<HourBackend> backends{};
};

/// Parses the page /debug/traffic. kUnavailable: it is not such a page.
Result<AgentHour> read_agent_hour(const std::string& agent, std::string_view page);

/// A point of /debug/traffic/line; points are sorted oldest first.
struct HourPoint {
  double covered = 0;   ///< seconds; 0: no data
  HourCounts counts{};  ///< per second
  double connections = 0;
};
Result<std::vector<HourPoint>> read_agent_line(const std::string& agent, std::string_view page);
/// Adds up several agents, point by point.
std::vector<HourPoint> sum_of(std::span<const std::vector<HourPoint>> agents);

/// Returns rows for a table of metric_table.h; ascending by key.
std::vector<MetricRow> hour_rows(const MetricTable& table, std::span<const AgentHour> agents);

/// Estimates a quantile like Prometheus, by interpolation within its bucket; NaN without observations. `buckets`:
/// cumulative, by upper bound.
double quantile(double part, const std::map<double, double>& buckets);

}  // namespace edge::edgectl
