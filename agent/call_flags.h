// Flags of what an agent asks on its own behalf: name servers, authorization services, identity providers.
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

/// The value of --name-servers: IP addresses with commas between, each with a port or without, for c-ares.
Result<std::string> read_name_servers(std::string_view text);

}  // namespace edge::agent
