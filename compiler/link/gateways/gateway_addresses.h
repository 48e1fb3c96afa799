// The address of each gateway that names a ProxyVIP, or gets one of a pool.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "compiler/link/gateways/address_pools.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {

/// Rule D8: a gateway of another class is another controller's.
bool is_of_other_class(const model::ProxyGateway& gateway);

/// What one gateway has, beside addresses that it was given as such. Neither `address` nor `reason`: it asks for none.
struct AddressState {
  std::optional<IpAddress> address{};
  std::uint32_t vip = 0;      ///< position of the ProxyVIP that has it
  std::string_view reason{};  ///< of Programmed: why it has none (conditions.h)
  std::string message{};
};

/// To be asked in this order: find() for every gateway, give(), then the rest.
class GatewayAddresses {
 public:
  GatewayAddresses(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets);

  /// Finds the VIP that the gateway names, and which pools may give it an address.
  void find(std::uint32_t index, Findings& findings);
  void give();
  AddressState of(std::uint32_t index) const;
  /// Adds the statuses of pools, by which the next compile gives the same addresses.
  void add_statuses(std::vector<ResourceStatus>& statuses) const;

 private:
  std::vector<std::uint32_t> pools_for(std::string_view space, Findings& findings) const;
  std::vector<IpAddress> keep_those_of_others();
  void use(std::uint32_t pool, const IpAddress& address, const model::Metadata& gateway);

  const std::vector<model::ProxyGateway>& gateways_;
  const GatewayTargets& targets_;
  std::vector<std::uint32_t> pools_;           ///< positions of the ProxyVIPs that are pools
  std::vector<std::optional<Resolved>> vips_;  ///< by position of the gateway; nullopt: it names none
  std::vector<PoolRequest> requests_;
  std::map<std::uint32_t, std::optional<PoolGrant>> grants_;  ///< of those that are to have an address of a pool
  std::map<std::uint32_t, std::vector<PoolUse>> uses_;        ///< by position of the ProxyVIP
};

}  // namespace edge::compiler::link
