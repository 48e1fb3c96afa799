// How far changes of objects have come to agents, as the API's JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/distribute/progress.h"

namespace edge::edgectl::web {

/// nullopt: the body is not a ProgressRequest, or asks about too many objects.
std::optional<std::vector<controller::ObjectVersion>> read_progress_request(const std::string& body);

/// `over`: no agent will come further by itself; `failed`: and not all have what was asked about.
nlohmann::ordered_json progress_json(const std::vector<controller::ObjectVersion>& objects,
                                     const controller::Progress& progress);

}  // namespace edge::edgectl::web
