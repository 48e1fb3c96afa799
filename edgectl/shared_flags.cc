#include "edgectl/shared_flags.h"

#include <iterator>
#include <utility>

#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"

namespace edge::edgectl {
namespace {

std::vector<std::string> complete_command(const cli::Arguments& given, std::string_view typed) {
  std::vector<std::string> words;
  const cli::Program program = table();
  for (const std::string_view word : cli::next_words(program, given.all("COMMAND"))) {
    if (word.starts_with(typed)) words.emplace_back(word);
  }
  return words;
}

}  // namespace

std::vector<cli::Flag> joined(std::vector<cli::Flag> flags, std::vector<cli::Flag> others) {
  flags.insert(flags.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return flags;
}

cli::Flag file_flag(std::string_view help, bool required) {
  return {.name = "file", .letter = 'f', .value = "PATH", .help = help, .required = required, .repeatable = true};
}

cli::Flag all_namespaces_flag() { return {.name = "all-namespaces", .letter = 'A', .help = "All namespaces"}; }

std::vector<cli::Flag> remote_cluster_flags() {
  return joined({{.name = "cluster",
                  .value = "NAME",
                  .help = "Ask this cluster, a spoke of the hub that is asked otherwise, over its connection",
                  .complete = complete_remote_cluster}},
                controller_flags());
}

cli::Flag selector_flag() {
  return {.name = "selector", .letter = 'l', .value = "LABELS", .help = "Label selector, e.g. `app=shop,tier!=db`"};
}

cli::Flag no_headers_flag() { return {.name = "no-headers", .help = "Omit the column headers"}; }

cli::Flag dry_run_flag(std::vector<std::string_view> choices) {
  return {.name = "dry-run",
          .value = "WHERE",
          .help = "Show what would be done, without doing it",
          .fallback = "none",
          .choices = std::move(choices)};
}

cli::Flag field_manager_flag() {
  return {
      .name = "field-manager", .value = "NAME", .help = "Field manager, as in managedFields", .fallback = "edgectl"};
}

cli::Flag check_fields_flag() {
  return {
      .name = "validate",
      .value = "HOW",
      .help = "Check fields locally first, and let the server refuse unknown ones; `warn`: let the server warn of them",
      .fallback = "true",
      .choices = {"true", "warn", "false"}};
}

cli::Flag create_namespaces_flag() { return {.name = "create-namespaces", .help = "Create missing namespaces"}; }

cli::Flag wait_programmed_flag() {
  return {.name = "wait",
          .value = "FOR",
          .help = "Return when every agent runs the result",
          .fallback = "none",
          .choices = {"none", "programmed"}};
}

std::vector<cli::Flag> waiting_flags() {
  return joined({{.name = "timeout", .value = "DURATION", .help = "Timeout of --wait", .fallback = "60s"}},
                controller_flags());
}

std::vector<cli::Flag> prometheus_flags() {
  return {{.name = "metrics-url",
           .value = "URL",
           .help = "Prometheus server that scrapes the agents",
           .required = true,
           .environment = "EDGECTL_METRICS_URL"}};
}

cli::Flag window_flag() {
  return {.name = "window",
          .value = "DURATION",
          .help = "Time over which rates are computed; several scrape intervals",
          .fallback = "5m"};
}

cli::Positional type_argument(bool required) {
  return {.name = "TYPE", .help = kTypes, .required = required, .complete = complete_type};
}

cli::Positional names_argument(std::string_view help) {
  return {.name = "NAME", .help = help, .required = false, .complete = complete_name, .repeatable = true};
}

cli::Positional command_argument(std::string_view help) {
  return {.name = "COMMAND", .help = help, .required = false, .complete = complete_command, .repeatable = true};
}

cli::Positional agent_argument() { return {.name = "AGENT", .help = "Name of the agent", .complete = complete_agent}; }

}  // namespace edge::edgectl
