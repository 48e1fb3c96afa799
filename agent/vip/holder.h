// Manages the virtual addresses of this node: applies the decisions of Assignment to the kernel. A thread of its own
// exchanges messages with other agents, refreshes the kernel's addresses, and watches the links.
//
//   Addresses (controller), listeners (this agent), links (kernel), messages (other agents)
//     -> Assignment -> addresses of the kernel, gratuitous ARP, messages
//
// The kernel removes an address two seconds after its last refresh, so that a process that is killed, or hangs, loses
// its addresses by itself. docs/virtual-addresses.md, decisions 113 and 114.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/vip/addresses.h"
#include "base/log.h"
#include "base/result.h"
#include "metrics/exposition.h"
#include "net/socket.h"

namespace edge::agent::vip {

struct HolderOptions {
  std::string name;           ///< of the agent
  Labels labels;              ///< for node selectors
  net::SocketAddress listen;  ///< address for messages of other agents; port 0: chosen by the system
  /// File that stores whether the node is drained, and the addresses handed over to another process. Created when
  /// missing.
  std::string state_file;
  std::string bird_directory;  ///< run directory of BIRD, for mode BGP
  std::string bird = "bird";   ///< the program
  Logger log;
  /// How long connections to an address that moved to another node are kept.
  std::chrono::nanoseconds drain_timeout = std::chrono::seconds(30);
  /// Returns the addresses of the running program. On the holder's thread.
  std::function<std::vector<ServedAddress>()> served;
  /// Called when the node's addresses changed. On the holder's thread; must not wait for it.
  std::function<void()> moved;
};

/// Threads: any.
class Holder {
 public:
  /// Fails when the kernel's addresses cannot be read at all. Other problems are reported per address.
  static Result<std::unique_ptr<Holder>> start(HolderOptions options);
  /// Removes every address that it added.
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void set_addresses(Addresses addresses);
  /// Called when the program or its listeners have changed.
  void look_again();
  /// Returns the version of the addresses in use; 0: none yet.
  std::uint64_t version() const;
  /// Ascending by namespace and name; without sites.
  std::vector<AddressState> states() const;
  /// Returns whether this node holds the tunnels of a site, `namespace/name`.
  bool holds_site(const std::string& site) const;
  std::vector<std::string> live_nodes() const;
  std::uint16_t port() const;

  /// Moves an address of this node to another node; `to` empty: the one that would take it over. kNotFound: there is no
  /// such address; kFailedPrecondition: this node does not have it, or no other node serves it.
  Status move(const std::string& name_space, const std::string& name, const std::string& to);
  /// Takes no address any more, and gives away those that other nodes serve. Persists across restarts.
  Status drain(bool drained);
  bool drained() const;
  /// Called when the process shuts down: gives addresses to nodes that serve them, and waits up to two seconds: until
  /// they are there, and for another second, as who has not heard of it connects here. Listeners are to stay open as
  /// long. The rest stays as long as this object, so that connections can be drained.
  void leave();
  /// After `leave`: waits until no connections of other nodes are forwarded, which end with this object; at most until
  /// the drain time is over.
  void finish_forwarding();
  /// Called when another process of this node takes over: the addresses stay, and this object does nothing more.
  void hand_over();

  void write_metrics(metrics::Exposition& out) const;

 private:
  struct Impl;
  explicit Holder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::vip
