#include "edgectl/observe/metric_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/observe/sparkline.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Shows = MetricColumn::Shows;
using Keys = std::vector<std::string>;

constexpr std::string_view kWindow = "WINDOW";
constexpr std::size_t kShortText = 12;

std::string filled(std::string query, const std::string& window) {
  for (std::size_t at = query.find(kWindow); at != std::string::npos; at = query.find(kWindow, at + window.size())) {
    query.replace(at, kWindow.size(), window);
  }
  return query;
}

std::string rate_of(const std::string& by, const std::string& selector) {
  return "sum by (" + by + ") (rate(" + selector + "[WINDOW]))";
}

/// Requests whose code is one of these, of all; none of them is 0, no request at all is no answer.
std::string part_of(const std::string& by, const std::string& codes) {
  const std::string all = rate_of(by, "edge_requests_total");
  return "(" + rate_of(by, "edge_requests_total{code=~\"" + codes + "\"}") + " or 0 * " + all + ") / (" + all + " > 0)";
}

std::string quantile_of(const char* part, const std::string& by, const std::string& histogram) {
  return "histogram_quantile(" + std::string(part) + ", " + rate_of(by + ", le", histogram + "_bucket") + ")";
}

/// Of the processes that serve traffic, not of whatever else the server scrapes.
std::string of_agents(const std::string& query) { return query + " and on (instance) edge_connections_active"; }

/// What requests say, by those labels.
std::vector<MetricColumn> request_columns(const std::string& by, const std::string& histogram) {
  return {{"REQUESTS/S", "requestsPerSecond", Shows::kNumber, rate_of(by, "edge_requests_total")},
          {"4XX", "clientErrorPart", Shows::kPart, part_of(by, "4xx")},
          // Or not answered at all.
          {"5XX", "errorPart", Shows::kPart, part_of(by, "5xx|none")},
          {"P50", "p50Seconds", Shows::kTime, quantile_of("0.5", by, histogram)},
          {"P99", "p99Seconds", Shows::kTime, quantile_of("0.99", by, histogram)}};
}

MetricTable with(MetricTable table, std::vector<MetricColumn> more) {
  for (MetricColumn& column : more) table.columns.push_back(std::move(column));
  return table;
}

MetricCell cell_of_series(const MetricColumn& column, const Series& series) {
  if (column.shows == Shows::kText) return {true, 0, std::string(series.label(column.label))};
  return {std::isfinite(series.value()) && !series.points.empty(), series.value(), {}};
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace

Result<std::vector<MetricRow>> metric_rows(const MetricTable& table, const std::string& window,
                                           const AskPrometheus& ask) {
  std::map<Keys, MetricRow> rows;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto answer = ask(filled(table.columns[i].query, window));
    if (!answer) return answer.error();
    for (const Series& series : *answer) {
      Keys keys;
      for (const std::string_view key : table.keys) keys.emplace_back(series.label(key));
      MetricRow& row = rows[keys];
      row.keys = std::move(keys);
      row.cells.resize(table.columns.size());
      row.cells[i] = cell_of_series(table.columns[i], series);
    }
  }
  std::vector<MetricRow> all;
  for (auto& [keys, row] : rows) all.push_back(std::move(row));
  return all;
}

void keep_top(std::vector<MetricRow>& rows, std::size_t column, std::size_t most) {
  const auto value = [&](const MetricRow& row) { return row.cells[column].known ? row.cells[column].value : -1; };
  std::ranges::stable_sort(rows, [&](const MetricRow& a, const MetricRow& b) { return value(a) > value(b); });
  if (rows.size() > most) rows.resize(most);
}

std::string cell_of(const MetricColumn& column, const MetricCell& cell) {
  if (!cell.known) return "-";
  switch (column.shows) {
    case Shows::kNumber:
      return short_number(cell.value);
    case Shows::kPart:
      return percent(cell.value);
    case Shows::kTime:
      return short_time(cell.value);
    case Shows::kBytes:
      return short_bytes(cell.value);
    case Shows::kText:
      return cell.text.substr(0, kShortText);
    case Shows::kCircuit:
      return cell.value >= 2 ? "Open" : cell.value >= 1 ? "HalfOpen" : "Closed";
  }
  return "-";
}

std::string metric_text(const MetricTable& table, const std::vector<MetricRow>& rows) {
  std::vector<std::string> heads;
  for (const std::string_view key : table.keys) heads.push_back(key == "instance" ? "AGENT" : upper(key));
  for (const MetricColumn& column : table.columns) heads.emplace_back(column.head);
  TextTable text(std::move(heads));
  for (const MetricRow& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : row.keys) cells.push_back(key.empty() ? "<none>" : key);
    for (std::size_t i = 0; i < row.cells.size(); ++i) cells.push_back(cell_of(table.columns[i], row.cells[i]));
    text.add(std::move(cells));
  }
  return text.take(/*with_heads=*/true);
}

std::string metric_json(const MetricTable& table, const std::vector<MetricRow>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const MetricRow& row : rows) {
    OrderedJson object;
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      object[table.keys[i] == "instance" ? "agent" : std::string(table.keys[i])] = row.keys[i];
    }
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const MetricColumn& column = table.columns[i];
      OrderedJson& value = object[std::string(column.name)];
      if (!row.cells[i].known) continue;
      if (column.shows == Shows::kText) {
        value = row.cells[i].text;
      } else if (column.shows == Shows::kCircuit) {
        value = cell_of(column, row.cells[i]);
      } else {
        value = row.cells[i].value;
      }
    }
    list.push_back(std::move(object));
  }
  return indented_json(list);
}

const MetricTable& agent_table() {
  static const MetricTable kTable =
      with({.keys = {"instance"},
            .columns = {{"PROGRAM", "program", Shows::kText, "edge_program_info", "hash"},
                        {"CONNECTIONS", "connections", Shows::kNumber, "sum by (instance) (edge_connections_active)"},
                        {"CPU", "cpuSecondsPerSecond", Shows::kNumber,
                         of_agents(rate_of("instance", "process_cpu_seconds_total"))},
                        {"MEMORY", "residentBytes", Shows::kBytes,
                         of_agents("sum by (instance) (process_resident_memory_bytes)")}}},
           request_columns("instance", "edge_request_duration_seconds"));
  return kTable;
}

const MetricTable& backend_table() {
  static const MetricTable kTable =
      with({.keys = {"backend"}, .columns = request_columns("backend", "edge_backend_request_duration_seconds")},
           {{"HEALTHY", "healthyEndpoints", Shows::kNumber,
             "sum by (backend) (min by (backend, endpoint) (edge_endpoint_healthy))"},
            {"ENDPOINTS", "endpoints", Shows::kNumber,
             "count by (backend) (count by (backend, endpoint) (edge_endpoint_healthy))"},
            {"CIRCUIT", "circuit", Shows::kCircuit, "max by (backend) (edge_circuit_breaker_state)"},
            {"CONNECTIONS", "connections", Shows::kNumber, "sum by (backend) (edge_backend_connections)"},
            {"RETRIES/S", "retriesPerSecond", Shows::kNumber, rate_of("backend", "edge_backend_retries_total")},
            {"EJECTED", "ejections", Shows::kNumber, "sum by (backend) (increase(edge_ejections_total[WINDOW]))"}});
  return kTable;
}

const MetricTable& route_table() {
  static const MetricTable kTable = with(
      {.keys = {"gateway", "route"}, .columns = request_columns("gateway, route", "edge_request_duration_seconds")},
      {{"RECEIVED/S", "receivedBytesPerSecond", Shows::kBytes, rate_of("gateway, route", "edge_request_bytes_total")},
       {"SENT/S", "sentBytesPerSecond", Shows::kBytes, rate_of("gateway, route", "edge_response_bytes_total")}});
  return kTable;
}

const MetricTable& gateway_table() {
  static const MetricTable kTable =
      with({.keys = {"gateway"}, .columns = request_columns("gateway", "edge_request_duration_seconds")},
           {{"RECEIVED/S", "receivedBytesPerSecond", Shows::kBytes, rate_of("gateway", "edge_request_bytes_total")},
            {"SENT/S", "sentBytesPerSecond", Shows::kBytes, rate_of("gateway", "edge_response_bytes_total")}});
  return kTable;
}

}  // namespace edge::edgectl
