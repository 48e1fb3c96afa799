// Tables whose cells are results of queries: one query per column, joined by the labels of the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edgectl/observe/series.h"

namespace edge::edgectl {

/// Queries a Prometheus server.
using AskPrometheus = std::function<Result<std::vector<Series>>(const std::string& query)>;

struct MetricColumn {
  enum class Shows : std::uint8_t { kNumber, kPart, kTime, kBytes, kText, kCircuit };
  std::string_view head;  ///< of the table
  std::string_view name;  ///< in JSON
  Shows shows = Shows::kNumber;
  std::string query;            ///< `WINDOW` is replaced by the window of rates
  std::string_view label = {};  ///< for kText: the label with the text
};

struct MetricTable {
  std::vector<std::string_view> keys;  ///< labels that identify a row, shown in the first columns
  std::vector<MetricColumn> columns{};
};

struct MetricCell {
  bool known = false;
  double value = 0;
  std::string text{};  ///< for kText
};

struct MetricRow {
  std::vector<std::string> keys;
  std::vector<MetricCell> cells;  ///< one per column
};

/// Returns the rows of all queries, ascending by key.
Result<std::vector<MetricRow>> metric_rows(const MetricTable& table, const std::string& window,
                                           const AskPrometheus& ask);
/// Keeps the `most` rows with the largest cells in a column, largest first.
void keep_top(std::vector<MetricRow>& rows, std::size_t column, std::size_t most);

/// Formats with a header. Each line ends with a newline.
std::string metric_text(const MetricTable& table, const std::vector<MetricRow>& rows);
/// Returns a list of objects; unknown values are null.
std::string metric_json(const MetricTable& table, const std::vector<MetricRow>& rows);
std::string cell_of(const MetricColumn& column, const MetricCell& cell);

/// The tables of `metrics agent`, `backends`, `top-routes` and the dashboard, of families in metrics/families.def.
const MetricTable& agent_table();
const MetricTable& backend_table();
const MetricTable& route_table();
const MetricTable& gateway_table();

}  // namespace edge::edgectl
