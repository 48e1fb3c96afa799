// Routes that a host cannot be made with: those whose patterns Hyperscan refuses, and those that make the host larger
// than one may be. Part of `compile`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/cache/regex_sets.h"
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
                                         const std::vector<PatternRefusal>& refusals);

/// Different headers and query keys that the routes of one host may test: each request that comes so far pays for all.
inline constexpr std::size_t kMaxHostSlots = 4096;

/// The routes to leave out so that `host` keeps within `limit`: none in the usual case. The older route holds, the
/// newer is told so (kTooMany).
std::vector<RouteRefusal> routes_over_limit(const LinkedConfig& config, const ir::Host& host, std::size_t limit);

}  // namespace edge::compiler
