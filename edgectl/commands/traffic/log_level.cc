// edgectl log-level: shows and changes the log level of the controller and of agents while they run.
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kLogLevel = "edgectl log-level";

controller::AgentQuestion question_of(const std::string& level) {
  if (level.empty()) return {.target = "/debug/log-level"};
  return {.method = "PUT", .target = "/debug/log-level?level=" + level};
}

/// Whom the flags mean; the controller says which agents there are.
Result<std::vector<std::string>> agents_meant(AgentPages& pages, const std::string& node) {
  if (node.empty() || !pages.controlled()) return pages.names();
  return pages.names_on(node);
}

int print_levels(const cli::Arguments& arguments, const std::vector<AgentPages::Said>& all) {
  int exit = cli::kExitOk;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({"DAEMON", "LEVEL"});
  for (const AgentPages::Said& one : all) {
    const auto body = AgentPages::body_of(one);
    if (body) {
      const std::string level = body->substr(0, body->find('\n'));
      list.push_back({{"daemon", one.agent}, {"level", level}});
      table.add({shown(one.agent), shown(level)});
      continue;
    }
    cli::print_error(kLogLevel, body.error().text);
    exit = cli::kExitUnreachable;
  }
  if (wants_data(arguments)) {
    cli::write_text(stdout, data_text(arguments, indented_json(list)));
    return exit;
  }
  if (!table.empty()) cli::write_text(stdout, table.take(/*with_heads=*/true));
  return exit;
}

int log_level(const cli::Arguments& arguments) {
  const controller::AgentQuestion question = question_of(arguments.one("LEVEL"));
  int exit = cli::kExitOk;
  if (arguments.one("PART") == "controller") {
    const auto controller = open_controller(kLogLevel, arguments, exit);
    return controller == nullptr ? exit : print_levels(arguments, {{"controller", controller->ask({}, question)}});
  }
  const auto pages = AgentPages::open(kLogLevel, arguments, exit);
  if (pages == nullptr) return exit;
  const auto names = agents_meant(*pages, arguments.one("node"));
  if (!names) return tell(kLogLevel, names.error());
  if (names->empty()) cli::print_message("edgectl", "no agent is connected");
  std::vector<AgentPages::Said> all;
  for (const std::string& name : *names) all.push_back(pages->ask_one(name, question));
  return print_levels(arguments, all);
}

}  // namespace

cli::Command log_level_command() {
  return {.name = "log-level",
          .group = kTrafficGroup,
          .summary = "Show or change the log level of the controller or of agents while they run",
          .details =
              "A change lasts until the process ends; --log-level is the level at its start. Affects all agents unless "
              "--agent or --node names one. At `debug`, events caused by peers are logged too.",
          .flags = joined(agent_page_flags(), {{.name = "node", .value = "NODE", .help = "Only the agent on this node"},
                                               form_flag({"table", "json", "yaml"})}),
          .positional = cli::Positional{.name = "PART", .help = "Daemon", .choices = {"controller", "agent"}},
          .second = cli::Positional{.name = "LEVEL",
                                    .help = "Lowest level of messages that are logged; without it the level is shown",
                                    .required = false,
                                    .choices = {"debug", "info", "warn", "error"}},
          .examples = {"edgectl log-level agent", "edgectl log-level agent debug --agent edge-1",
                       "edgectl log-level controller info"},
          .run = log_level,
          .global = true};
}

}  // namespace edge::edgectl
