// What can be learned of an installation, part by part; a part that cannot be reached says so, and the others stand.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/flags.h"

namespace edge::edgectl {

/// health, problems, client, orchestrator, operator, clusters, controller, agents, webUI, resources.
nlohmann::ordered_json status_report(const cli::Arguments& arguments);
std::string status_text(const nlohmann::ordered_json& report);
/// Neither the resource API nor the controller answered.
bool nothing_reached(const nlohmann::ordered_json& report);

}  // namespace edge::edgectl
