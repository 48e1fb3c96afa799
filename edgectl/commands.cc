// The table of commands, in the order of `edgectl --help`.
#include "edgectl/commands.h"

#include <iterator>
#include <utility>

#include "edgectl/resources/target.h"
#include "program/version.h"

namespace edge::edgectl {
namespace {

void add(std::vector<cli::Command>& commands, std::vector<cli::Command> others) {
  commands.insert(commands.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
}

}  // namespace

cli::Program table() {
  std::vector<cli::Command> commands;
  add(commands, {validate_command(), compile_command(), explain_command(), test_command(), assert_command(),
                 diff_command(), cost_command(), sdwan_explain_command(), routes_dump_command()});
  add(commands, {install_command(), upgrade_command(), uninstall_command()});
  add(commands, cluster_commands());
  add(commands, federation_commands());
  add(commands, {get_command(), describe_command(), create_command()});
  add(commands, create_secret_commands());
  add(commands, {apply_command(), edit_command(), patch_command(), delete_command()});
  add(commands, gateway_api_list_commands());
  add(commands, {gateway_api_describe_gateway_command(), conformance_command()});
  add(commands, {agents_list_command()});
  add(commands, agent_commands());
  add(commands,
      {agents_token_command(), agents_revoke_command(), agents_drain_command(), agents_undrain_command(),
       vip_move_command(), history_command(), rollback_command(), cache_stats_command(), cache_purge_command()});
  add(commands,
      {status_command(), top_command(), metrics_agent_command(), metrics_backends_command(), metrics_vips_command(),
       metrics_query_command(), metrics_dashboard_command(), metrics_top_backends_command(),
       metrics_top_routes_command(), logs_command(), logs_access_command(), log_level_command(), trace_list_command(),
       trace_get_command(), trace_search_command(), trace_services_command(), web_command(), debug_bundle_command()});
  add(commands, sdwan_commands());
  add(commands, {schema_command(), crds_command(), generate_systemd_unit_command(), generate_static_pod_command(),
                 explain_code_command(), key_generate_command(), key_replace_administrator_command(),
                 config_view_command(), config_get_contexts_command(), config_use_context_command(),
                 config_set_context_command(), completion_command(), help_command(), man_command(), version_command()});
  return {.name = kName,
          .summary = "edgectl checks, compiles, applies and explains the configuration of the edge proxy.",
          .version = program::version_text(kName),
          .commands = std::move(commands),
          .flags = target_flags()};
}

}  // namespace edge::edgectl
