// edgectl top: shows the current traffic by route, from the agents themselves; no Prometheus is needed.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/observe/agent_hour.h"
#include "edgectl/observe/live_screen.h"
#include "edgectl/observe/metric_table.h"
#include "edgectl/observe/sparkline.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "edgectl/traffic_source.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kTop = "edgectl top";
/// What the line of bars shows.
constexpr const char* kLine = "10m&points=60";
constexpr auto kLongest = std::chrono::hours(1);

/// Most requests first; those without any are left out.
std::vector<MetricRow> busiest(const AgentTraffic::Hours& hours) {
  std::vector<MetricRow> rows = hour_rows(route_table(), hours.agents);
  keep_top(rows, 0, rows.size());
  return rows;
}

double rate_of(const AgentTraffic::Hours& hours) {
  double rate = 0;
  for (const AgentHour& agent : hours.agents) {
    if (agent.covered > 0) rate += agent.total.requests() / agent.covered;
  }
  return rate;
}

/// Contents of the page.
class TopPage {
 public:
  TopPage(AgentPages& pages, std::string window) : traffic_(pages), window_(std::move(window)) {}

  Drawing refresh() {
    const AgentTraffic::Hours hours = traffic_.hours(window_);
    std::vector<double> rates;
    for (const HourPoint& point : traffic_.line(kLine).points) {
      rates.push_back(point.covered > 0 ? point.counts.requests() : std::numeric_limits<double>::quiet_NaN());
    }
    std::vector<std::string> below = lines_of(metric_text(route_table(), busiest(hours)));
    for (const std::string& fault : hours.faults) below.push_back("! " + shown(fault));
    const std::string head =
        std::to_string(hours.agents.size()) + " agents   " + short_number(rate_of(hours)) + " requests/s   ";
    return [head, below = std::move(below), rates = std::move(rates)](TerminalSize size) {
      const std::size_t room = size.columns > head.size() + 10 ? size.columns - head.size() - 10 : 0;
      std::vector<std::string> lines = {head + sparkline(rates, std::min<std::size_t>(room, 60)) + "   q quits", ""};
      lines.insert(lines.end(), below.begin(), below.end());
      return lines;
    };
  }

 private:
  AgentTraffic traffic_;
  const std::string window_;
};

int once(const cli::Arguments& arguments, AgentPages& pages, const std::string& window) {
  const AgentTraffic::Hours hours = AgentTraffic(pages).hours(window);
  for (const std::string& fault : hours.faults) cli::print_error(kTop, fault);
  if (hours.agents.empty() && !hours.faults.empty()) return cli::kExitUnreachable;
  const std::vector<MetricRow> rows = busiest(hours);
  if (wants_data(arguments)) {
    cli::write_text(stdout, data_text(arguments, metric_json(route_table(), rows)));
  } else if (rows.empty()) {
    cli::print_message("edgectl", "no request came");
  } else {
    cli::write_text(stdout, metric_text(route_table(), rows));
  }
  return hours.faults.empty() ? cli::kExitOk : cli::kExitUnreachable;
}

int top(const cli::Arguments& arguments) {
  const auto interval = parse_duration(arguments.one("interval"));
  if (!interval || *interval < std::chrono::milliseconds(100) || *interval > kLongest) {
    return usage(kTop, "--interval takes a duration from 100ms to 1h");
  }
  // Agents tell of no less than a second.
  const std::string window =
      std::to_string(std::chrono::ceil<std::chrono::seconds>(*interval) / std::chrono::seconds(1)) + "s";
  const bool live = is_screen() && !arguments.has("once") && arguments.one("output") == "table";
  if (live) keep_signals_for_screen();
  int exit = cli::kExitOk;
  const auto pages = AgentPages::open(kTop, arguments, exit);
  if (pages == nullptr) return exit;
  if (!live) return once(arguments, *pages, window);
  TopPage page(*pages, window);
  return show_live([&] { return page.refresh(); }, std::chrono::ceil<std::chrono::milliseconds>(*interval));
}

}  // namespace

cli::Command top_command() {
  return {.name = "top",
          .group = kTrafficGroup,
          .summary = "Show the current traffic by route, as the agents count it",
          .details =
              "A live page on a terminal; else the requests of the last interval. The agents count in steps of five "
              "seconds: rates cover the interval and up to five seconds before it.",
          .flags = joined(agent_page_flags(), {{.name = "interval",
                                                .value = "DURATION",
                                                .help = "Refresh interval, and the time over which rates are computed",
                                                .fallback = "2s"},
                                               {.name = "once", .help = "Print the last interval, and exit"},
                                               form_flag({"table", "json", "yaml"})}),
          .examples = {"edgectl top", "edgectl top --once -o json --interval 5s"},
          .run = top,
          .global = true};
}

}  // namespace edge::edgectl
