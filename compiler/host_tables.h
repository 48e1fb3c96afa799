// The tables of the hosts that a compile makes anew. Routes that cannot be served together with the others of a host (a
// pattern that no engine takes, more conditions than a host may test) are left out, and their hosts are made again
// without them. Part of `compile`.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "base/result.h"
#include "compiler/cache/compiled_hosts.h"
#include "compiler/cache/regex_sets.h"
#include "compiler/cache/served_hosts.h"
#include "compiler/checked_routes.h"
#include "compiler/compile_stats.h"

namespace edge::compiler {

/// Not thread-safe. What it is given outlives it.
class HostTables {
 public:
  using Keys = ServedHosts::Keys;
  /// The stages from a host's routes to its tables.
  using Stages = std::function<void(HostWork&)>;

  HostTables(CheckedRoutes& routes, const ServedHosts& served, RegexSets& regexes, CompileStats& stats)
      : routes_(routes), served_(served), regexes_(regexes), stats_(stats) {}

  /// Makes the hosts of `stale`, and those that a route which is refused now, or no longer, leaves or comes back to.
  Result<std::vector<HostWork>> make(const LinkedConfig& config, Keys stale, const Stages& stages);

 private:
  std::vector<HostWork> run(const Keys& keys, const Stages& stages) const;
  bool retry_refused(const LinkedConfig& config, const Keys& keys);
  Status refuse(const LinkedConfig& config, std::vector<HostWork>& works, const Stages& stages);
  Status refuse_patterns(const LinkedConfig& config, std::vector<HostWork>& works, const Stages& stages);
  static std::vector<HostWork*> run_again(const std::set<std::uint32_t>& routes, std::vector<HostWork>& works,
                                          const Stages& stages);

  CheckedRoutes& routes_;
  const ServedHosts& served_;
  RegexSets& regexes_;
  CompileStats& stats_;
};

}  // namespace edge::compiler
