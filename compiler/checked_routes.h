// The parsed routes of a configuration, the routes that are excluded from all hosts, and diagnostics of single routes;
// kept between compiles. Part of `compile`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/ir/lower.h"
#include "compiler/link/linked_config.h"
#include "compiler/route_refusals.h"

namespace edge::compiler {

/// Not thread-safe.
class CheckedRoutes {
 public:
  /// Parses all routes. None is refused then.
  void check_all(const LinkedConfig& config);
  /// The same for one route.
  void check(const LinkedConfig& config, std::uint32_t route);
  /// Excludes a route that is invalid in combination with others, until it is checked again.
  void refuse(RouteRefusal refusal);

  const ir::PreparedRoutes& prepared() const { return prepared_; }
  const std::set<std::uint32_t>& refused() const { return refused_; }

  void report(Diagnostics& diagnostics) const;
  /// Returns `Accepted` of the excluded routes.
  std::vector<ResourceStatus> statuses(const LinkedConfig& config) const;

 private:
  ir::PreparedRoutes prepared_;
  std::set<std::uint32_t> refused_;
  std::map<std::uint32_t, std::vector<Diagnostic>> remarks_;
};

}  // namespace edge::compiler
