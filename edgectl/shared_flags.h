// Flags and arguments of several commands, each defined once.
#pragma once

#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

inline constexpr std::string_view kFilesToRead = "File, directory or - for standard input";
inline constexpr std::string_view kFilesOrProgram =
    "File, directory, - for standard input, one .edgeprog, or http://ADDRESS:PORT of an agent";
inline constexpr std::string_view kPathsOrEdge =
    "What -f takes; without both, what the connected edge serves: the cluster, or else the agent of this machine";
inline constexpr std::string_view kTypes =
    "clusters (cl), gateways (gw), routes (rt), backends (be), vips, policies (pol), sites, links, wanpolicies; `edge` "
    "for all of them; any other type that the cluster serves; several with commas; or TYPE/NAME";

/// Returns `flags`, then `others`.
std::vector<cli::Flag> joined(std::vector<cli::Flag> flags, std::vector<cli::Flag> others);

cli::Flag file_flag(std::string_view help, bool required = true);
cli::Flag all_namespaces_flag();
/// `--cluster`, and how the hub's controller is asked.
std::vector<cli::Flag> remote_cluster_flags();
cli::Flag selector_flag();
cli::Flag no_headers_flag();
cli::Flag dry_run_flag(std::vector<std::string_view> choices);
cli::Flag field_manager_flag();
cli::Flag check_fields_flag();
cli::Flag create_namespaces_flag();
cli::Flag wait_programmed_flag();

/// For commands that wait for agents: timeout, and controller.
std::vector<cli::Flag> waiting_flags();
/// For commands that query a Prometheus server.
std::vector<cli::Flag> prometheus_flags();
cli::Flag window_flag();

cli::Positional type_argument(bool required = true);
cli::Positional names_argument(std::string_view help);
cli::Positional agent_argument();
/// COMMAND: the words of a command.
cli::Positional command_argument(std::string_view help);

}  // namespace edge::edgectl
