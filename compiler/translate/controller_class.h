// Whose gateways and classes are served (rule D8), for callers that have another class than the default one.
#pragma once

#include <string_view>

#include "compiler/model/resource_set.h"

namespace edge::compiler::translate {

/// The stages serve the class `usual`. So that they serve `ours`, these two change places in `resources`; a gateway
/// that names no class is of `usual`.
void serve_class(std::string_view ours, std::string_view usual, model::ResourceSet& resources);

}  // namespace edge::compiler::translate
