// The settings of a program apart from its rules, as a flat list, for comparison.
#pragma once

#include <map>
#include <string>

#include "program/read.h"

namespace edge::compiler::analyze {

/// By name, such as `backend demo/stable, requestTimeout` -> `5s`. What is off or absent is omitted.
using Settings = std::map<std::string, std::string>;

Settings settings_of(const program::ProgramView& program);

}  // namespace edge::compiler::analyze
