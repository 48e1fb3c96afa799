// Formats a LinkedConfig for golden files: complete, sorted, without positions.
#pragma once

#include <string>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

std::string dump(const LinkedConfig& config);

}  // namespace edge::compiler::link
