// Series of metrics, from a Prometheus server's responses or an agent's /metrics.
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
  Labels labels;  ///< `__name__` is the metric's, if known
  std::vector<Point> points;

  /// Returns a label; empty where it is absent.
  std::string_view label(std::string_view name) const;
  /// Returns the last point's value; 0 without any.
  double value() const { return points.empty() ? 0 : points.back().value; }
};

/// A response with more series is truncated.
inline constexpr std::size_t kMostSeries = 100'000;

/// Parses responses of /api/v1/query and /api/v1/query_range, of every result type. kInvalidArgument: the server
/// rejected the query, with its reason; kUnavailable: not a response of Prometheus.
Result<std::vector<Series>> read_prometheus(std::string_view json);

/// Returns the samples of an exposition (text format 0.0.4, OpenMetrics) whose names begin with one of `wanted`: one
/// point each, without its time. Ignores invalid lines.
std::vector<Series> read_exposition(std::string_view text, const std::vector<std::string_view>& wanted);

/// A metric's name and label matchers: `edge_requests_total{code="5xx",route!=""}`.
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
/// kInvalidArgument says where the syntax is wrong.
Result<Selector> read_selector(std::string_view text);

}  // namespace edge::edgectl
