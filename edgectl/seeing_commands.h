// The commands that read what the edge does: their part of the table of commands (main.cc).
#pragma once

#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

std::vector<cli::Command> seeing_commands();

int debug_bundle(const cli::Arguments& arguments);
int log_level(const cli::Arguments& arguments);
int logs(const cli::Arguments& arguments);
int logs_access(const cli::Arguments& arguments);
int metrics_agent(const cli::Arguments& arguments);
int metrics_backends(const cli::Arguments& arguments);
int metrics_dashboard(const cli::Arguments& arguments);
int metrics_query(const cli::Arguments& arguments);
int metrics_top_backends(const cli::Arguments& arguments);
int metrics_top_routes(const cli::Arguments& arguments);
int metrics_vips(const cli::Arguments& arguments);
int status(const cli::Arguments& arguments);
int top(const cli::Arguments& arguments);

}  // namespace edge::edgectl
