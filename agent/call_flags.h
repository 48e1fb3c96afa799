// Flags for the agent's own outgoing requests: name servers, authorization services, identity providers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "runtime/session/server.h"

namespace edge::agent {

std::vector<cli::Flag> call_flags();
Status read_call_flags(const cli::Arguments& arguments, runtime::ServerOptions& options);

/// Parses --name-servers: IP addresses separated by commas, each with or without a port, for c-ares.
Result<std::string> read_name_servers(std::string_view text);

}  // namespace edge::agent
