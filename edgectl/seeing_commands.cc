#include "edgectl/seeing_commands.h"

#include <utility>

#include "edgectl/agent_pages.h"
#include "edgectl/commands.h"

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
  add_metrics(all);
  add_cache(all);
  return all;
}

}  // namespace edge::edgectl
