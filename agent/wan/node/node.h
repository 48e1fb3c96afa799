// A site's node: its tunnels, which traffic takes which, and how much of a link each may have. What measures the
// tunnels tells it what policies choose.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/wan/node/gateway_turns.h"
#include "agent/wan/node/wanted_node.h"
#include "agent/wan/tunnel/tunnels.h"
#include "base/log.h"
#include "base/result.h"

namespace edge::agent::wan {

struct NodeState {
  TunnelsState tunnels;
  std::vector<std::string> faults;  ///< of all parts, a sentence each
  friend bool operator==(const NodeState&, const NodeState&) = default;
};

struct NodeOptions {
  Logger log;
  std::function<void()> changed;  ///< called on a thread of the node when `state` has changed; may be null
  /// Called on a thread of the node with the marks of the proxy's own connections when they have changed, after the
  /// rules that steer them are in force; may be null.
  std::function<void(const std::vector<GatewayTurn>& gateways)> gateways{};
};

/// Threads: any.
class WanNode {
 public:
  /// Starts threads in the network namespace of the caller. What an earlier process left stays as it is until the first
  /// `set`. kPermissionDenied without CAP_NET_ADMIN.
  static Result<std::unique_ptr<WanNode>> start(NodeOptions options);
  /// Whether an earlier process left something that a start would remove.
  static bool has_leftovers();
  /// Removes all that it made.
  ~WanNode();
  WanNode(const WanNode&) = delete;
  WanNode& operator=(const WanNode&) = delete;

  /// What drops is in force before tunnels change. An empty site: nothing is to be there.
  void set(WantedNode wanted);
  /// Takes effect within milliseconds, whatever is being changed at the time. Of the assignment that was set last.
  void choose(NodeChoices choices);
  NodeState state() const;
  /// Another process takes over: this one changes nothing more, and leaves what is in the kernel.
  void hand_over();

 private:
  struct Impl;
  explicit WanNode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::wan
