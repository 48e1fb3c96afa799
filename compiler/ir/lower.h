// LinkedConfig -> MatchIr. Rules D1, D2, D5; decision 81. Works host by host, so that one edit lowers only what it
// affects.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::ir {

/// Returns the hosts that one route serves on its listeners: the intersection of its names with each listener's; a
/// route without names serves "every host" (of that listener).
std::vector<HostKey> hosts_of(const LinkedConfig& config, const LinkedRoute& route);

/// Returns all hosts of all routes.
HostRoutes collect_hosts(const LinkedConfig& config);

/// The parsed expressions and patterns of each route. Parsing is expensive, so that it is done once per route and kept
/// between compiles by the owner of this object. Not thread-safe.
class PreparedRoutes {
 public:
  PreparedRoutes();
  ~PreparedRoutes();
  PreparedRoutes(PreparedRoutes&&) noexcept;
  PreparedRoutes& operator=(PreparedRoutes&&) noexcept;

  /// Parses every route, or one of them. Errors go to `diagnostics`; an invalid route is not usable and is excluded
  /// from every host: an error never widens a route.
  void prepare(const LinkedConfig& config, Diagnostics& diagnostics);
  void prepare_one(const LinkedConfig& config, std::uint32_t route, Diagnostics& diagnostics);
  /// Makes a route unusable afterwards: Hyperscan rejected one of its patterns.
  void refuse(std::uint32_t route);
  bool usable(std::uint32_t route) const;

 private:
  friend Host lower_host(const LinkedConfig&, const PreparedRoutes&, const HostKey&, const std::vector<std::uint32_t>&);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Lowers one host; `opt/` must number it before tables are emitted. Pure: the result depends only on the routes given,
/// in any order.
Host lower_host(const LinkedConfig& config, const PreparedRoutes& prepared, const HostKey& key,
                const std::vector<std::uint32_t>& routes);

}  // namespace edge::compiler::ir
