#include "edgectl/observe/agent_hour.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double number_in(const Json& object, std::string_view name) {
  const Json& value = member_in(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

double number_at(const Json& list, std::size_t index) {
  return index < list.size() && list[index].is_number() ? list[index].get<double>() : 0;
}

HourCounts counts_of(const Json& object, const Json& bounds) {
  HourCounts counts;
  const Json& requests = list_in(object, "requests");
  for (std::size_t i = 0; i < counts.by_class.size(); ++i) counts.by_class[i] = number_at(requests, i);
  const Json& durations = list_in(object, "durations");
  for (std::size_t i = 0; i < durations.size() && i <= bounds.size(); ++i) {
    const double bound = i < bounds.size() ? number_at(bounds, i) : std::numeric_limits<double>::infinity();
    counts.buckets[bound] += number_at(durations, i);
  }
  counts.request_bytes = number_in(object, "requestBytes");
  counts.response_bytes = number_in(object, "responseBytes");
  return counts;
}

Result<Json> page_of(const std::string& agent, std::string_view page, const char* list) {
  Json said = parse_json(page);
  if (said.is_object() && member_in(said, list).is_array()) return said;
  return Error{ErrorCode::kUnavailable, agent + ": what it says of its traffic cannot be read"};
}

double circuit_of(const std::string& text) { return text == "Open" ? 2 : text == "HalfOpen" ? 1 : 0; }

/// Sums of one row of a table.
struct Sum {
  HourCounts counts;  ///< a second
  std::map<std::string_view, double> figures;
  std::string program;
};

using Keys = std::vector<std::string>;
using Sums = std::map<Keys, Sum>;

Keys keys_of(const MetricTable& table, const AgentHour& agent, const HourRow& row) {
  Keys keys;
  for (const std::string_view key : table.keys) {
    keys.push_back(key == "instance"  ? agent.agent
                   : key == "gateway" ? row.gateway
                   : key == "route"   ? row.route
                                      : row.backend);
  }
  return keys;
}

void add_backends(const AgentHour& agent, Sums& sums) {
  for (const HourBackend& backend : agent.backends) {
    auto& figures = sums[{backend.name}].figures;
    // An endpoint is well where every agent finds it so.
    const auto least = figures.try_emplace("healthyEndpoints", backend.healthy).first;
    least->second = std::min(least->second, backend.healthy);
    figures["endpoints"] = std::max(figures["endpoints"], backend.endpoints);
    figures["circuit"] = std::max(figures["circuit"], backend.circuit);
    figures["connections"] += backend.connections;
    figures["ejections"] += backend.ejections;
    if (agent.covered > 0) figures["retriesPerSecond"] += backend.retries / agent.covered;
  }
}

void add_agent(const AgentHour& agent, Sums& sums) {
  Sum& sum = sums[{agent.agent}];
  sum.program = agent.program;
  sum.figures["connections"] = agent.connections;
  sum.figures["residentBytes"] = agent.resident_bytes;
  if (agent.covered > 0) sum.figures["cpuSecondsPerSecond"] = agent.cpu_seconds / agent.covered;
}

MetricCell cell_of(const Sum& sum, std::string_view column) {
  const auto number = [](double value) { return MetricCell{std::isfinite(value), std::isfinite(value) ? value : 0}; };
  if (column == "program") return {!sum.program.empty(), 0, sum.program};
  if (column == "requestsPerSecond") return number(sum.counts.requests());
  if (column == "clientErrorPart") return number(sum.counts.client_error_part());
  if (column == "errorPart") return number(sum.counts.error_part());
  if (column == "p50Seconds") return number(sum.counts.quantile(0.5));
  if (column == "p99Seconds") return number(sum.counts.quantile(0.99));
  if (column == "receivedBytesPerSecond") return number(sum.counts.request_bytes);
  if (column == "sentBytesPerSecond") return number(sum.counts.response_bytes);
  const auto found = sum.figures.find(column);
  return found == sum.figures.end() ? MetricCell{} : number(found->second);
}

}  // namespace

double HourCounts::requests() const { return std::accumulate(by_class.begin(), by_class.end(), 0.0); }
double HourCounts::client_error_part() const { return requests() > 0 ? client_errors() / requests() : kUnknown; }
double HourCounts::error_part() const { return requests() > 0 ? errors() / requests() : kUnknown; }

double HourCounts::quantile(double part) const {
  std::map<double, double> cumulative;
  double below = 0;
  for (const auto& [bound, count] : buckets) cumulative[bound] = below += count;
  return edgectl::quantile(part, cumulative);
}

void HourCounts::add(const HourCounts& more, double factor) {
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class[i] += more.by_class[i] * factor;
  for (const auto& [bound, count] : more.buckets) buckets[bound] += count * factor;
  request_bytes += more.request_bytes * factor;
  response_bytes += more.response_bytes * factor;
}

Result<AgentHour> read_agent_hour(const std::string& agent, std::string_view page) {
  const auto said = page_of(agent, page, "rows");
  if (!said) return said.error();
  const Json& bounds = list_in(*said, "bounds");
  AgentHour hour{.agent = agent,
                 .covered = number_in(*said, "covered"),
                 .program = text_in(*said, "program"),
                 .connections = number_in(*said, "connections"),
                 .cpu_seconds = number_in(*said, "cpuSeconds"),
                 .resident_bytes = number_in(*said, "residentBytes"),
                 .total = counts_of(member_in(*said, "total"), bounds)};
  for (const Json& row : list_in(*said, "rows")) {
    hour.rows.push_back(
        {text_in(row, "gateway"), text_in(row, "route"), text_in(row, "backend"), counts_of(row, bounds)});
  }
  for (const Json& one : list_in(*said, "backends")) {
    hour.backends.push_back({.name = text_in(one, "name"),
                             .healthy = number_in(one, "healthyEndpoints"),
                             .endpoints = number_in(one, "endpoints"),
                             .connections = number_in(one, "connections"),
                             .retries = number_in(one, "retries"),
                             .ejections = number_in(one, "ejections"),
                             .circuit = circuit_of(text_in(one, "circuit"))});
  }
  return hour;
}

Result<std::vector<HourPoint>> read_agent_line(const std::string& agent, std::string_view page) {
  const auto said = page_of(agent, page, "points");
  if (!said) return said.error();
  const Json& bounds = list_in(*said, "bounds");
  std::vector<HourPoint> points;
  for (const Json& one : list_in(*said, "points")) {
    HourPoint point{.covered = number_in(one, "covered"), .counts = {}, .connections = number_in(one, "connections")};
    if (point.covered > 0) point.counts.add(counts_of(one, bounds), 1 / point.covered);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<HourPoint> sum_of(std::span<const std::vector<HourPoint>> agents) {
  std::vector<HourPoint> sums;
  for (const std::vector<HourPoint>& points : agents) {
    if (sums.size() < points.size()) sums.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      sums[i].covered = std::max(sums[i].covered, points[i].covered);
      sums[i].counts.add(points[i].counts, 1);
      sums[i].connections += points[i].connections;
    }
  }
  return sums;
}

std::vector<MetricRow> hour_rows(const MetricTable& table, std::span<const AgentHour> agents) {
  Sums sums;
  const bool of_backends = table.keys.front() == "backend";
  for (const AgentHour& agent : agents) {
    if (of_backends) add_backends(agent, sums);
    if (table.keys.front() == "instance") add_agent(agent, sums);
    for (const HourRow& row : agent.rows) {
      if (agent.covered <= 0 || (of_backends && row.backend.empty())) continue;
      sums[keys_of(table, agent, row)].counts.add(row.counts, 1 / agent.covered);
    }
  }
  std::vector<MetricRow> rows;
  for (const auto& [keys, sum] : sums) {
    MetricRow& row = rows.emplace_back();
    row.keys = keys;
    for (const MetricColumn& column : table.columns) row.cells.push_back(cell_of(sum, column.name));
  }
  return rows;
}

double quantile(double part, const std::map<double, double>& buckets) {
  if (buckets.empty() || buckets.rbegin()->second <= 0) return kUnknown;
  const double rank = part * buckets.rbegin()->second;
  double lower = 0;
  double below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank && count > below) {
      // Above the last finite bound nothing better is known than that bound.
      if (std::isinf(bound)) return lower;
      return lower + (bound - lower) * (rank - below) / (count - below);
    }
    lower = bound;
    below = count;
  }
  return lower;
}

}  // namespace edge::edgectl
