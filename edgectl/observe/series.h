// Series of metrics as commands read them: what a Prometheus server answers, and what an agent's /metrics says.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

using Labels = std::map<std::string, std::string, std::less<>>;

struct Point {
  double time = 0;  ///< seconds since 1970
  double value = 0;
};

struct Series {
  Labels labels;  ///< `__name__` is the metric's, where there is one
  std::vector<Point> points;

  /// Empty where there is no such label.
  std::string_view label(std::string_view name) const;
  /// Of the last point; 0 without any.
  double value() const { return points.empty() ? 0 : points.back().value; }
};

/// An answer is cut off behind so many.
inline constexpr std::size_t kMostSeries = 100'000;

/// What Prometheus answers to /api/v1/query and /api/v1/query_range, of every type of result. kInvalidArgument: the
/// server refused the query, and why; kUnavailable: this is no answer of Prometheus.
Result<std::vector<Series>> read_prometheus(std::string_view json);

/// The samples of an exposition (text format 0.0.4, OpenMetrics) whose names `wanted` begins: one point each, without
/// its time. Lines that cannot be read are passed over.
std::vector<Series> read_exposition(std::string_view text, const std::vector<std::string_view>& wanted);

/// A metric's name and what its labels must be: `edge_requests_total{code="5xx",route!=""}`.
struct Selector {
  struct Label {
    std::string name;
    bool equal = true;
    std::string value;
  };
  std::string name;
  std::vector<Label> labels;

  bool takes(const Series& series) const;
};
/// kInvalidArgument says where it is something else.
Result<Selector> read_selector(std::string_view text);

}  // namespace edge::edgectl
