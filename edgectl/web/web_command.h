// Serves the dashboard until a signal ends it: for `edgectl web`, and for the process that edge-standalone has for it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl::web {

/// The flags of the server itself. Those by which the resource API, the controller and the agents are found
/// (target_flags, agent_page_flags, `--controller-class`) belong to the command.
std::vector<cli::Flag> server_flags();

/// Takes all of these flags. \returns the exit code.
int serve_web(const cli::Arguments& arguments);

/// The first word of the command line of edge-standalone's child.
inline constexpr const char* kWebWord = "web";
/// To be called first in main() of a program that starts itself as the dashboard's server: serves where the command
/// line asks for it, until a signal comes or the parent ends; nullopt: it does not.
std::optional<int> serve_web_child(int argc, const char* const* argv);

}  // namespace edge::edgectl::web
