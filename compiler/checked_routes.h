// The routes of a configuration as they were parsed, those that are left out of every host, and what is reported of
// single routes; kept between compiles. Part of `compile`.
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
  /// Parses all routes anew. None is refused then.
  void check_all(const LinkedConfig& config);
  /// The same for one.
  void check(const LinkedConfig& config, std::uint32_t route);
  /// Leaves a route out for what it is together with others, until it is checked again.
  void refuse(RouteRefusal refusal);

  const ir::PreparedRoutes& prepared() const { return prepared_; }
  const std::set<std::uint32_t>& refused() const { return refused_; }

  void report(Diagnostics& diagnostics) const;
  /// `Accepted` of the routes that are left out.
  std::vector<ResourceStatus> statuses(const LinkedConfig& config) const;

 private:
  ir::PreparedRoutes prepared_;
  std::set<std::uint32_t> refused_;
  std::map<std::uint32_t, std::vector<Diagnostic>> remarks_;
};

}  // namespace edge::compiler
