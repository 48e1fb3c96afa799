// The explanation of a request's routing as data: what `edgectl explain -o json` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/analyze/explain/explain.h"

namespace edge::edgectl {

nlohmann::ordered_json explanation_json(const compiler::analyze::Explanation& explanation);

}  // namespace edge::edgectl
