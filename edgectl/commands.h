// The commands, each declared next to its function in commands/, and the table of all (commands.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

inline constexpr std::string_view kName = "edgectl";

// Headings of `edgectl --help`, in this order; commands/ has a folder for each.
inline constexpr std::string_view kFilesGroup = "Check, compile and compare configuration";
inline constexpr std::string_view kClusterGroup = "Install on a cluster";
inline constexpr std::string_view kObjectsGroup = "Read and change objects";
inline constexpr std::string_view kAgentsGroup = "Agents and what they run";
inline constexpr std::string_view kTrafficGroup = "Health, traffic, logs and traces";
inline constexpr std::string_view kProgramGroup = "Reference, keys and this program";

cli::Command validate_command();
cli::Command compile_command();
cli::Command explain_command();
cli::Command test_command();
cli::Command assert_command();
cli::Command diff_command();
cli::Command cost_command();
cli::Command sdwan_explain_command();
std::vector<cli::Command> sdwan_commands();
cli::Command routes_dump_command();
cli::Command install_command();
cli::Command upgrade_command();
cli::Command uninstall_command();
std::vector<cli::Command> cluster_commands();
std::vector<cli::Command> federation_commands();
cli::Command get_command();
cli::Command describe_command();
cli::Command create_command();
std::vector<cli::Command> create_secret_commands();
cli::Command apply_command();
cli::Command edit_command();
cli::Command patch_command();
cli::Command delete_command();
std::vector<cli::Command> gateway_api_list_commands();
cli::Command gateway_api_describe_gateway_command();
cli::Command conformance_command();
cli::Command agents_list_command();
std::vector<cli::Command> agent_commands();
cli::Command agents_token_command();
cli::Command agents_revoke_command();
cli::Command agents_drain_command();
cli::Command agents_undrain_command();
cli::Command vip_move_command();
cli::Command history_command();
cli::Command rollback_command();
cli::Command cache_stats_command();
cli::Command cache_purge_command();
cli::Command status_command();
cli::Command top_command();
cli::Command metrics_agent_command();
cli::Command metrics_backends_command();
cli::Command metrics_vips_command();
cli::Command metrics_query_command();
cli::Command metrics_dashboard_command();
cli::Command metrics_top_backends_command();
cli::Command metrics_top_routes_command();
cli::Command logs_command();
cli::Command logs_access_command();
cli::Command log_level_command();
cli::Command trace_list_command();
cli::Command trace_get_command();
cli::Command trace_search_command();
cli::Command trace_services_command();
cli::Command web_command();
cli::Command debug_bundle_command();
cli::Command schema_command();
cli::Command crds_command();
cli::Command generate_systemd_unit_command();
cli::Command generate_static_pod_command();
cli::Command explain_code_command();
cli::Command key_generate_command();
cli::Command key_replace_administrator_command();
cli::Command config_view_command();
cli::Command config_get_contexts_command();
cli::Command config_use_context_command();
cli::Command config_set_context_command();
cli::Command completion_command();
cli::Command help_command();
cli::Command man_command();
cli::Command version_command();

/// Returns the table from which parser, help, manual pages and completion are generated.
cli::Program table();

/// Prints the match tree of an agent's program, through the controller.
int dump_of_agent(std::string_view command, const cli::Arguments& arguments, const std::string& agent);

}  // namespace edge::edgectl
