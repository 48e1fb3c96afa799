// Which site a packet goes to, which policy holds for it, and which links that allows: LinkedWan -> SteeringTable, the
// table that agents turn into rules of their kernel, and that `edgectl sdwan explain` and the proofs ask.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/wan/linked_wan.h"

namespace edge::compiler {

struct WanPacket {
  IpAddress source{};
  IpAddress destination{};
  WanProtocol protocol = WanProtocol::kTcp;
  std::uint16_t port = 0;  ///< of the destination; 0 for protocols without ports
  std::uint8_t dscp = 0;
  std::string gateway{};  ///< `namespace/name` of the ProxyGateway whose traffic it is; empty: it is forwarded
};
/// `10.1.0.0 -> 10.2.0.0, UDP port 53, DSCP 46`.
std::string to_string(const WanPacket& packet);

/// A prefix and the site that it is at; a table has them by descending length, so that the first match is the longest.
struct SitePrefix {
  Cidr prefix{};
  std::uint32_t site = 0;
};

/// One `matches` entry of a policy, or a policy without any.
struct SteeringRule {
  std::uint32_t policy = 0;  ///< of LinkedWan::policies
  LinkedTraffic traffic{};
};

struct SteeringTable {
  std::vector<SitePrefix> prefixes{};
  /// Of every site the rules that hold there, the first that matches a packet is the one.
  std::vector<std::vector<SteeringRule>> rules{};
  /// Of every site its links by default order: those that are not metered first, primary before backup, then by cost
  /// and name.
  std::vector<std::vector<std::uint32_t>> links{};
};

SteeringTable make_steering(const LinkedWan& wan);

/// The enabled links of a site that a policy allows, in the order of preference; without a policy all of them.
std::vector<std::uint32_t> allowed_links(const LinkedWan& wan, const SteeringTable& table, std::uint32_t site,
                                         std::optional<std::uint32_t> policy);

struct Steering {
  std::optional<std::uint32_t> from{};  ///< site of the source
  std::optional<std::uint32_t> to{};    ///< site of the destination
  /// With both, and different ones: the policy that holds; nullopt: none, the site's links in their default order.
  std::optional<std::uint32_t> policy{};
  std::vector<std::uint32_t> links{};  ///< enabled links of the policy, in the order of preference
};
Steering steer(const LinkedWan& wan, const SteeringTable& table, const WanPacket& packet);

/// Returns the field of `spec.matches[]` that the packet does not match; nullopt: it matches.
std::optional<std::string_view> mismatch(const LinkedTraffic& traffic, const WanPacket& packet);

}  // namespace edge::compiler
