// What a program says beside its rules, as a flat list: two programs say the same when their lists are equal.
#pragma once

#include <map>
#include <string>

#include "program/read.h"

namespace edge::compiler::analyze {

/// By name, e.g. `backend demo/stable, requestTimeout` -> `5s`. What is off or absent is left out.
using Settings = std::map<std::string, std::string>;

Settings settings_of(const program::ProgramView& program);

}  // namespace edge::compiler::analyze
