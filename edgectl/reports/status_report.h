// The status of an installation, part by part; unreachable parts are reported as such, without affecting others.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/flags.h"

namespace edge::edgectl {

/// Contains health, problems, client, orchestrator, operator, clusters, controller, agents, webUI, resources.
nlohmann::ordered_json status_report(const cli::Arguments& arguments);
std::string status_text(const nlohmann::ordered_json& report);
/// Returns whether neither the resource API nor the controller answered.
bool nothing_reached(const nlohmann::ordered_json& report);

}  // namespace edge::edgectl
