// Serves /debug/config: a summary of the configuration that the agent runs.
#pragma once

#include <string>

#include "runtime/session/server.h"

namespace edge::agent {

/// Writes JSON: the running program, its listeners with their bound addresses, counts of its parts, and missing or
/// invalid secrets. Without values.
std::string config_document(const runtime::Server& server);

}  // namespace edge::agent
