#include "edgectl/seeing_commands.h"

#include <utility>

#include "edgectl/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"

namespace edge::edgectl {
namespace {

cli::Flag form(std::vector<std::string_view> choices) {
  return {.name = "output",
          .letter = 'o',
          .value = "FORM",
          .help = "Form",
          .fallback = choices.front(),
          .choices = std::move(choices)};
}

std::vector<cli::Flag> of_agents(std::vector<cli::Flag> flags) {
  std::vector<cli::Flag> all = agent_page_flags();
  for (cli::Flag& flag : flags) all.push_back(std::move(flag));
  return all;
}

std::vector<cli::Flag> of_prometheus(std::vector<cli::Flag> flags, bool window = true) {
  std::vector<cli::Flag> all = {{.name = "metrics-url",
                                 .value = "URL",
                                 .help = "A Prometheus server that scrapes the agents",
                                 .required = true,
                                 .environment = "EDGECTL_METRICS_URL"}};
  if (window) {
    all.push_back({.name = "window",
                   .value = "DURATION",
                   .help = "Time over which rates are taken; several scrapes long",
                   .fallback = "5m"});
  }
  for (cli::Flag& flag : flags) all.push_back(std::move(flag));
  return all;
}

std::vector<cli::Flag> of_top() {
  return of_prometheus({{.name = "limit", .value = "COUNT", .help = "Most rows", .fallback = "10"},
                        {.name = "by",
                         .value = "WHAT",
                         .help = "What comes first",
                         .fallback = "requests",
                         .choices = {"requests", "errors", "latency"}},
                        form({"table", "json", "yaml"})});
}

void add_metrics(std::vector<cli::Command>& all) {
  all.push_back({.name = "metrics agent",
                 .summary = "Show the traffic, connections and resources of each agent",
                 .flags = of_prometheus({form({"table", "json", "yaml"})}),
                 .examples = {"edgectl metrics agent --metrics-url http://prometheus:9090"},
                 .run = metrics_agent});
  all.push_back({.name = "metrics backends",
                 .summary = "Show the traffic, health and circuit of each backend",
                 .flags = of_prometheus({form({"table", "json", "yaml"})}),
                 .examples = {"edgectl metrics backends --metrics-url http://prometheus:9090"},
                 .run = metrics_backends});
  all.push_back({.name = "metrics vips",
                 .summary = "Show the traffic of each address, by the gateways that are served there",
                 .flags = of_prometheus({form({"table", "json", "yaml"})}),
                 .examples = {"edgectl metrics vips --metrics-url http://prometheus:9090"},
                 .run = metrics_vips,
                 .global = true});
  all.push_back({.name = "metrics query",
                 .summary = "Ask the Prometheus server anything",
                 .flags = of_prometheus({form({"table", "json", "yaml"})}, /*window=*/false),
                 .positional = cli::Positional{.name = "QUERY", .help = "PromQL"},
                 .examples = {"edgectl metrics query 'sum by (route) (rate(edge_requests_total[5m]))'"},
                 .run = metrics_query});
  all.push_back(
      {.name = "metrics dashboard",
       .summary = "Show traffic, routes, backends and agents on a live page",
       .details = "`q` quits, the space bar refreshes. Without a terminal, or with --once, the page is printed once.",
       .flags = of_prometheus(
           {{.name = "interval", .value = "DURATION", .help = "Time between two refreshes", .fallback = "5s"},
            {.name = "range", .value = "DURATION", .help = "Time that the lines show", .fallback = "30m"},
            {.name = "once", .help = "Print the page and end"}}),
       .examples = {"edgectl metrics dashboard --metrics-url http://prometheus:9090"},
       .run = metrics_dashboard});
  all.push_back({.name = "metrics top-backends",
                 .summary = "Show the backends with the most requests, errors or time",
                 .flags = of_top(),
                 .examples = {"edgectl metrics top-backends --by latency"},
                 .run = metrics_top_backends});
  all.push_back({.name = "metrics top-routes",
                 .summary = "Show the routes with the most requests, errors or time",
                 .flags = of_top(),
                 .examples = {"edgectl metrics top-routes --by errors --limit 5"},
                 .run = metrics_top_routes});
}

void add_whole(std::vector<cli::Command>& all) {
  std::vector<cli::Flag> flags = controller_flags();
  flags.push_back(form({"table", "json", "yaml"}));
  all.push_back({.name = "status",
                 .summary = "Say how the installation stands: operator, controller, agents, web UI, resources",
                 .details = "What cannot be reached is said, and the rest is shown. Exit code 0 when all is healthy, 1 "
                            "when something is not, 3 when nothing could be reached.",
                 .flags = std::move(flags),
                 .examples = {"edgectl status", "edgectl status -o json"},
                 .run = status,
                 .global = true});
  all.push_back({.name = "top",
                 .summary = "Show the traffic of this moment by route, as the agents count it",
                 .details = "A live page on a terminal; else what came in one interval.",
                 .flags = of_agents(
                     {{.name = "interval", .value = "DURATION", .help = "Time between two looks", .fallback = "2s"},
                      {.name = "once", .help = "Print what came in one interval, and end"},
                      form({"table", "json"})}),
                 .examples = {"edgectl top", "edgectl top --once -o json --interval 5s"},
                 .run = top,
                 .global = true});
  flags = controller_flags();
  flags.push_back({.name = "output",
                   .letter = 'o',
                   .value = "FILE",
                   .help = "Where the archive is written (.tar.gz); readable by its owner alone",
                   .required = true});
  all.push_back({.name = "debug bundle",
                 .summary = "Write an archive for whoever looks into a fault",
                 .details = "Status, versions, resources, programs, endpoints, metrics and logs of the controller and "
                            "of agents. Data of secrets, passwords and credentials in header fields are taken out; "
                            "where resources have any of these in their specs, programs are left out too. What could "
                            "not be had is listed in missing.txt.",
                 .flags = std::move(flags),
                 .examples = {"edgectl debug bundle -o edge.tar.gz"},
                 .run = debug_bundle,
                 .global = true});
}

void add_logs(std::vector<cli::Command>& all) {
  const cli::Flag since = {.name = "since", .value = "DURATION", .help = "Of this time alone, e.g. 5m"};
  const cli::Flag follow = {.name = "follow", .letter = 'f', .help = "Go on, and print what comes"};
  all.push_back({.name = "logs",
                 .summary = "Print the messages of the controller or of agents",
                 .details = "From their pods where the cluster runs them; else the recent ones that the daemons keep.",
                 .flags = of_agents({{.name = "node", .value = "NODE", .help = "Of the agent on this node alone"},
                                     follow,
                                     {.name = "tail", .value = "COUNT", .help = "The last ones alone"},
                                     since,
                                     {.name = "timestamps", .help = "With the time of each"}}),
                 .positional = cli::Positional{.name = "PART", .help = "Whose", .choices = {"controller", "agent"}},
                 .examples = {"edgectl logs controller --tail 20", "edgectl logs agent --node edge-1 -f"},
                 .run = logs,
                 .global = true});
  all.push_back({.name = "log-level",
                 .summary = "Show which messages the controller or agents write, or change it while they run",
                 .details =
                     "A change holds until the process ends: --log-level says how it begins. Of all agents unless "
                     "--agent or --node names one. At `debug` what peers bring about is told too.",
                 .flags = of_agents({{.name = "node", .value = "NODE", .help = "Of the agent on this node alone"}}),
                 .positional = cli::Positional{.name = "PART", .help = "Whose", .choices = {"controller", "agent"}},
                 .second = cli::Positional{.name = "LEVEL",
                                           .help = "Least important messages that are written; without it the level "
                                                   "is shown",
                                           .required = false,
                                           .choices = {"debug", "info", "warn", "error"}},
                 .examples = {"edgectl log-level agent", "edgectl log-level agent debug --agent edge-1",
                              "edgectl log-level controller info"},
                 .run = log_level,
                 .global = true});
  all.push_back(
      {.name = "logs-access",
       .summary = "Print requests, as the access logs of agents tell them",
       .details = "Of gateways whose access log is on. Agents keep the last few thousand for this; which are written "
                  "to files, and in which form, makes no difference.",
       .flags =
           of_agents({since,
                      {.name = "gateway", .value = "NAME", .help = "`name` or `namespace/name`"},
                      {.name = "route", .value = "NAME", .help = "`name` or `namespace/name`"},
                      {.name = "status", .value = "STATUS", .help = "404, or 4xx for all of a class"},
                      {.name = "backend", .value = "NAME", .help = "`name` or `namespace/name`"},
                      {.name = "method", .value = "METHOD", .help = "GET, POST and their like"},
                      {.name = "path", .value = "PATH", .help = "This path, or what is below it where it ends in /"},
                      {.name = "client", .value = "ADDRESS", .help = "This one, or a network such as 10.0.0.0/8"},
                      {.name = "min-duration", .value = "DURATION", .help = "What took at least so long: 250ms"},
                      follow,
                      form({"text", "json"})}),
       .examples = {"edgectl logs-access --follow --status 5xx", "edgectl logs-access --since 5m --route cart -o json"},
       .run = logs_access,
       .global = true});
}

void add_cache(std::vector<cli::Command>& all) {
  all.push_back({.name = "cache stats",
                 .summary = "Say what the caches of agents hold, and what they were good for",
                 .flags = of_agents({form({"text", "json"})}),
                 .examples = {"edgectl cache stats", "edgectl cache stats --agent 127.0.0.1:9091"},
                 .run = cache_stats,
                 .global = true});
  all.push_back(
      {.name = "cache purge",
       .summary = "Remove stored responses from the caches of agents",
       .details = "Give exactly one of --all, --hostname and --route. What is on its way in is not stored either. "
                  "Of all agents unless --agent names one.",
       .flags = of_agents(
           {{.name = "all", .help = "Everything"},
            {.name = "hostname", .value = "PATTERN", .help = "What was asked for by this name, or `*.example.com`"},
            {.name = "route", .value = "NAME", .help = "What came by this route: `name` or `namespace/name`"}}),
       .examples = {"edgectl cache purge --hostname shop.example", "edgectl cache purge --route shop/cart"},
       .run = cache_purge,
       .global = true});
}

}  // namespace

std::vector<cli::Command> seeing_commands() {
  std::vector<cli::Command> all;
  add_whole(all);
  add_metrics(all);
  add_logs(all);
  add_cache(all);
  return all;
}

}  // namespace edge::edgectl
