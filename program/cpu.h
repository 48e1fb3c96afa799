// CPUs that programs are made for, and what runs on which.
#pragma once

#include <optional>
#include <string_view>

#include "program/format/file.h"

namespace edge::program {

/// `x86-64`, `x86-64-v2`, `x86-64-v3`, `aarch64`; `any` for tables alone.
std::string_view to_string(Target target);
std::optional<Target> parse_target(std::string_view text);

/// The highest level of the CPU that this process runs on.
Target this_cpu();

/// Whether a program made for `target` can be served by on `cpu`. Native code for a higher level is passed over
/// (LoadedProgram::load), so within an architecture every program runs; across them none does, as databases of patterns
/// are made for one. Decision 0059.
bool runs_on(Target target, Target cpu);

}  // namespace edge::program
