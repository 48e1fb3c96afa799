// edgectl metrics: shows metrics of agents, backends, virtual addresses and routes, from the agents' own last hour or a
// Prometheus server.
#include <charconv>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/agents/prometheus.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/observe/metric_table.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "edgectl/traffic_source.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

int told_of_metrics(std::string_view command, const Error& error) {
  cli::print_error(command, error.text);
  return error.code == ErrorCode::kInvalidArgument ? cli::kExitFindings : cli::kExitUnreachable;
}

int print_series(const cli::Arguments& arguments, const std::string& table, const std::string& json) {
  return cli::write_text(stdout, wants_data(arguments) ? data_text(arguments, json) : table) ? cli::kExitOk
                                                                                             : cli::kExitFindings;
}

bool is_window(const std::string& text) {
  const auto duration = parse_duration(text);
  return duration && *duration >= std::chrono::seconds(1) && text.find('.') == std::string::npos;
}

/// Rows of a table; `change` may leave some out.
template <typename Change>
int show_table(std::string_view command, const cli::Arguments& arguments, const MetricTable& table, Change change) {
  const std::string window = arguments.one("window");
  if (!is_window(window)) return usage(command, "--window takes a duration of whole seconds or more, such as 5m");
  int exit = cli::kExitOk;
  const auto source = TrafficSource::open(command, arguments, exit);
  if (source == nullptr) return exit;
  auto rows = source->rows(table, window);
  if (!rows) return told_of_metrics(command, rows.error());
  for (const std::string& fault : source->faults()) cli::print_error(command, fault);
  change(*rows);
  if (rows->empty()) {
    cli::print_message("edgectl", source->server() == nullptr ? std::string("no request came in that time")
                                                              : source->name() + " knows nothing of this yet");
  }
  exit = print_series(arguments, rows->empty() ? std::string() : metric_text(table, *rows), metric_json(table, *rows));
  return exit == cli::kExitOk && !source->faults().empty() ? cli::kExitUnreachable : exit;
}

int show_table(std::string_view command, const cli::Arguments& arguments, const MetricTable& table) {
  return show_table(command, arguments, table, [](std::vector<MetricRow>&) {});
}

/// The column that `--by` names, by its name in the table.
std::size_t column_by(const MetricTable& table, const std::string& by) {
  static const std::map<std::string, std::string_view> kNames = {
      {"requests", "requestsPerSecond"}, {"errors", "errorPart"}, {"latency", "p99Seconds"}};
  const std::string_view name = kNames.at(by);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  return 0;
}

int show_top(std::string_view command, const cli::Arguments& arguments, const MetricTable& table) {
  std::size_t limit = 0;
  const std::string text = arguments.one("limit");
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (fault != std::errc() || end != text.data() + text.size() || limit == 0) {
    return usage(command, "--limit takes a number, at least 1");
  }
  return show_table(command, arguments, table, [&](std::vector<MetricRow>& rows) {
    keep_top(rows, column_by(table, arguments.one("by")), limit);
  });
}

/// `{a="b"}` of the labels that are no column of their own.
std::string series_name(const Series& series) {
  std::string name(series.label("__name__"));
  std::string labels;
  for (const auto& [key, value] : series.labels) {
    if (key != "__name__") labels += (labels.empty() ? "" : ", ") + key + "=\"" + value + "\"";
  }
  return labels.empty() ? (name.empty() ? "{}" : name) : name + "{" + labels + "}";
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

/// The gateways of each address, from the cluster's objects.
struct Addresses {
  struct One {
    std::string name;  ///< `namespace/name`
    std::string address;
    std::set<std::string> gateways;
  };
  std::vector<One> all;
};

std::string full_name(const nlohmann::json& object) {
  const nlohmann::json& metadata = member_in(object, "metadata");
  return text_in(metadata, "namespace") + "/" + text_in(metadata, "name");
}

/// Every gateway may name an address of this namespace without saying so.
constexpr std::string_view kSharedNamespace = "edge-system";

/// `namespace/name` of the address that a gateway asks for; empty: none. `all`: those that there are.
std::string vip_of(const nlohmann::json& gateway, const std::set<std::string>& all) {
  const std::string& name = text_in(member_in(gateway, "spec"), "vipRef");
  if (name.empty() || name.find('/') != std::string::npos) return name;
  std::string own = text_in(member_in(gateway, "metadata"), "namespace") + "/" + name;
  std::string shared = std::string(kSharedNamespace) + "/" + name;
  return !all.contains(own) && all.contains(shared) ? shared : own;
}

kube::Failure read_addresses(Cluster& cluster, Addresses& addresses) {
  const auto list = [&](const char* word, std::vector<nlohmann::json>& objects) -> kube::Failure {
    const auto found = cluster.find(word);
    if (!found.failure.none() || !found.type) return found.failure;
    const auto reply = cluster.api().list_all(found.type->resource, {});
    if (!reply.ok()) return reply.failure;
    for (const kube::Object& object : reply.list.items) objects.push_back(parse_json(object.text));
    return {};
  };
  std::vector<nlohmann::json> vips;
  std::vector<nlohmann::json> gateways;
  if (auto failure = list("proxyvips", vips); !failure.none()) return failure;
  if (auto failure = list("proxygateways", gateways); !failure.none()) return failure;
  std::set<std::string> names;
  for (const nlohmann::json& vip : vips) names.insert(full_name(vip));
  for (const nlohmann::json& vip : vips) {
    Addresses::One one{full_name(vip), cell_text(member_in(member_in(vip, "spec"), "address")), {}};
    for (const nlohmann::json& gateway : gateways) {
      if (vip_of(gateway, names) == one.name) one.gateways.insert(full_name(gateway));
    }
    addresses.all.push_back(std::move(one));
  }
  return {};
}

int metrics_agent(const cli::Arguments& arguments) {
  return show_table("edgectl metrics agent", arguments, agent_table());
}

int metrics_backends(const cli::Arguments& arguments) {
  return show_table("edgectl metrics backends", arguments, backend_table());
}

int metrics_top_backends(const cli::Arguments& arguments) {
  return show_top("edgectl metrics top-backends", arguments, backend_table());
}

int metrics_top_routes(const cli::Arguments& arguments) {
  return show_top("edgectl metrics top-routes", arguments, route_table());
}

/// Series that agents count now, by a name and labels alone: what needs no Prometheus server.
Result<std::vector<Series>> ask_agents(const std::string& query, AgentPages& pages) {
  const auto selector = read_selector(query);
  if (!selector) {
    return Error{ErrorCode::kInvalidArgument,
                 selector.error().text +
                     "; the agents themselves tell series by a name and labels, such as "
                     "edge_requests_total{code=\"5xx\"}: for more than that give --metrics-url"};
  }
  const auto said = pages.ask({.target = "/debug/stats"});
  if (!said) return said.error();
  std::vector<Series> all;
  for (const AgentPages::Said& one : *said) {
    const auto body = AgentPages::body_of(one);
    if (!body) return body.error();
    for (Series& series : read_exposition(*body, {selector->name})) {
      if (!selector->takes(series)) continue;
      series.labels["instance"] = one.agent;
      all.push_back(std::move(series));
    }
  }
  return all;
}

int metrics_query(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl metrics query";
  const std::string query = arguments.one("QUERY");
  std::unique_ptr<AgentPages> pages;
  if (arguments.one("metrics-url").empty()) {
    int exit = cli::kExitOk;
    pages = AgentPages::open(kCommand, arguments, exit);
    if (pages == nullptr) return exit;
  }
  const auto series = pages ? ask_agents(query, *pages) : Prometheus(arguments.one("metrics-url")).query(query);
  if (!series) return told_of_metrics(kCommand, series.error());
  TextTable table({"SERIES", "VALUE"});
  OrderedJson list = OrderedJson::array();
  for (const Series& one : *series) {
    table.add({series_name(one), one.points.empty() ? "-" : number_text(one.value())});
    OrderedJson object = {{"labels", one.labels}, {"values", OrderedJson::array()}};
    for (const Point& point : one.points) object["values"].push_back({point.time, number_text(point.value)});
    list.push_back(std::move(object));
  }
  if (series->empty()) cli::print_message("edgectl", "no series");
  return print_series(arguments, table.empty() ? std::string() : table.take(/*with_heads=*/true), indented_json(list));
}

int metrics_vips(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl metrics vips";
  const std::string window = arguments.one("window");
  if (!is_window(window)) return usage(kCommand, "--window takes a duration of whole seconds or more, such as 5m");
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  Addresses addresses;
  if (const auto failure = read_addresses(*cluster, addresses); !failure.none()) return tell(kCommand, failure);
  const auto source = TrafficSource::open(kCommand, arguments, exit);
  if (source == nullptr) return exit;
  const MetricTable& table = gateway_table();
  std::vector<std::string> heads = {"VIP", "ADDRESS", "GATEWAYS"};
  for (const MetricColumn& column : table.columns) heads.emplace_back(column.head);
  TextTable text(std::move(heads));
  const auto rows = source->rows(table, window);
  if (!rows) return told_of_metrics(kCommand, rows.error());
  for (const std::string& fault : source->faults()) cli::print_error(kCommand, fault);
  OrderedJson list = OrderedJson::array();
  for (const Addresses::One& one : addresses.all) {
    bool any = false;
    for (const MetricRow& row : *rows) {
      if (!one.gateways.contains(row.keys.front())) continue;
      any = true;
      std::vector<std::string> cells = {one.name, one.address, row.keys.front()};
      for (std::size_t i = 0; i < row.cells.size(); ++i) cells.push_back(cell_of(table.columns[i], row.cells[i]));
      text.add(std::move(cells));
      OrderedJson object = OrderedJson::parse(metric_json(table, {row}), nullptr, /*allow_exceptions=*/false).front();
      object["vip"] = one.name;
      object["address"] = one.address;
      list.push_back(std::move(object));
    }
    if (any) continue;
    std::vector<std::string> cells = {one.name, one.address, one.gateways.empty() ? "<none>" : *one.gateways.begin()};
    cells.resize(cells.size() + table.columns.size(), "-");
    text.add(std::move(cells));
    list.push_back({{"vip", one.name}, {"address", one.address}});
  }
  if (addresses.all.empty()) cli::print_message("edgectl", "there is no ProxyVIP");
  return print_series(arguments, text.empty() ? std::string() : text.take(/*with_heads=*/true), list.dump(2) + "\n");
}

}  // namespace

namespace {

std::vector<cli::Flag> top_flags() {
  return joined(traffic_source_flags(),
                {window_flag(),
                 {.name = "limit", .value = "COUNT", .help = "Maximum number of rows", .fallback = "10"},
                 {.name = "by",
                  .value = "WHAT",
                  .help = "Sort by",
                  .fallback = "requests",
                  .choices = {"requests", "errors", "latency"}},
                 form_flag({"table", "json", "yaml"})});
}

}  // namespace

cli::Command metrics_agent_command() {
  return {.name = "metrics agent",
          .group = kTrafficGroup,
          .summary = "Show the traffic, connections and resources of each agent",
          .flags = joined(traffic_source_flags(), {window_flag(), form_flag({"table", "json", "yaml"})}),
          .examples = {"edgectl metrics agent"},
          .run = metrics_agent,
          .global = true};
}

cli::Command metrics_backends_command() {
  return {.name = "metrics backends",
          .group = kTrafficGroup,
          .summary = "Show the traffic, health and circuit of each backend",
          .flags = joined(traffic_source_flags(), {window_flag(), form_flag({"table", "json", "yaml"})}),
          .examples = {"edgectl metrics backends"},
          .run = metrics_backends,
          .global = true};
}

cli::Command metrics_vips_command() {
  return {.name = "metrics vips",
          .group = kTrafficGroup,
          .summary = "Show the traffic of each virtual address, by the gateways served there",
          .flags = joined(traffic_source_flags(), {window_flag(), form_flag({"table", "json", "yaml"})}),
          .examples = {"edgectl metrics vips"},
          .run = metrics_vips,
          .global = true};
}

cli::Command metrics_query_command() {
  return {.name = "metrics query",
          .group = kTrafficGroup,
          .summary = "Show single series: of the agents by name and labels, of a Prometheus server by any PromQL",
          .flags = joined(traffic_source_flags(), {form_flag({"table", "json", "yaml"})}),
          .positional = cli::Positional{.name = "QUERY", .help = "A series, or PromQL"},
          .examples = {"edgectl metrics query 'edge_requests_total{code=\"5xx\"}'",
                       "edgectl metrics query --metrics-url http://prometheus:9090 'sum by (route) "
                       "(rate(edge_requests_total[5m]))'"},
          .run = metrics_query,
          .global = true};
}

cli::Command metrics_top_backends_command() {
  return {.name = "metrics top-backends",
          .group = kTrafficGroup,
          .summary = "Show the backends with the most requests, errors or time",
          .flags = top_flags(),
          .examples = {"edgectl metrics top-backends --by latency"},
          .run = metrics_top_backends,
          .global = true};
}

cli::Command metrics_top_routes_command() {
  return {.name = "metrics top-routes",
          .group = kTrafficGroup,
          .summary = "Show the routes with the most requests, errors or time",
          .flags = top_flags(),
          .examples = {"edgectl metrics top-routes --by errors --limit 5"},
          .run = metrics_top_routes,
          .global = true};
}

}  // namespace edge::edgectl
