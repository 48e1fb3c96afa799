// edgectl top: the traffic of this moment by route, from the agents themselves; no Prometheus is needed.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/observe/live_screen.h"
#include "edgectl/observe/sparkline.h"
#include "edgectl/observe/traffic.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kTop = "edgectl top";
/// The figures of /metrics, on the port of the debug pages.
constexpr const char* kPage = "/debug/stats";

struct Look {
  Clock::time_point at;
  std::map<std::string, TrafficCounts> agents;
  std::vector<std::string> faults;
};

Look look_at(AgentPages& pages) {
  Look look{Clock::now(), {}, {}};
  const auto said = pages.ask({.target = kPage});
  if (!said) {
    look.faults.push_back(said.error().text);
    return look;
  }
  for (const AgentPages::Said& one : *said) {
    const auto body = AgentPages::body_of(one);
    if (body) {
      look.agents[one.agent] = traffic_counts(read_exposition(*body, traffic_families()));
    } else {
      look.faults.push_back(body.error().text);
    }
  }
  return look;
}

std::vector<RouteTraffic> between(const Look& before, const Look& after) {
  Traffic traffic;
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  for (const auto& [agent, counts] : after.agents) {
    // An agent that came in between has counted we do not know how long.
    if (const auto then = before.agents.find(agent); then != before.agents.end()) {
      traffic.add(then->second, counts, seconds);
    }
  }
  return traffic.routes();
}

std::string name_or_none(const std::string& name) { return name.empty() ? "<none>" : name; }

std::string table_of(const std::vector<RouteTraffic>& routes) {
  TextTable table({"GATEWAY", "ROUTE", "REQUESTS/S", "ERRORS", "P50", "P99"});
  for (const RouteTraffic& route : routes) {
    table.add({name_or_none(route.name.gateway), name_or_none(route.name.route), short_number(route.rate),
               percent(route.error_part), short_time(route.p50), short_time(route.p99)});
  }
  return table.take(/*with_heads=*/true);
}

std::string json_of(const std::vector<RouteTraffic>& routes) {
  auto list = nlohmann::ordered_json::array();
  for (const RouteTraffic& route : routes) {
    nlohmann::ordered_json object = {{"gateway", route.name.gateway},   {"route", route.name.route},
                                     {"requestsPerSecond", route.rate}, {"errorPart", route.error_part},
                                     {"p50Seconds", nullptr},           {"p99Seconds", nullptr}};
    if (std::isfinite(route.p50)) object["p50Seconds"] = route.p50;
    if (std::isfinite(route.p99)) object["p99Seconds"] = route.p99;
    list.push_back(std::move(object));
  }
  return indented_json(list);
}

/// What the page shows, from one refresh to the next.
class TopPage {
 public:
  explicit TopPage(AgentPages& pages) : pages_(pages), before_(look_at(pages)) {}

  Drawing refresh() {
    Look now = look_at(pages_);
    const std::vector<RouteTraffic> routes = between(before_, now);
    double rate = 0;
    for (const RouteTraffic& route : routes) rate += route.rate;
    if (!now.agents.empty()) rates_.push_back(rate);
    if (rates_.size() > kMostRates) rates_.erase(rates_.begin());
    std::vector<std::string> below = lines_of(table_of(routes));
    for (const std::string& fault : now.faults) below.push_back("! " + shown(fault));
    const std::string head = std::to_string(now.agents.size()) + " agents   " + short_number(rate) + " requests/s   ";
    // What an agent did not say this time is not the beginning of its counts the next time.
    for (auto& [agent, counts] : before_.agents) now.agents.try_emplace(agent, std::move(counts));
    before_ = std::move(now);
    return [head, below = std::move(below), rates = rates_](TerminalSize size) {
      const std::size_t room = size.columns > head.size() + 10 ? size.columns - head.size() - 10 : 0;
      std::vector<std::string> lines = {head + sparkline(rates, std::min<std::size_t>(room, 60)) + "   q quits", ""};
      lines.insert(lines.end(), below.begin(), below.end());
      return lines;
    };
  }

 private:
  static constexpr std::size_t kMostRates = 600;
  AgentPages& pages_;
  Look before_;
  std::vector<double> rates_;
};

/// Two looks, and what came in between.
int once(const cli::Arguments& arguments, AgentPages& pages, std::chrono::nanoseconds interval) {
  const Look before = look_at(pages);
  std::this_thread::sleep_for(interval);
  const Look after = look_at(pages);
  for (const std::string& fault : after.faults) cli::print_error(kTop, fault);
  if (after.agents.empty()) return cli::kExitUnreachable;
  const auto routes = between(before, after);
  if (wants_data(arguments)) {
    cli::write_text(stdout, data_text(arguments, json_of(routes)));
  } else if (routes.empty()) {
    cli::print_message("edgectl", "no request came");
  } else {
    cli::write_text(stdout, table_of(routes));
  }
  return after.faults.empty() ? cli::kExitOk : cli::kExitUnreachable;
}

int top(const cli::Arguments& arguments) {
  const auto interval = parse_duration(arguments.one("interval"));
  if (!interval || *interval < std::chrono::milliseconds(100)) {
    cli::print_error(kTop, "--interval takes a duration of 100ms or more");
    return cli::kExitUsage;
  }
  const bool live = is_screen() && !arguments.has("once") && arguments.one("output") == "table";
  if (live) keep_signals_for_screen();
  int exit = cli::kExitOk;
  const auto pages = AgentPages::open(kTop, arguments, exit);
  if (pages == nullptr) return exit;
  if (!live) return once(arguments, *pages, *interval);
  TopPage page(*pages);
  return show_live([&] { return page.refresh(); }, std::chrono::ceil<std::chrono::milliseconds>(*interval));
}

}  // namespace

cli::Command top_command() {
  return {
      .name = "top",
      .group = kTrafficGroup,
      .summary = "Show the traffic of this moment by route, as the agents count it",
      .details = "A live page on a terminal; else what came in one interval.",
      .flags = joined(agent_page_flags(),
                      {{.name = "interval", .value = "DURATION", .help = "Time between two looks", .fallback = "2s"},
                       {.name = "once", .help = "Print what came in one interval, and end"},
                       form_flag({"table", "json", "yaml"})}),
      .examples = {"edgectl top", "edgectl top --once -o json --interval 5s"},
      .run = top,
      .global = true};
}

}  // namespace edge::edgectl
