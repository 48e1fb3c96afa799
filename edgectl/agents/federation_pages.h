// The controller's pages about federation (docs/federation.md), asked as an administrator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "controller/distribute/inspect_client.h"

namespace edge::edgectl {

/// Names and values; those that are empty are left out.
using PageParameters = std::vector<std::pair<std::string, std::string>>;

/// Returns the object of one page, below `/federation/`. Refusals of the controller are errors of their kind:
/// kFailedPrecondition where it does not lead, is older, or there is no federation.
Result<nlohmann::json> ask_federation(controller::InspectClient& controller, const std::string& method,
                                      const std::string& page, const PageParameters& parameters);
/// Returns the items of all pages of a list.
Result<nlohmann::json> ask_federation_list(controller::InspectClient& controller, const std::string& page,
                                           PageParameters parameters);

}  // namespace edge::edgectl
