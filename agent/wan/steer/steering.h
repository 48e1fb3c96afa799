// Which tunnel each packet takes, as the kernel is told it: rules of policies in their order, what each policy has
// chosen for each site, and which tunnels live. Plain values; rules_text makes nftables' text of them.
//
// A flow stays on the tunnel that it began with until that is dead: the kernel's table of connections keeps its number.
// The site that began a flow steers it in both directions; the other one answers by the tunnel that it came by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/tunnel/marks.h"
#include "base/ip.h"

namespace edge::agent::wan {

enum class SteerProtocol : std::uint8_t { kTcp, kUdp, kIcmp };

/// One class of traffic. An empty list is any value.
struct SteerRule {
  std::size_t policy = 0;  ///< of Steering::policies
  std::vector<Cidr> sources{};
  std::vector<Cidr> destinations{};
  std::vector<SteerProtocol> protocols{};
  std::vector<std::uint16_t> ports{};  ///< of the destination
  std::vector<std::uint8_t> dscp{};
  std::vector<std::uint32_t> gateways{};  ///< of the proxy's own connections, [0, kMostGateways); empty: all traffic
  friend bool operator==(const SteerRule&, const SteerRule&) = default;
};

/// Classes of traffic for the bandwidth of a link, the first one first.
enum class TrafficClass : std::uint8_t { kVoice, kDefault, kBulk };

/// The tunnels that a policy's new flows to a site take: shares by weight. None: they are dropped.
struct SteerShare {
  std::uint32_t slot = 0;  ///< marks.h
  std::uint32_t weight = 1;
  friend bool operator==(const SteerShare&, const SteerShare&) = default;
};
struct SteerChoice {
  std::vector<SteerShare> shares{};
  bool dropped = false;
  friend bool operator==(const SteerChoice&, const SteerChoice&) = default;
};

struct SteerPolicy {
  std::optional<std::uint8_t> dscp{};           ///< that its packets are given
  std::optional<TrafficClass> traffic_class{};  ///< nullopt: by the packet's DSCP
  std::vector<SteerChoice> choices{};           ///< by site; one without shares that is not dropped is not steered
  friend bool operator==(const SteerPolicy&, const SteerPolicy&) = default;
};

struct SteerSite {
  std::vector<Cidr> prefixes{};
  std::vector<std::uint32_t> alive{};  ///< slots of tunnels that live
  friend bool operator==(const SteerSite&, const SteerSite&) = default;
};

/// An interface of a tunnel and its number.
struct SteerDevice {
  std::string name;
  std::uint32_t slot = 0;
  friend bool operator==(const SteerDevice&, const SteerDevice&) = default;
};

struct Steering {
  std::vector<Cidr> own{};  ///< networks of this site
  std::vector<SteerSite> sites{};
  std::vector<SteerRule> rules{};
  /// The last one holds for packets that no rule matches.
  std::vector<SteerPolicy> policies{};
  std::vector<SteerDevice> devices{};
  /// Addresses of the sites' ends within tunnels: what goes there by UDP or ICMP is not steered, as probes are bound to
  /// tunnels.
  std::vector<IpAddress> overlays{};
  friend bool operator==(const Steering&, const Steering&) = default;
};

/// The name of our table, of the family inet.
inline constexpr const char* kSteerTable = "edge_wan";

/// Returns the text that replaces our table in one transaction (nft -f).
std::string rules_text(const Steering& steering);
/// Returns the text that removes it.
std::string no_rules_text();

/// Disjoint ranges of addresses and the site of each, by the longest prefix; of equal ones the first. Own networks and
/// addresses of no site are left out.
struct SiteRange {
  IpAddress first{};
  IpAddress last{};
  std::size_t site = 0;
  friend bool operator==(const SiteRange&, const SiteRange&) = default;
};
std::vector<SiteRange> site_ranges(const Steering& steering);

}  // namespace edge::agent::wan
