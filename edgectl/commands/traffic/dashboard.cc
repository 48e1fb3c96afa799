// edgectl metrics dashboard: a page of time series of routes, backends and agents, from the agents' own last hour or a
// Prometheus server.
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/agents/prometheus.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/observe/live_screen.h"
#include "edgectl/observe/metric_table.h"
#include "edgectl/observe/sparkline.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "edgectl/traffic_source.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kDashboard = "edgectl metrics dashboard";
/// Points that are asked for; a wide terminal shows all of them.
constexpr std::size_t kPoints = 120;
constexpr std::size_t kTitleWidth = 18;
constexpr std::size_t kValueWidth = 10;
/// One server that hangs holds the page up no longer.
constexpr auto kMostWait = std::chrono::seconds(5);
constexpr TerminalSize kPaper{.columns = 100, .rows = 1000};

struct Figure {
  std::string_view title;
  std::string (*text)(double);
  std::string_view query;             ///< of a Prometheus server; one series
  double (*value)(const HourPoint&);  ///< of agents
};

constexpr std::array kFigures = {
    Figure{"requests/s", short_number, "sum(rate(edge_requests_total[WINDOW]))",
           [](const HourPoint& point) { return point.counts.requests(); }},
    Figure{
        "4xx", percent,
        R"((sum(rate(edge_requests_total{code="4xx"}[WINDOW])) or vector(0)) / sum(rate(edge_requests_total[WINDOW])))",
        [](const HourPoint& point) { return point.counts.client_error_part(); }},
    Figure{
        "5xx", percent,
        R"((sum(rate(edge_requests_total{code=~"5xx|none"}[WINDOW])) or vector(0)) / sum(rate(edge_requests_total[WINDOW])))",
        [](const HourPoint& point) { return point.counts.error_part(); }},
    Figure{"p50", short_time,
           "histogram_quantile(0.5, sum by (le) (rate(edge_request_duration_seconds_bucket[WINDOW])))",
           [](const HourPoint& point) { return point.counts.quantile(0.5); }},
    Figure{"p99", short_time,
           "histogram_quantile(0.99, sum by (le) (rate(edge_request_duration_seconds_bucket[WINDOW])))",
           [](const HourPoint& point) { return point.counts.quantile(0.99); }},
    Figure{"connections", short_number, "sum(edge_connections_active)",
           [](const HourPoint& point) { return point.connections; }},
    Figure{"sent/s", short_bytes, "sum(rate(edge_response_bytes_total[WINDOW]))",
           [](const HourPoint& point) { return point.counts.response_bytes; }},
};

struct Panel {
  const Figure* figure = nullptr;
  std::vector<double> values;  ///< kPoints, not numbers where nothing is known
};

struct Content {
  std::string head;
  std::vector<Panel> panels;
  std::vector<std::vector<std::string>> tables;  ///< lines of each
  std::string fault;                             ///< why there is nothing else
};

std::string filled(std::string query, const std::string& window) {
  constexpr std::string_view kWindow = "WINDOW";
  for (std::size_t at = query.find(kWindow); at != std::string::npos; at = query.find(kWindow)) {
    query.replace(at, kWindow.size(), window);
  }
  return query;
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &parts)};
}

/// Points by their place in time: what a server had no answer for stays empty.
std::vector<double> spread(const std::vector<Series>& series, double from, double step) {
  std::vector<double> values(kPoints, std::numeric_limits<double>::quiet_NaN());
  if (series.empty()) return values;
  for (const Point& point : series.front().points) {
    const double index = std::round((point.time - from) / step);
    if (index >= 0 && index < static_cast<double>(kPoints)) values[static_cast<std::size_t>(index)] = point.value;
  }
  return values;
}

class Dashboard {
 public:
  /// `source` must outlive it.
  Dashboard(TrafficSource& source, std::string window, double seconds)
      : source_(source), window_(std::move(window)), seconds_(seconds) {}

  Content content() const {
    Content content;
    content.head = "edge   " + source_.name() + "   rates over " + window_ + "   " + clock_text();
    content.fault = source_.server() != nullptr ? add_of_server(*source_.server(), content) : add_of_agents(content);
    if (!content.fault.empty()) return content;
    for (const MetricTable* table : {&route_table(), &backend_table(), &agent_table()}) {
      auto rows = source_.rows(*table, window_);
      if (!rows) {
        content.fault = rows.error().text;
        return content;
      }
      if (table != &agent_table()) keep_top(*rows, 0, kMostRows);
      if (!rows->empty()) content.tables.push_back(lines_of(metric_text(*table, *rows)));
    }
    return content;
  }

 private:
  static constexpr std::size_t kMostRows = 50;

  /// \returns why there is nothing; empty: there is.
  std::string add_of_server(const Prometheus& server, Content& content) const {
    const double step = seconds_ / static_cast<double>(kPoints - 1);
    for (const Figure& figure : kFigures) {
      const double from =
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - seconds_;
      const auto series = server.range(filled(std::string(figure.query), window_), seconds_, step);
      if (!series) return series.error().text;
      content.panels.push_back({&figure, spread(*series, from, step)});
    }
    return {};
  }

  std::string add_of_agents(Content& content) const {
    const AgentTraffic::Line line = source_.agents()->line(std::to_string(static_cast<std::uint64_t>(seconds_)) +
                                                           "s&points=" + std::to_string(kPoints));
    if (line.points.empty() && !line.faults.empty()) return line.faults.front();
    for (const Figure& figure : kFigures) {
      std::vector<double> values;
      for (const HourPoint& point : line.points) {
        values.push_back(point.covered > 0 ? figure.value(point) : std::numeric_limits<double>::quiet_NaN());
      }
      values.insert(values.begin(), kPoints - std::min(values.size(), kPoints),
                    std::numeric_limits<double>::quiet_NaN());
      content.panels.push_back({&figure, std::move(values)});
    }
    return {};
  }

  TrafficSource& source_;
  std::string window_;
  double seconds_;
};

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = width_of(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

std::string panel_line(const Panel& panel, std::size_t columns) {
  const std::string value = padded(panel.figure->text(panel.values.back()), kValueWidth);
  const std::size_t before = kTitleWidth + kValueWidth;
  const std::size_t room = columns > before ? std::min(columns - before, kPoints) : 0;
  return padded(std::string(panel.figure->title), kTitleWidth) + value + sparkline(panel.values, room);
}

/// The tables share the rows that are left, each with its heads.
std::vector<std::string> draw(const Content& content, TerminalSize size, bool live) {
  std::vector<std::string> lines = {content.head + (live ? "   q quits" : ""), ""};
  if (!content.fault.empty()) {
    lines.push_back(shown(content.fault));
    return lines;
  }
  for (const Panel& panel : content.panels) lines.push_back(panel_line(panel, size.columns));
  std::size_t tables = content.tables.size();
  for (const auto& table : content.tables) {
    const std::size_t left = size.rows > lines.size() ? size.rows - lines.size() : 0;
    const std::size_t share = left / std::max<std::size_t>(tables--, 1);
    if (share < 3) break;
    lines.emplace_back();
    lines.insert(lines.end(), table.begin(),
                 table.begin() + static_cast<std::ptrdiff_t>(std::min(table.size(), share - 1)));
  }
  return lines;
}

int metrics_dashboard(const cli::Arguments& arguments) {
  const auto interval = parse_duration(arguments.one("interval"));
  const auto range = parse_duration(arguments.one("range"));
  const auto window = parse_duration(arguments.one("window"));
  if (!interval || *interval < std::chrono::milliseconds(200))
    return usage(kDashboard, "--interval takes 200ms or more");
  if (!range || *range < std::chrono::minutes(1)) return usage(kDashboard, "--range takes 1m or more");
  if (!window || *window < std::chrono::seconds(1)) return usage(kDashboard, "--window takes 1s or more");
  const bool live = is_screen() && !arguments.has("once");
  if (live) keep_signals_for_screen();
  int exit = cli::kExitOk;
  const auto source = TrafficSource::open(kDashboard, arguments, exit, kMostWait);
  if (source == nullptr) return exit;
  const bool too_long = *range > std::chrono::hours(1) || *window > std::chrono::hours(1);
  if (source->agents() != nullptr && too_long) {
    return usage(kDashboard, "the agents keep an hour: a longer --range or --window needs --metrics-url");
  }
  const Dashboard dashboard(*source, arguments.one("window"), std::chrono::duration<double>(*range).count());
  if (!live) {
    const Content content = dashboard.content();
    if (!content.fault.empty()) {
      cli::print_error(kDashboard, content.fault);
      return cli::kExitUnreachable;
    }
    std::string text;
    for (const std::string& line : draw(content, kPaper, live)) text += line + "\n";
    return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings;
  }
  const auto refresh = [&]() -> Drawing {
    return [content = dashboard.content()](TerminalSize size) { return draw(content, size, /*live=*/true); };
  };
  return show_live(refresh, std::chrono::ceil<std::chrono::milliseconds>(*interval));
}

}  // namespace

cli::Command metrics_dashboard_command() {
  return {
      .name = "metrics dashboard",
      .group = kTrafficGroup,
      .summary = "Show traffic, routes, backends and agents on a live page",
      .details = "`q` quits, the space bar refreshes. Without a terminal, or with --once, the page is printed once.",
      .flags = joined(traffic_source_flags(),
                      {window_flag(),
                       {.name = "interval", .value = "DURATION", .help = "Refresh interval", .fallback = "5s"},
                       {.name = "range", .value = "DURATION", .help = "Time span of the graphs", .fallback = "30m"},
                       {.name = "once", .help = "Print the page and exit"}}),
      .examples = {"edgectl metrics dashboard", "edgectl metrics dashboard --metrics-url http://prometheus:9090"},
      .run = metrics_dashboard,
      .global = true};
}

}  // namespace edge::edgectl
