// Agents' states from a controller, as printed by the commands about agents.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "controller/distribute/inspect_client.h"

namespace edge::edgectl {

/// Flags of every command that contacts a controller, in addition to those of a cluster.
std::vector<cli::Flag> controller_flags();

/// Connects to the controller selected by flags, ~/.edgectl/config and the kubeconfig: its administrator's file is next
/// to the kubeconfig (`agents/admin.pem`) by default. nullptr: stderr says why, and `exit` is the exit code.
std::unique_ptr<controller::InspectClient> open_controller(std::string_view command, const cli::Arguments& arguments,
                                                           int& exit);

/// The same without output: kInvalidArgument for invalid flags, else kUnavailable.
Result<std::unique_ptr<controller::InspectClient>> find_controller(const cli::Arguments& arguments);

/// The same for completion: without output, and waiting `most` at most.
std::unique_ptr<controller::InspectClient> quiet_controller(const cli::Arguments& arguments,
                                                            std::chrono::milliseconds most);

/// Reports why a call failed and returns the exit code: 1 for what does not exist, else 3.
int tell(std::string_view command, const Error& error);

std::string agents_table(const controller::InspectClient::Agents& agents, bool wide, controller::WallTime now);
std::string agents_json(const controller::InspectClient::Agents& agents);
std::string agent_json(const controller::AgentState& agent);
std::string describe_agent(const controller::AgentState& agent, controller::WallTime now);
/// Where an endpoint is in columns of its own: where any says it, or always if `wide`.
std::string backends_table(const controller::AgentState& agent, bool wide, controller::WallTime now);
std::string vips_table(const controller::AgentState& agent);
/// Parses backends from an agent's page /debug/endpoints.
Result<std::vector<controller::BackendHealth>> backends_of_page(const std::string& page);
/// Parses virtual addresses from /debug/vips.
Result<std::vector<controller::VipState>> vips_of_page(const std::string& page);
std::string history_table(const std::vector<controller::HistoryEntry>& history, bool wide, controller::WallTime now);
std::string history_json(const std::vector<controller::HistoryEntry>& history);

}  // namespace edge::edgectl
