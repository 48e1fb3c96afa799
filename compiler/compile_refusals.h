// Patterns that Hyperscan refuses, back to the routes that they were written in. Part of `compile`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/compile_regex.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"
#include "program/read.h"

namespace edge::compiler {

/// A route to be left out, and what its author is told.
struct RouteRefusal {
  std::uint32_t route;
  Diagnostic diagnostic;
};

/// The routes of `host` that ask for a refused pattern, one entry each match. `section` is what `host` was emitted to.
std::vector<RouteRefusal> routes_refused(const LinkedConfig& config, const ir::Host& host,
                                         const program::SectionView& section,
                                         const std::vector<RegexSets::Refusal>& refusals);

}  // namespace edge::compiler
