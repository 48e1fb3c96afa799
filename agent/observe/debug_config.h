// /debug/config: what the agent serves by, in short.
#pragma once

#include <string>

#include "runtime/session/server.h"

namespace edge::agent {

/// JSON: the running program, its listeners with the addresses that were bound, how much there is of everything, and
/// the secrets that are missing or of no use. No values.
std::string config_document(const runtime::Server& server);

}  // namespace edge::agent
