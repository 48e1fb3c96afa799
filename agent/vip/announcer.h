// The addresses of mode BGP: every node that serves one announces it. What a holder knows of them -> announcements.
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

/// An address that goes away is announced so for that long before it is withdrawn: routers choose others by then.
inline constexpr Time kNotice = std::chrono::seconds(1);
/// After it is withdrawn, routers may still send for that long.
inline constexpr Time kWithdrawal = std::chrono::milliseconds(300);

/// What is known of an address that is announced, or could be.
struct Candidate {
  bool fit = false;      ///< this node serves it, and enough others do
  bool departs = false;  ///< this node is drained, or ends
  bool others = false;   ///< another node serves it
};

/// When the announcement of an address that goes away changes.
struct Departure {
  Time since{};      ///< Time(0): it does not go away
  Time withdrawn{};  ///< Time(0): not yet
};
/// \returns whether it is announced at `now`.
bool still_announced(Departure& departure, const Candidate& candidate, Time now);

/// Called under the holder's lock, from any thread.
class Announcer {
 public:
  explicit Announcer(bgp::SpeakerOptions options) : options_(std::move(options)) {}

  /// Goes on with the BIRD of a process before this one, where that runs.
  void begin();
  /// Has the loopback interface have the address as long as this node can serve it. What cannot be added makes the
  /// placement unfit. \returns whether it came.
  bool hold(const VirtualAddress& address, Placement& placement, Netlink& netlink);
  /// The link that it was put on; 0: it was not.
  int link(std::uint64_t id) const;
  /// Takes back what none of the addresses is any more.
  void sweep(const std::vector<VirtualAddress>& addresses, Netlink& netlink);

  /// Starts BIRD with the first address, and ends it with the last. `departs`: this node is drained, or ends.
  void step(const std::vector<VirtualAddress>& addresses, const Assignment& assignment, bool departs, Time now);
  /// Whether nothing is announced any more that other nodes serve, for so long that routers know, and what nobody else
  /// serves has been announced for kNotice as about to go away. Before the first step in which this node departs:
  /// whether there is nothing to announce.
  bool departed() const { return announcements_.empty() || (departs_ && !waits_); }
  /// Says of an address whether it is announced, its sessions, and what is wrong.
  void fill(AddressState& state) const;
  void hand_over();
  /// Ends BIRD, which withdraws what is announced, and takes back the addresses.
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
  std::set<std::uint64_t> fit_;       ///< as far as this node alone decides it
  std::set<std::uint64_t> excluded_;  ///< not for this node
  std::map<std::uint64_t, Departure> departures_;
  std::vector<bgp::Announcement> announcements_;
  bool departs_ = false;
  bool waits_ = false;  ///< for routers to choose others
};

}  // namespace edge::agent::vip
