#include "compiler/link/gateways/address_pools.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "compiler/link/names.h"

namespace edge::compiler::link {
namespace {

using Used = std::set<IpAddress>;

/// How many addresses of a block are looked at, at most.
constexpr std::uint64_t kMostOfBlock = std::uint64_t{1} << 32U;
constexpr unsigned kAddressBits = 128;

std::uint64_t size_of(const Cidr& block) {
  const unsigned free_bits = kAddressBits - block.prefix_length;
  return free_bits >= 32 ? kMostOfBlock : std::uint64_t{1} << free_bits;
}

IpAddress nth_of(const Cidr& block, std::uint64_t n) {
  IpAddress address = block.address;
  for (std::size_t i = address.bytes.size(); i > 0 && n > 0; --i) {
    n += address.bytes[i - 1];
    address.bytes[i - 1] = static_cast<std::uint8_t>(n & 0xffU);
    n >>= 8U;
  }
  return address;
}

class Allocator {
 public:
  Allocator(const std::vector<model::ProxyGateway>& gateways, const std::vector<model::ProxyVip>& vips,
            const std::vector<IpAddress>& others)
      : gateways_(gateways), vips_(vips), given_(vips.size(), 0), used_(others.begin(), others.end()) {
    for (const model::ProxyVip& vip : vips) {
      if (vip.pool.empty()) addresses_of_vips_.insert(vip.address.value);
    }
    for (const model::ProxyGateway& gateway : gateways) {
      for (const Located<IpAddress>& address : gateway.addresses) asked_for_.insert(address.value);
    }
  }

  std::optional<PoolGrant> keep(const PoolRequest& request) {
    const model::Metadata& gateway = gateways_[request.gateway].metadata;
    for (const std::uint32_t pool : request.pools) {
      for (const model::PoolAllocation& before : vips_[pool].allocations) {
        if (before.kind != gateway.kind || before.name_space != gateway.name_space || before.name != gateway.name) {
          continue;
        }
        if (!is_in_pool(vips_[pool], before.address) || addresses_of_vips_.contains(before.address)) continue;
        if (given_[pool] == kMostOfPool || !used_.insert(before.address).second) continue;
        ++given_[pool];
        return PoolGrant{pool, before.address};
      }
    }
    return std::nullopt;
  }

  std::optional<PoolGrant> choose(const PoolRequest& request) {
    const std::uint64_t start = hash_bytes(0, gateways_[request.gateway].metadata.text());
    for (const std::uint32_t pool : request.pools) {
      if (given_[pool] == kMostOfPool) continue;
      for (const Located<Cidr>& block : vips_[pool].pool) {
        const auto address = free_in(block.value, start);
        if (!address) continue;
        used_.insert(*address);
        ++given_[pool];
        return PoolGrant{pool, *address};
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<IpAddress> free_in(const Cidr& block, std::uint64_t start) const {
    const std::uint64_t size = size_of(block);
    const std::uint64_t taken = used_.size() + addresses_of_vips_.size() + asked_for_.size();
    for (std::uint64_t i = 0; i < std::min(size, taken + 1); ++i) {
      const IpAddress address = nth_of(block, (start % size + i) % size);
      if (!used_.contains(address) && !addresses_of_vips_.contains(address) && !asked_for_.contains(address)) {
        return address;
      }
    }
    return std::nullopt;
  }

  const std::vector<model::ProxyGateway>& gateways_;
  const std::vector<model::ProxyVip>& vips_;
  std::vector<std::size_t> given_;
  Used addresses_of_vips_;
  Used asked_for_;
  Used used_;
};

}  // namespace

bool is_in_pool(const model::ProxyVip& vip, const IpAddress& address) {
  return std::ranges::any_of(vip.pool, [&](const Located<Cidr>& block) { return block.value.contains(address); });
}

std::vector<std::optional<PoolGrant>> allocate(const std::vector<PoolRequest>& requests,
                                               const std::vector<model::ProxyGateway>& gateways,
                                               const std::vector<model::ProxyVip>& vips,
                                               const std::vector<IpAddress>& others) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < requests.size(); ++i) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return holds_before(gateways[requests[a].gateway].metadata, gateways[requests[b].gateway].metadata);
  });
  std::vector<std::optional<PoolGrant>> grants(requests.size());
  Allocator allocator(gateways, vips, others);
  for (const std::size_t i : order) grants[i] = allocator.keep(requests[i]);
  for (const std::size_t i : order) {
    if (!grants[i]) grants[i] = allocator.choose(requests[i]);
  }
  return grants;
}

}  // namespace edge::compiler::link
