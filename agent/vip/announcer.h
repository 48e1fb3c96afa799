// The addresses of mode BGP, announced by every node that serves them: makes announcements from the holder's knowledge.
// docs/virtual-addresses.md, decision 138.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/bgp/speaker.h"
#include "agent/vip/addresses.h"
#include "agent/vip/assignment.h"
#include "agent/vip/netlink.h"
#include "agent/vip/placement.h"
#include "base/log.h"
#include "metrics/exposition.h"

namespace edge::agent::vip {

/// How long an address is announced with GRACEFUL_SHUTDOWN before its withdrawal: routers choose others meanwhile.
inline constexpr Time kNotice = std::chrono::seconds(1);
/// How long routers may still send packets after the withdrawal.
inline constexpr Time kWithdrawal = std::chrono::milliseconds(300);

/// The conditions of an address's announcement.
struct Candidate {
  bool fit = false;      ///< this node serves it, and so do enough others
  bool departs = false;  ///< this node is drained, or shuts down
  bool others = false;   ///< another node serves it
};

/// The progress of an address's withdrawal.
struct Departure {
  Time since{};      ///< Time(0): it is not being withdrawn
  Time withdrawn{};  ///< Time(0): not yet
};
/// \returns whether it is announced at `now`.
bool still_announced(Departure& departure, const Candidate& candidate, Time now);

/// Called under the holder's lock, threads: any.
class Announcer {
 public:
  explicit Announcer(bgp::SpeakerOptions options) : options_(std::move(options)) {}

  /// Takes over the BIRD of an earlier process, if it is running.
  void begin();
  /// Adds the address to the loopback interface while this node can serve it. Marks the placement unfit when that
  /// fails. \returns whether it was added.
  bool hold(const VirtualAddress& address, Placement& placement, Netlink& netlink);
  /// Returns the link that it was added to; 0: none.
  int link(std::uint64_t id) const;
  /// Removes addresses that are not in the list any more.
  void sweep(const std::vector<VirtualAddress>& addresses, Netlink& netlink);

  /// Starts BIRD with the first address, and stops it with the last. `departs`: this node is drained, or shuts down.
  void step(const std::vector<VirtualAddress>& addresses, const Assignment& assignment, bool departs, Time now);
  /// Whether nothing is announced any more that other nodes serve, for so long that routers know, and what nobody else
  /// serves has been announced for kNotice as about to go away. Before the first step in which this node departs:
  /// whether there is nothing to announce.
  bool departed() const { return announcements_.empty() || (departs_ && !waits_); }
  /// Sets in an address's state whether it is announced, its sessions, and errors.
  void fill(AddressState& state) const;
  void hand_over();
  /// Stops BIRD, which withdraws the routes, and removes the addresses.
  void stop(Netlink& netlink);

  static void write_metrics(const std::vector<AddressState>& states, metrics::Exposition& out);

 private:
  bool start();

  bgp::SpeakerOptions options_;
  std::unique_ptr<bgp::Speaker> speaker_;
  std::string fault_;  ///< why there is no speaker
  struct Kept {
    int link = 0;
    IpAddress address;
  };
  std::map<std::uint64_t, Kept> kept_;
  std::set<std::uint64_t> fit_;       ///< as far as this node alone decides
  std::set<std::uint64_t> excluded_;  ///< not selected for this node
  std::map<std::uint64_t, Departure> departures_;
  std::vector<bgp::Announcement> announcements_;
  bool departs_ = false;
  bool waits_ = false;  ///< for routers to choose others
};

}  // namespace edge::agent::vip
