#include "edgectl/trace_commands.h"

#include <utility>

#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"

namespace edge::edgectl {
namespace {

cli::Flag limit() {
  return {.name = "limit", .value = "COUNT", .help = "Most traces that are shown", .fallback = "20"};
}

/// With where to ask and how to print.
std::vector<cli::Flag> asking(std::vector<cli::Flag> flags) {
  flags.push_back({.name = "trace-endpoint",
                   .value = "URL",
                   .help = "The embedded store, Jaeger's query service, or Tempo (default: the context's, else the "
                           "controller's by the administrator's file, else http://127.0.0.1:16686)",
                   .environment = "EDGECTL_TRACE_ENDPOINT"});
  flags.push_back({.name = "trace-token-file",
                   .value = "FILE",
                   .help = "Token for that endpoint",
                   .environment = "EDGECTL_TRACE_TOKEN_FILE"});
  for (cli::Flag& flag : controller_flags()) flags.push_back(std::move(flag));
  flags.push_back({.name = "output",
                   .letter = 'o',
                   .value = "FORM",
                   .help = "Form",
                   .fallback = "table",
                   .choices = {"table", "json", "yaml"}});
  return flags;
}

}  // namespace

std::vector<cli::Command> trace_commands() {
  std::vector<cli::Command> all;
  all.push_back(
      {.name = "trace list",
       .summary = "List recent traces, the newest first",
       .flags = asking({limit(),
                        {.name = "lookback",
                         .value = "DURATION",
                         .help = "How far back a trace may have begun",
                         .fallback = "1h"}}),
       .examples = {"edgectl trace list --lookback 15m", "edgectl trace list --trace-endpoint http://tempo:3200"},
       .run = trace_list,
       .global = true});
  all.push_back({.name = "trace get",
                 .summary = "Show a trace as a tree of spans with their times",
                 .flags = asking({}),
                 .positional = cli::Positional{.name = "TRACE-ID", .help = "As lists and access logs show it"},
                 .examples = {"edgectl trace get 4bf92f3577b34da6a3ce929d0e0e4736"},
                 .run = trace_get,
                 .global = true});
  all.push_back(
      {.name = "trace search",
       .summary = "Find traces by what is in them",
       .details = "A trace is found when one of its spans is what all flags say. Without --start it began in the hour "
                  "before --end.",
       .flags = asking({{.name = "service", .value = "NAME", .help = "Who made the span"},
                        {.name = "operation",
                         .value = "NAME",
                         .help = "What the span is called, of whatever service without --service"},
                        {.name = "start", .value = "TIME", .help = "Began at this time or later (RFC 3339)"},
                        {.name = "end", .value = "TIME", .help = "Began before this time (RFC 3339; default: now)"},
                        {.name = "min-duration", .value = "DURATION", .help = "Took so long or longer"},
                        {.name = "max-duration", .value = "DURATION", .help = "Took so long or shorter"},
                        {.name = "tag", .value = "KEY=VALUE", .help = "Has this tag", .repeatable = true},
                        limit()}),
       .examples = {"edgectl trace search --service edge --tag http.status_code=503",
                    "edgectl trace search --min-duration 500ms --start 2026-01-31T12:00:00Z"},
       .run = trace_search,
       .global = true});
  all.push_back({.name = "trace services",
                 .summary = "List services that sent traces",
                 .flags = asking({}),
                 .run = trace_services,
                 .global = true});
  return all;
}

}  // namespace edge::edgectl
