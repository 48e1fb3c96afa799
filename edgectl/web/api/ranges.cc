#include "edgectl/web/api/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Range {
  std::string_view name;
  int hours;
};
constexpr std::array<Range, 4> kRanges = {{{"6h", 6}, {"24h", 24}, {"7d", 7 * 24}, {"30d", 30 * 24}}};

struct Line {
  std::string_view name;   ///< in JSON
  std::string_view query;  ///< `WINDOW` is the window of rates
};
constexpr std::array<Line, 5> kLines = {
    {{"requests", "sum(rate(edge_requests_total[WINDOW]))"},
     {"clientErrors",
      "sum(rate(edge_requests_total{code=\"4xx\"}[WINDOW])) or 0 * sum(rate(edge_requests_total[WINDOW]))"},
     {"errors",
      "sum(rate(edge_requests_total{code=~\"5xx|none\"}[WINDOW])) or 0 * sum(rate(edge_requests_total[WINDOW]))"},
     {"p50", "histogram_quantile(0.5, sum by (le) (rate(edge_request_duration_seconds_bucket[WINDOW])))"},
     {"p99", "histogram_quantile(0.99, sum by (le) (rate(edge_request_duration_seconds_bucket[WINDOW])))"}}};

/// Several scrapes, also of servers that scrape once a minute.
constexpr std::int64_t kLeastWindow = 300;
constexpr std::chrono::seconds kKeep{20};
/// Of one query.
constexpr std::chrono::seconds kQueryTime{8};

std::string query_of(const Line& line, std::int64_t window) {
  std::string query(line.query);
  constexpr std::string_view kWord = "WINDOW";
  for (std::size_t at = query.find(kWord); at != std::string::npos; at = query.find(kWord, at)) {
    query.replace(at, kWord.size(), std::to_string(window) + "s");
  }
  return query;
}

}  // namespace

Ranges::Ranges(const std::string& url) {
  if (!url.empty()) server_.emplace(url, kQueryTime);
}

Result<std::string> Ranges::read(const std::string& range) {
  const auto found = std::ranges::find(kRanges, std::string_view(range), &Range::name);
  if (found == kRanges.end()) return Error{ErrorCode::kNotFound, "ranges are 6h, 24h, 7d and 30d"};
  if (!server_)
    return Error{ErrorCode::kNotFound, "ranges of more than an hour need a Prometheus server: --metrics-url"};
  const auto now = std::chrono::steady_clock::now();
  if (const auto kept = kept_.find(range); kept != kept_.end() && now < kept->second.until) return kept->second.json;
  const std::int64_t seconds = std::int64_t{3600} * found->hours;
  const std::int64_t step = seconds / kPoints;
  // Points of all lines have the same times, as the queries share start and step to the second.
  std::map<std::int64_t, OrderedJson> points;
  for (const Line& line : kLines) {
    auto series = server_->range(query_of(line, std::max(step, kLeastWindow)), static_cast<double>(seconds),
                                 static_cast<double>(step));
    if (!series) return Error{ErrorCode::kUnavailable, series.error().text};
    if (series->empty()) continue;
    for (const Point& point : series->front().points) {
      const std::int64_t at = std::llround(point.time / static_cast<double>(step)) * step;
      if (points.size() > kPoints + 2 && !points.contains(at)) continue;
      if (std::isfinite(point.value)) points[at][std::string(line.name)] = point.value;
    }
  }
  OrderedJson list = OrderedJson::array();
  for (const auto& [at, values] : points) {
    OrderedJson point = {{"at", at}};
    for (const Line& line : kLines) {
      const std::string name(line.name);
      point[name] = values.is_object() && values.contains(name) ? values[name] : OrderedJson(nullptr);
    }
    list.push_back(std::move(point));
  }
  std::string json = json_line(OrderedJson{{"range", range}, {"step", step}, {"points", std::move(list)}});
  kept_[range] = {json, now + kKeep};
  return json;
}

}  // namespace edge::edgectl::web
