// Routes that cannot be part of a host: those whose patterns Hyperscan rejects, and those that exceed a host's limits.
// Part of `compile`.
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

/// A route to be excluded, and the diagnostic for its author.
struct RouteRefusal {
  std::uint32_t route;
  Diagnostic diagnostic;
};

/// Returns the routes of `host` that use a refused pattern, one entry per match. `section` is the emitted form of
/// `host`.
std::vector<RouteRefusal> routes_refused(const LinkedConfig& config, const ir::Host& host,
                                         const program::SectionView& section,
                                         const std::vector<PatternRefusal>& refusals);

/// Limit of different headers and query keys in the rules of one host: each request that gets this far pays for all.
inline constexpr std::size_t kMaxHostSlots = 4096;

/// Returns the routes to exclude so that `host` stays within `limit`: mostly none. The older route is kept, the newer
/// one reported (kTooMany).
std::vector<RouteRefusal> routes_over_limit(const LinkedConfig& config, const ir::Host& host, std::size_t limit);

}  // namespace edge::compiler
