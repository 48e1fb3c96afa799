// edgectl vip move, agents drain, agents undrain: controls which agent owns a virtual address.
#include <optional>
#include <utility>

#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using controller::InspectClient;

constexpr std::string_view kMove = "edgectl vip move";

/// Has an agent do something, by its admin port. \returns the exit code.
int have_agent(std::string_view command, InspectClient& client, const std::string& agent, std::string target,
               const std::string& done) {
  const auto answer = client.ask(agent, {.method = "POST", .target = std::move(target)});
  if (!answer) return tell(command, answer.error());
  if (answer->status == 200) return print(done + "\n");
  std::string why = answer->body;
  while (why.ends_with('\n')) why.pop_back();
  cli::print_error(command, "agent " + agent + ": " + why);
  return cli::kExitFindings;
}

struct Place {
  std::string agent;
  std::string vip;  ///< `namespace/name`
};

/// Who holds the address of this name, with its namespace or without.
Result<Place> find_holder(InspectClient& client, const std::string& wanted) {
  const auto agents = client.agents();
  if (!agents) return agents.error();
  std::optional<Place> found;
  bool known = false;
  for (const controller::AgentState& listed : agents->agents) {
    const auto agent =
        listed.connected ? client.agent(listed.name) : Result<controller::AgentState>(Error{ErrorCode::kNotFound, {}});
    if (!agent) continue;
    for (const controller::VipState& vip : agent->vips) {
      const std::string full = vip.name_space + "/" + vip.name;
      if (full != wanted && vip.name != wanted) continue;
      known = true;
      if (!vip.held) continue;
      if (found && found->vip != full) {
        return Error{ErrorCode::kInvalidArgument, "`" + wanted + "` is " + found->vip + " and " + full + ": say which"};
      }
      found = {agent->name, full};
    }
  }
  if (found) return *found;
  return Error{ErrorCode::kNotFound, known ? "no agent holds " + wanted : "no agent knows of a ProxyVIP " + wanted};
}

int vip_move(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto client = open_controller(kMove, arguments, exit);
  if (client == nullptr) return exit;
  const auto holder = find_holder(*client, arguments.one("NAME"));
  if (!holder) return tell(kMove, holder.error());
  std::string target = "/debug/vips/move?vip=" + holder->vip;
  std::string to;
  if (arguments.has("to")) {
    const auto agent = client->agent(arguments.one("to"));
    if (!agent) return tell(kMove, agent.error());
    target += "&to=" + agent->name;
    to = " to " + agent->name;
  }
  return have_agent(kMove, *client, holder->agent, target,
                    "agent " + holder->agent + " gives " + holder->vip + " away" + to);
}

int set_drained(const cli::Arguments& arguments, std::string_view command, const std::string& page,
                const std::string& done) {
  int exit = cli::kExitOk;
  const auto client = open_controller(command, arguments, exit);
  if (client == nullptr) return exit;
  const std::string& name = arguments.one("AGENT");
  return have_agent(command, *client, name, "/debug/vips/" + page, "agent " + name + " " + done);
}

int agents_drain(const cli::Arguments& arguments) {
  return set_drained(arguments, "edgectl agents drain", "drain",
                     "gives its addresses away, and takes none until `edgectl agents undrain`");
}

int agents_undrain(const cli::Arguments& arguments) {
  return set_drained(arguments, "edgectl agents undrain", "undrain", "may hold addresses again");
}

}  // namespace

cli::Command vip_move_command() {
  return {.name = "vip move",
          .group = kAgentsGroup,
          .summary = "Move a virtual address to another agent",
          .details =
              "The present owner keeps serving until the other agent owns the address. Without --to the address moves "
              "to the agent that would take it over if the present owner failed. Open connections stay with the "
              "previous owner.",
          .flags = joined(controller_flags(), {{.name = "to", .value = "AGENT", .help = "Agent to move it to"}}),
          .positional = cli::Positional{.name = "NAME", .help = "[NAMESPACE/]NAME of the ProxyVIP"},
          .examples = {"edgectl vip move edge-system/public --to edge-2"},
          .run = vip_move,
          .global = true};
}

cli::Command agents_drain_command() {
  return {.name = "agents drain",
          .group = kAgentsGroup,
          .summary = "Drain an agent of virtual addresses: others take over its addresses, and it takes none",
          .details =
              "The agent keeps serving. An address that no other agent can take over stays. Draining persists over "
              "restarts of the agent, until `edgectl agents undrain`.",
          .flags = controller_flags(),
          .positional = agent_argument(),
          .examples = {"edgectl agents drain edge-1"},
          .run = agents_drain,
          .global = true};
}

cli::Command agents_undrain_command() {
  return {.name = "agents undrain",
          .group = kAgentsGroup,
          .summary = "Let an agent take virtual addresses again",
          .flags = controller_flags(),
          .positional = agent_argument(),
          .examples = {"edgectl agents undrain edge-1"},
          .run = agents_undrain,
          .global = true};
}

}  // namespace edge::edgectl
