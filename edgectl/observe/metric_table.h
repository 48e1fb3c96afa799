// Tables whose cells are answers to queries: one query a column, joined by the labels that name the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edgectl/observe/series.h"

namespace edge::edgectl {

/// Asks a Prometheus server.
using AskPrometheus = std::function<Result<std::vector<Series>>(const std::string& query)>;

struct MetricColumn {
  enum class Shows : std::uint8_t { kNumber, kPart, kTime, kBytes, kText, kCircuit };
  std::string_view head;  ///< of the table
  std::string_view name;  ///< in JSON
  Shows shows = Shows::kNumber;
  std::string query;            ///< `WINDOW` stands for the time over which rates are taken
  std::string_view label = {};  ///< of kText: which label is the text
};

struct MetricTable {
  std::vector<std::string_view> keys;  ///< labels that name a row, which are its first columns
  std::vector<MetricColumn> columns{};
};

struct MetricCell {
  bool known = false;
  double value = 0;
  std::string text{};  ///< of kText
};

struct MetricRow {
  std::vector<std::string> keys;
  std::vector<MetricCell> cells;  ///< one a column
};

/// Rows of all queries, ascending by key.
Result<std::vector<MetricRow>> metric_rows(const MetricTable& table, const std::string& window,
                                           const AskPrometheus& ask);
/// The `most` rows with the largest cells in that column, largest first.
void keep_top(std::vector<MetricRow>& rows, std::size_t column, std::size_t most);

/// With a line of heads. Each line ends.
std::string metric_text(const MetricTable& table, const std::vector<MetricRow>& rows);
/// A list of objects; what is not known is null.
std::string metric_json(const MetricTable& table, const std::vector<MetricRow>& rows);
std::string cell_of(const MetricColumn& column, const MetricCell& cell);

/// What `metrics agent`, `backends`, `top-routes` and the dashboard show, of families in metrics/families.def.
const MetricTable& agent_table();
const MetricTable& backend_table();
const MetricTable& route_table();
const MetricTable& gateway_table();

}  // namespace edge::edgectl
