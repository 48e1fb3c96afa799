// What agents keep of their last hour (docs/last-hour.md), read and added up: the same tables and lines that a
// Prometheus server gives, without one.
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

/// Of several agents: a second. Of one answer: in the time that it covers.
struct HourCounts {
  std::array<double, 6> by_class{};    ///< 0: nothing was answered
  std::map<double, double> buckets{};  ///< requests by duration: upper bound, each alone
  double request_bytes = 0;
  double response_bytes = 0;

  double requests() const;
  double client_errors() const { return by_class[4]; }
  /// 5xx, and not answered at all.
  double errors() const { return by_class[0] + by_class[5]; }
  /// Of all requests, 0 to 1; not a number without any.
  double client_error_part() const;
  double error_part() const;
  /// Seconds; not a number without any.
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

/// What one agent says of a window.
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

/// Of its page /debug/traffic. kUnavailable: it is no such page.
Result<AgentHour> read_agent_hour(const std::string& agent, std::string_view page);

/// Of /debug/traffic/line: the points, oldest first.
struct HourPoint {
  double covered = 0;   ///< seconds; 0: nothing is known
  HourCounts counts{};  ///< a second
  double connections = 0;
};
Result<std::vector<HourPoint>> read_agent_line(const std::string& agent, std::string_view page);
/// Of several agents: added up, point by point.
std::vector<HourPoint> sum_of(std::span<const std::vector<HourPoint>> agents);

/// The rows of a table of metric_table.h, as agents say it; ascending by key.
std::vector<MetricRow> hour_rows(const MetricTable& table, std::span<const AgentHour> agents);

/// As Prometheus estimates it, within the bucket that holds it; not a number without any observation. `buckets`: by
/// upper bound, each with all below it.
double quantile(double part, const std::map<double, double>& buckets);

}  // namespace edge::edgectl
