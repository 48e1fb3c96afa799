// The CPU targets of programs, and their compatibility.
#pragma once

#include <optional>
#include <string_view>

#include "program/format/file.h"

namespace edge::program {

/// Returns `x86-64`, `x86-64-v2`, `x86-64-v3`, `aarch64`; `any` for tables only.
std::string_view to_string(Target target);
std::optional<Target> parse_target(std::string_view text);

/// Returns the highest level of this machine's CPU.
Target this_cpu();

/// Returns whether a program for `target` can be served on `cpu`. Native code for a higher level is ignored
/// (LoadedProgram::load), so that within an architecture every program runs; across architectures none does, because
/// pattern databases are specific to one. Decision 0059.
bool runs_on(Target target, Target cpu);

}  // namespace edge::program
