// Which routes serve which host, and which hosts each route serves, kept between compiles. Part of `compile`.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "compiler/cache/flat_order.h"
#include "compiler/ir/lower.h"
#include "program/read.h"

namespace edge::compiler {

/// Not thread-safe.
class ServedHosts {
 public:
  /// Keys of hosts, by listener and name, in a stable order.
  using Keys = std::set<ir::HostKey>;

  /// Starts over with all routes of `config`.
  void collect(const LinkedConfig& config);

  struct Moved {
    Keys touched;  ///< served before or after, and still served by some route
    Keys gone;     ///< not served by any route any more
    bool added = false;
  };
  /// Updates after these routes of `config` were replaced.
  Moved move(const LinkedConfig& config, const std::vector<std::uint32_t>& routes);

  const ir::HostRoutes& all() const { return routes_of_; }
  /// The same as a contiguous array.
  std::span<const ir::HostRoutes::value_type* const> in_order() { return in_order_.of(routes_of_); }
  const ir::HostRoutes::value_type& at(const ir::HostKey& key) const { return *routes_of_.find(key); }

  /// Returns all hosts connected to `keys` through routes that serve several.
  Keys together(const Keys& keys) const;

 private:
  ir::HostRoutes routes_of_;
  FlatOrder<ir::HostRoutes> in_order_;
  /// By route; the keys are owned by routes_of_.
  std::vector<std::vector<const ir::HostKey*>> hosts_of_;
};

/// Returns the hash of everything that the section and the proof of a host are made from.
program::Hash host_inputs(const LinkedConfig& config, const ir::HostKey& host,
                          const std::vector<std::uint32_t>& routes);

}  // namespace edge::compiler
