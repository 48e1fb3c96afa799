// Which gateway has which address of the ProxyVIPs that are pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ip.h"
#include "compiler/model/gateway.h"

namespace edge::compiler::link {

/// Addresses that one pool gives out at most: its status lists them.
inline constexpr std::size_t kMostOfPool = 1000;

/// A gateway that is to have an address.
struct PoolRequest {
  std::uint32_t gateway = 0;
  std::vector<std::uint32_t> pools{};  ///< positions of ProxyVIPs; the first that has a free address gives one
};

struct PoolGrant {
  std::uint32_t vip = 0;
  IpAddress address{};
};

/// Whether `address` lies in a block of the pool.
bool is_in_pool(const model::ProxyVip& vip, const IpAddress& address);

/// Gives each request an address of its own, in their order; nullopt: there is none left.
///
/// A gateway keeps the address that the status of the ProxyVIP says it has. Of the others the older is asked first, and
/// begins to look at a place that its name decides, so that without a status, too, few addresses move when a gateway
/// comes or goes. No address is given out that a ProxyVIP is, that a gateway names itself, or that `others` have. A
/// function of the arguments, whatever their order; its cost grows with the addresses that are given out, not with the
/// blocks.
std::vector<std::optional<PoolGrant>> allocate(const std::vector<PoolRequest>& requests,
                                               const std::vector<model::ProxyGateway>& gateways,
                                               const std::vector<model::ProxyVip>& vips,
                                               const std::vector<IpAddress>& others);

}  // namespace edge::compiler::link
