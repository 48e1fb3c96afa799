// What a controller says of its agents, as the commands about agents print it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "controller/distribute/inspect_client.h"

namespace edge::edgectl {

/// Flags of every command that asks a controller, beside those of a cluster.
std::vector<cli::Flag> controller_flags();

/// The controller that the flags, ~/.edgectl/config and the kubeconfig mean: its administrator's file lies beside the
/// kubeconfig (`agents/admin.pem`) unless something else is said. nullptr: stderr says why, and `exit` how to end.
std::unique_ptr<controller::InspectClient> open_controller(std::string_view command, const cli::Arguments& arguments,
                                                           int& exit);

/// The same for who goes on without: kInvalidArgument for what the flags say, else kUnavailable.
Result<std::unique_ptr<controller::InspectClient>> find_controller(const cli::Arguments& arguments);

/// The same for completion: says nothing, and waits no longer than `most`.
std::unique_ptr<controller::InspectClient> quiet_controller(const cli::Arguments& arguments,
                                                            std::chrono::milliseconds most);

/// Says why a call failed and gives the exit code: 1 for what is not there, else 3.
int tell(std::string_view command, const Error& error);

std::string agents_table(const controller::InspectClient::Agents& agents, bool wide, controller::WallTime now);
std::string agents_json(const controller::InspectClient::Agents& agents);
std::string agent_json(const controller::AgentState& agent);
std::string describe_agent(const controller::AgentState& agent, controller::WallTime now);
std::string backends_table(const controller::AgentState& agent, controller::WallTime now);
std::string vips_table(const controller::AgentState& agent);
/// What an agent says of its backends on its page /debug/endpoints.
Result<std::vector<controller::BackendHealth>> backends_of_page(const std::string& page);
/// What it says of its virtual addresses on /debug/vips.
Result<std::vector<controller::VipState>> vips_of_page(const std::string& page);
std::string history_table(const std::vector<controller::HistoryEntry>& history, bool wide, controller::WallTime now);
std::string history_json(const std::vector<controller::HistoryEntry>& history);

}  // namespace edge::edgectl
