// The agent's part in the SD-WAN: what the controller assigns to its site is measured and set up, what policies choose
// is steered, and both are reported.
//
//   SiteAssignment -> WanNode (tunnels, steering) <-> Measurer (probes, choices) -> SiteState
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/measurer.h"
#include "agent/wan/node/gateway_turns.h"
#include "agent/wan/node/node.h"
#include "base/log.h"
#include "base/result.h"
#include "metrics/exposition.h"

namespace edge::agent::wan {

struct SiteAssignment {
  std::uint64_t version = 0;
  WantedNode node{};    ///< its site is empty: the agent is a node of none
  Measured measured{};  ///< tunnels as in `node`, without their interfaces
  std::string fault{};  ///< why the site has no tunnels, or not all; empty: nothing is wrong
};

struct SiteState {
  bool active = false;  ///< this node holds the site's tunnels
  SiteAssignment assignment{};
  MeasuredState measured{};  ///< by the positions of the assignment
  NodeState node{};
  std::vector<std::string> faults{};
};

struct SiteOptions {
  Logger log;
  /// Called on a thread of the site when something is worth a report at once; may be null.
  std::function<void()> changed;
  /// As NodeOptions::gateways; may be null.
  std::function<void(const std::vector<GatewayTurn>&)> gateways{};
};

void write_metrics(const SiteState& now, metrics::Exposition& out);

/// Threads: any.
class Site {
 public:
  static Result<std::unique_ptr<Site>> start(SiteOptions options);
  /// Takes everything away.
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  void set(SiteAssignment assignment);
  /// Another process of this node takes over: tunnels and steering stay as they are, and this object does nothing more.
  void hand_over();
  /// Whether this node is the one of its site that holds the tunnels.
  void set_active(bool active);
  SiteState state() const;
  std::uint64_t version() const;
  /// Another number once something is worth a report at once.
  std::uint64_t changes() const;
  void write_metrics(metrics::Exposition& out) const { wan::write_metrics(state(), out); }

 private:
  struct Impl;
  explicit Site(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::wan
