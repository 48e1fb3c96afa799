// LinkedConfig -> MatchIr. Rules D1, D2, D5; decision 81. Works host by host, so that one edit lowers what it touches
// alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::ir {

/// The hosts that one route serves on its listeners: the intersection of its names with each listener's; a route
/// without names serves "every host" (of that listener).
std::vector<HostKey> hosts_of(const LinkedConfig& config, const LinkedRoute& route);

/// All hosts of all routes.
HostRoutes collect_hosts(const LinkedConfig& config);

/// What each route's expression and patterns were parsed to. Parsing is the costly part, so it happens once a route and
/// is kept between compiles by whoever owns this object. Not thread-safe.
class PreparedRoutes {
 public:
  PreparedRoutes();
  ~PreparedRoutes();
  PreparedRoutes(PreparedRoutes&&) noexcept;
  PreparedRoutes& operator=(PreparedRoutes&&) noexcept;

  /// Parses every route anew, or one of them. Faults go to `diagnostics`; a route at fault is not usable and is left
  /// out of every host: a route is never widened by a fault in it.
  void prepare(const LinkedConfig& config, Diagnostics& diagnostics);
  void prepare_one(const LinkedConfig& config, std::uint32_t route, Diagnostics& diagnostics);
  /// Makes a route unusable after the fact: Hyperscan refused one of its patterns.
  void refuse(std::uint32_t route);
  bool usable(std::uint32_t route) const;

 private:
  friend Host lower_host(const LinkedConfig&, const PreparedRoutes&, const HostKey&, const std::vector<std::uint32_t>&);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Lowers one host; `opt/` has to number it before tables are emitted. Pure: the result depends on the routes named
/// alone, in whatever order they come.
Host lower_host(const LinkedConfig& config, const PreparedRoutes& prepared, const HostKey& key,
                const std::vector<std::uint32_t>& routes);

}  // namespace edge::compiler::ir
