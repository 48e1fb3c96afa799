// What each command runs. The table that names them and their flags is main.cc.
#pragma once

#include "cli/flags.h"

namespace edge::edgectl {

inline constexpr std::string_view kName = "edgectl";

int validate(const cli::Arguments& arguments);
int compile(const cli::Arguments& arguments);
int routes_dump(const cli::Arguments& arguments);
int explain(const cli::Arguments& arguments);
int explain_code(const cli::Arguments& arguments);
int cost(const cli::Arguments& arguments);
int diff(const cli::Arguments& arguments);
int test(const cli::Arguments& arguments);
int assert_claims(const cli::Arguments& arguments);
int trace_list(const cli::Arguments& arguments);
int trace_get(const cli::Arguments& arguments);
int trace_search(const cli::Arguments& arguments);
int trace_services(const cli::Arguments& arguments);
int cache_stats(const cli::Arguments& arguments);
int cache_purge(const cli::Arguments& arguments);
int key_generate(const cli::Arguments& arguments);
int key_replace_administrator(const cli::Arguments& arguments);
int crds(const cli::Arguments& arguments);
int schema(const cli::Arguments& arguments);
int completion(const cli::Arguments& arguments);
int man(const cli::Arguments& arguments);
int version(const cli::Arguments& arguments);

// Those that ask a cluster (resource_commands.cc).
int get(const cli::Arguments& arguments);
int describe(const cli::Arguments& arguments);
int create(const cli::Arguments& arguments);
int apply(const cli::Arguments& arguments);
int remove(const cli::Arguments& arguments);
int edit(const cli::Arguments& arguments);
int patch(const cli::Arguments& arguments);
int agents_list(const cli::Arguments& arguments);
int agents_describe(const cli::Arguments& arguments);
int agents_token(const cli::Arguments& arguments);
int agents_revoke(const cli::Arguments& arguments);
int agent_backends(const cli::Arguments& arguments);
int agent_vips(const cli::Arguments& arguments);
int agent_config(const cli::Arguments& arguments);
int history(const cli::Arguments& arguments);
int rollback(const cli::Arguments& arguments);
int gateway_api_classes(const cli::Arguments& arguments);
int gateway_api_gateways(const cli::Arguments& arguments);
int gateway_api_routes(const cli::Arguments& arguments);
int gateway_api_describe(const cli::Arguments& arguments);
int conformance(const cli::Arguments& arguments);
int config_view(const cli::Arguments& arguments);
int config_get_contexts(const cli::Arguments& arguments);
int config_use_context(const cli::Arguments& arguments);
int config_set_context(const cli::Arguments& arguments);

/// The match tree of what an agent runs, by the controller.
int dump_of_agent(std::string_view command, const cli::Arguments& arguments, const std::string& agent);

/// The whole table, of which man pages are made.
cli::Program table();

/// What completion offers for `KIND` and `KIND.FIELD`.
std::vector<std::string> complete_kind(const cli::Arguments& given, std::string_view typed);
std::vector<std::string> complete_field(const cli::Arguments& given, std::string_view typed);

}  // namespace edge::edgectl
