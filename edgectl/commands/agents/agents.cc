// edgectl agents, agent, history, rollback: shows the controller's agents and the programs that it compiled.
#include "edgectl/resources/agents.h"

#include <chrono>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"
#include "program/dump/dump.h"

namespace edge::edgectl {
namespace {

using controller::InspectClient;

controller::WallTime now() { return std::chrono::system_clock::now(); }

/// Runs `use` with a client.
template <typename Use>
int with_controller(std::string_view command, const cli::Arguments& arguments, const Use& use) {
  int exit = cli::kExitOk;
  const auto client = open_controller(command, arguments, exit);
  return client == nullptr ? exit : use(*client);
}

/// What the agent itself says now, by way of the controller. kNotFound: there is no such agent.
Result<std::string> page_of(InspectClient& client, const std::string& agent, const char* page) {
  if (const auto known = client.agent(agent); !known) return known.error();
  return AgentPages::body_of({agent, client.ask(agent, {.target = page})});
}

/// Prints one part of an agent's state. `refresh` asks the agent for what may have changed since it reported.
template <typename Refresh, typename Text>
int show_agent(std::string_view command, const cli::Arguments& arguments, const Refresh& refresh, const Text& text) {
  return with_controller(command, arguments, [&](InspectClient& client) {
    auto agent = client.agent(arguments.one("AGENT"));
    if (!agent) return tell(command, agent.error());
    if (Status status = refresh(client, *agent); !status) return tell(command, status.error());
    return print(wants_data(arguments) ? data_text(arguments, agent_json(*agent)) : text(*agent));
  });
}

/// For what the agent reports as soon as it changes.
Status as_reported(InspectClient&, controller::AgentState&) { return {}; }

int show_program(std::string_view command, const cli::Arguments& arguments, const std::string& agent) {
  return with_controller(command, arguments, [&](InspectClient& client) {
    const auto page = page_of(client, agent, "/debug/program");
    if (!page) return tell(command, page.error());
    const auto bytes = std::as_bytes(std::span(*page));
    const auto view = program::read(std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
    if (!view) return tell(command, view.error());
    return print(wants_data(arguments) ? data_text(arguments, program::dump_routes_json(*view))
                                       : program::dump_routes(*view));
  });
}

/// What a group may go back to: programs of its own, then of the group that all are in at first.
Result<std::vector<controller::HistoryEntry>> histories_of(InspectClient& client, const std::string& group) {
  auto entries = client.history(group);
  if (!entries || group == controller::kDefaultGroup) return entries;
  auto others = client.history();
  if (!others) return others;
  entries->insert(entries->end(), others->begin(), others->end());
  return entries;
}

int agents_list(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl agents list";
  return with_controller(kCommand, arguments, [&](InspectClient& client) {
    const auto agents = client.agents();
    if (!agents) return tell(kCommand, agents.error());
    const std::string form = arguments.one("output");
    if (wants_data(arguments)) return print(data_text(arguments, agents_json(*agents)));
    if (form == "name") {
      std::string names;
      for (const auto& agent : agents->agents) names += agent.name + "\n";
      return print(names);
    }
    if (agents->agents.empty()) cli::print_message("edgectl", "no agent has come yet");
    return agents->agents.empty() ? cli::kExitOk : print(agents_table(*agents, form == "wide", now()));
  });
}

int agents_describe(const cli::Arguments& arguments) {
  return show_agent("edgectl agents describe", arguments, as_reported,
                    [](const controller::AgentState& agent) { return describe_agent(agent, now()); });
}

int agents_token(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl agents token";
  return with_controller(kCommand, arguments, [&](InspectClient& client) {
    const auto text = client.join_file(arguments.one("AGENT"));
    if (!text) return tell(kCommand, text.error());
    const std::string path = arguments.has("out") ? arguments.one("out") : std::string();
    if (path.empty()) return print(*text);
    if (Status status = write_file(path, std::string_view(*text), FileAccess::kOwnerOnly); !status) {
      cli::print_error(kCommand, status.error().text);
      return cli::kExitFindings;
    }
    return cli::kExitOk;
  });
}

int agents_revoke(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl agents revoke";
  return with_controller(kCommand, arguments, [&](InspectClient& client) {
    const std::string agent = arguments.one("AGENT");
    const Status status = client.revoke(agent);
    if (!status) return tell(kCommand, status.error());
    return print(agent + " is revoked: its connections end, and it may join anew\n");
  });
}

int agent_backends(const cli::Arguments& arguments) {
  const auto ask = [](InspectClient& client, controller::AgentState& agent) -> Status {
    const auto page = page_of(client, agent.name, "/debug/endpoints");
    if (!page) return page.error();
    auto backends = backends_of_page(*page);
    if (!backends) return backends.error();
    agent.backends = std::move(*backends);
    return {};
  };
  return show_agent("edgectl agent backends", arguments, ask,
                    [wide = arguments.one("output") == "wide"](const controller::AgentState& agent) {
                      return backends_table(agent, wide, now());
                    });
}

int agent_vips(const cli::Arguments& arguments) {
  const auto ask = [](InspectClient& client, controller::AgentState& agent) -> Status {
    const auto answer = client.ask(agent.name, {.target = "/debug/vips"});
    agent.vips.clear();
    // One that was started without --peer-listen holds none.
    if (answer && answer->status == 404) return {};
    const auto page = AgentPages::body_of({agent.name, answer});
    if (!page) return page.error();
    auto vips = vips_of_page(*page);
    if (!vips) return vips.error();
    agent.vips = std::move(*vips);
    return {};
  };
  return show_agent("edgectl agent vips", arguments, ask, vips_table);
}

int agent_config(const cli::Arguments& arguments) {
  return show_program("edgectl agent config", arguments, arguments.one("AGENT"));
}

int history(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl history";
  return with_controller(kCommand, arguments, [&](InspectClient& client) {
    const auto entries = client.history(arguments.one("group"));
    if (!entries) return tell(kCommand, entries.error());
    const std::string form = arguments.one("output");
    if (wants_data(arguments)) return print(data_text(arguments, history_json(*entries)));
    return print(history_table(*entries, form == "wide", now()));
  });
}

int rollback(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl rollback";
  const bool release = arguments.has("release");
  const std::string wanted = arguments.one("PROGRAM");
  const std::string group = arguments.one("group");
  if (release == !wanted.empty()) {
    cli::print_error(kCommand, "give either the PROGRAM to go back to (edgectl history) or --release");
    return cli::kExitUsage;
  }
  return with_controller(kCommand, arguments, [&](InspectClient& client) {
    if (release) {
      const Status status = client.release(group);
      return status ? print("released: what the resources say is served again\n") : tell(kCommand, status.error());
    }
    const auto entries = histories_of(client, group);
    if (!entries) return tell(kCommand, entries.error());
    std::string found;
    for (const auto& entry : *entries) {
      if (!entry.program.starts_with(wanted) || entry.program == found) continue;
      if (!found.empty()) {
        cli::print_error(kCommand, "several programs begin with `" + wanted + "`");
        return cli::kExitUsage;
      }
      found = entry.program;
    }
    if (found.empty()) {
      cli::print_error(kCommand, "no program of the history begins with `" + wanted + "`");
      return cli::kExitFindings;
    }
    const Status status = client.rollback(group, found);
    if (!status) return tell(kCommand, status.error());
    const bool all = group == controller::kDefaultGroup;
    return print((all ? "serving " : "the group " + group + " serves ") + found + " until `edgectl rollback --release" +
                 (all ? "" : " --group " + group) + "`; changes of resources wait for that\n");
  });
}

}  // namespace

int dump_of_agent(std::string_view command, const cli::Arguments& arguments, const std::string& agent) {
  return show_program(command, arguments, agent);
}

cli::Command agents_list_command() {
  return {.name = "agents list",
          .group = kAgentsGroup,
          .summary = "List the agents of a controller, and whether each runs its assigned program",
          .flags = joined(controller_flags(), {form_flag({"table", "wide", "json", "yaml", "name"})}),
          .examples = {"edgectl agents list -o wide"},
          .run = agents_list,
          .global = true};
}

namespace {

cli::Command of_agent(std::string_view name, std::string_view summary, int (*run)(const cli::Arguments&),
                      std::vector<std::string_view> forms) {
  return {.name = name,
          .group = kAgentsGroup,
          .summary = summary,
          .flags = joined(controller_flags(), {form_flag(std::move(forms))}),
          .positional = agent_argument(),
          .run = run,
          .global = true};
}

cli::Flag group_flag() {
  return {.name = "group",
          .value = "NAME",
          .help = "Group of agents, as shown by edgectl agents list",
          .fallback = controller::kDefaultGroup};
}

}  // namespace

std::vector<cli::Command> agent_commands() {
  return {
      of_agent("agents describe", "Tell all about an agent: its program, backends and addresses", agents_describe,
               {"text", "json", "yaml"}),
      of_agent("agents config", "Print the match tree of what an agent runs", agent_config, {"text", "json", "yaml"}),
      of_agent("agent config", "Print the match tree of what an agent runs", agent_config, {"text", "json", "yaml"}),
      of_agent("agent backends", "List the endpoints of an agent's backends and their health", agent_backends,
               {"table", "wide", "json", "yaml"}),
      of_agent("agent vips", "List the addresses that an agent serves, and which it holds", agent_vips,
               {"table", "json", "yaml"})};
}

cli::Command agents_token_command() {
  return {
      .name = "agents token",
      .group = kAgentsGroup,
      .summary = "Create a join file for one agent",
      .details =
          "An agent of this name that lost its key, or a new machine that replaces it, joins with the file; "
          "certificates issued to this name before are refused from then on. The file is valid for one day and for one "
          "machine. It contains a secret: --out writes it readable by you alone.",
      .flags = joined(controller_flags(), {{.name = "out", .value = "FILE", .help = "Write to this file (mode 0600)"}}),
      .positional = agent_argument(),
      .examples = {"edgectl agents token edge-1 --out edge-1.join"},
      .run = agents_token,
      .global = true};
}

cli::Command agents_revoke_command() {
  return {.name = "agents revoke",
          .group = kAgentsGroup,
          .summary = "Revoke every certificate of an agent, and close its connections",
          .details =
              "Afterwards any holder of a join file can join by this name: if you have lost the machine, give the "
              "agents a new join file.",
          .flags = controller_flags(),
          .positional = agent_argument(),
          .examples = {"edgectl agents revoke edge-1"},
          .run = agents_revoke,
          .global = true};
}

cli::Command history_command() {
  return {.name = "history",
          .group = kAgentsGroup,
          .summary = "List the last programs of the controller, with the change that caused each",
          .flags = joined(controller_flags(), {form_flag({"table", "wide", "json", "yaml"}), group_flag()}),
          .examples = {"edgectl history", "edgectl history --group canary"},
          .run = history,
          .global = true};
}

cli::Command rollback_command() {
  return {
      .name = "rollback",
      .group = kAgentsGroup,
      .summary = "Pin agents to an earlier program, until --release",
      .details = "The resources do not change; they are served again after --release.",
      .flags = joined(controller_flags(), {{.name = "release", .help = "Serve the resources again"}, group_flag()}),
      .positional = cli::Positional{.name = "PROGRAM",
                                    .help = "First digits of the program's hash, as `edgectl history` shows it",
                                    .required = false},
      .examples = {"edgectl rollback 4f2a91", "edgectl rollback --release", "edgectl rollback --group canary 4f2a91"},
      .run = rollback,
      .global = true};
}

}  // namespace edge::edgectl
