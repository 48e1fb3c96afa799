#include "compiler/link/gateways/gateway_addresses.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/link/defaults.h"

namespace edge::compiler::link {
namespace {

/// VIPs of this namespace serve the gateways of every namespace.
constexpr std::string_view kSharedNamespace = "edge-system";
constexpr std::string_view kVip = "ProxyVIP";

/// The VIP of a gateway: in the namespace that it names, else its own, else the shared one.
Resolved find_vip(const model::ProxyGateway& gateway, const GatewayTargets& targets, Findings& findings) {
  const Located<std::string>& written = *gateway.vip_ref;
  model::Reference reference{.name = written};
  const std::size_t slash = written.value.find('/');
  if (slash != std::string::npos) {
    reference.name_space = written.value.substr(0, slash);
    reference.name.value = written.value.substr(slash + 1);
  }
  const bool own = reference.name_space.empty();
  const auto find_in = [&](std::string_view space) {
    findings.depends_on(kVip, space, reference.name.value);
    return targets.vip_names.find(kVip, space, reference.name.value);
  };
  if (own) {
    if (const auto found = find_in(gateway.metadata.name_space)) return {*found, ReferenceFault::kNone};
  }
  if (own || reference.name_space == kSharedNamespace) {
    if (const auto found = find_in(kSharedNamespace)) return {*found, ReferenceFault::kNone};
    if (!own) reference.name_space = gateway.metadata.name_space;  // the message is about the name, not a grant
  }
  return targets.vip_resolver.resolve(
      gateway.metadata, kVip, reference, [] { return std::string("spec.vipRef"); }, findings);
}

}  // namespace

bool is_of_other_class(const model::ProxyGateway& gateway) {
  return gateway.load_balancer_class && gateway.load_balancer_class->value != kDefaults.controller_class;
}

GatewayAddresses::GatewayAddresses(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets)
    : gateways_(gateways), targets_(targets), vips_(gateways.size()) {
  for (std::uint32_t i = 0; i < targets.vips.size(); ++i) {
    if (!targets.vips[i].pool.empty()) pools_.push_back(i);
  }
}

/// Pools that a gateway of this namespace gets an address from without naming one: its own, then the shared ones.
std::vector<std::uint32_t> GatewayAddresses::pools_for(std::string_view space, Findings& findings) const {
  std::vector<std::uint32_t> pools;
  for (const std::string_view wanted : {space, kSharedNamespace}) {
    findings.depends_on(kVip, wanted, "*");
    for (const std::uint32_t pool : pools_) {
      if (targets_.vips[pool].metadata.name_space != wanted) continue;
      if (std::ranges::find(pools, pool) == pools.end()) pools.push_back(pool);
    }
  }
  return pools;
}

void GatewayAddresses::find(std::uint32_t index, Findings& findings) {
  const model::ProxyGateway& gateway = gateways_[index];
  std::optional<Resolved>& vip = vips_[index];
  if (gateway.vip_ref) vip = find_vip(gateway, targets_, findings);
  if (!gateway.refused.empty() || is_of_other_class(gateway)) return;
  PoolRequest request{.gateway = index};
  if (vip && *vip && !targets_.vips[vip->position].pool.empty()) request.pools = {vip->position};
  if (gateway.takes_from_pool) request.pools = pools_for(gateway.metadata.name_space, findings);
  if (!request.pools.empty()) requests_.push_back(std::move(request));
  for (const Located<IpAddress>& address : gateway.addresses) {
    for (const std::uint32_t pool : pools_for(gateway.metadata.name_space, findings)) {
      if (is_in_pool(targets_.vips[pool], address.value)) use(pool, address.value, gateway.metadata);
    }
  }
}

void GatewayAddresses::use(std::uint32_t pool, const IpAddress& address, const model::Metadata& gateway) {
  uses_[pool].push_back({to_string(address), gateway.kind, gateway.name_space, gateway.name});
}

/// What gateways of other controllers have of a pool stays theirs.
std::vector<IpAddress> GatewayAddresses::keep_those_of_others() {
  if (pools_.empty()) return {};
  std::set<std::string> others;
  for (const model::Gateway& gateway : targets_.api_gateways) others.insert(gateway.metadata.text());
  for (const model::ProxyGateway& gateway : gateways_) {
    if (is_of_other_class(gateway)) {
      others.insert(gateway.metadata.text());
    } else {
      others.erase(gateway.metadata.text());
    }
  }
  std::vector<IpAddress> kept;
  for (const std::uint32_t pool : pools_) {
    for (const model::PoolAllocation& one : targets_.vips[pool].allocations) {
      if (!is_in_pool(targets_.vips[pool], one.address)) continue;
      if (!others.contains(resource_text(one.kind, one.name_space, one.name))) continue;
      kept.push_back(one.address);
      uses_[pool].push_back({to_string(one.address), one.kind, one.name_space, one.name});
    }
  }
  return kept;
}

void GatewayAddresses::give() {
  const std::vector<IpAddress> of_others = keep_those_of_others();
  const auto grants = allocate(requests_, gateways_, targets_.vips, of_others);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const std::uint32_t gateway = requests_[i].gateway;
    grants_[gateway] = grants[i];
    if (grants[i]) use(grants[i]->vip, grants[i]->address, gateways_[gateway].metadata);
  }
}

void GatewayAddresses::add_statuses(std::vector<ResourceStatus>& statuses) const {
  for (const std::uint32_t pool : pools_) {
    const model::ProxyVip& vip = targets_.vips[pool];
    ResourceStatus status{.kind = vip.metadata.kind,
                          .name_space = vip.metadata.name_space,
                          .name = vip.metadata.name,
                          .observed_generation = vip.metadata.generation};
    std::vector<PoolUse> all;
    if (const auto uses = uses_.find(pool); uses != uses_.end()) all = uses->second;
    std::ranges::sort(all, {}, [](const PoolUse& one) {
      return std::tuple(parse_ip(one.address), one.kind, one.name_space, one.name);
    });
    if (all.size() > kMostOfPool) all.resize(kMostOfPool);
    status.allocations = std::move(all);
    statuses.push_back(std::move(status));
  }
}

AddressState GatewayAddresses::of(std::uint32_t index) const {
  const std::optional<Resolved>& vip = vips_[index];
  if (vip && !*vip) {
    return {.reason = reason::kAddressNotUsable,
            .message = "the ProxyVIP `" + gateways_[index].vip_ref->value + "` cannot be used"};
  }
  if (const auto asked = grants_.find(index); asked != grants_.end()) {
    if (asked->second) return {.address = asked->second->address, .vip = asked->second->vip};
    return {.reason = reason::kAddressNotAssigned, .message = "no address of a pool is free"};
  }
  if (!vip || !targets_.vips[vip->position].pool.empty()) return {};
  return {.address = targets_.vips[vip->position].address.value, .vip = vip->position};
}

}  // namespace edge::compiler::link
