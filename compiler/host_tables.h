// Makes the tables of the hosts that a compile rebuilds. Routes that cannot be served together with the others of a
// host (a pattern that no engine accepts, more conditions than a host may test) are excluded, and their hosts rebuilt
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

/// Not thread-safe. All arguments must outlive this object.
class HostTables {
 public:
  using Keys = ServedHosts::Keys;
  /// Runs the stages from a host's routes to its tables.
  using Stages = std::function<void(HostWork&)>;

  HostTables(CheckedRoutes& routes, const ServedHosts& served, RegexSets& regexes, CompileStats& stats)
      : routes_(routes), served_(served), regexes_(regexes), stats_(stats) {}

  /// Makes the hosts of `stale`, and those of routes that are newly refused, or not refused any more.
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
