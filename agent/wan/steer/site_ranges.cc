#include <algorithm>
#include <tuple>

#include "agent/wan/steer/steering.h"

namespace edge::agent::wan {
namespace {

constexpr std::size_t kOwnSite = ~std::size_t{0};

IpAddress last_of(const Cidr& cidr) {
  IpAddress last = cidr.address;
  for (unsigned bit = cidr.prefix_length; bit < 128; ++bit) {
    last.bytes[bit / 8] |= static_cast<std::uint8_t>(0x80 >> bit % 8);
  }
  return last;
}

/// The address after, or before. Not called for those that have none.
IpAddress step(IpAddress address, int by) {
  for (std::size_t i = address.bytes.size(); i-- > 0;) {
    const auto before = address.bytes[i];
    address.bytes[i] = static_cast<std::uint8_t>(before + by);
    if (before != (by > 0 ? 0xff : 0)) break;
  }
  return address;
}

struct Network {
  IpAddress first;
  IpAddress last;
  std::uint8_t length = 0;
  std::size_t site = 0;
};

/// Appends, joined with the range before where both are one site's.
void append(std::vector<SiteRange>& ranges, const IpAddress& first, const IpAddress& last, std::size_t site) {
  if (site == kOwnSite || last < first) return;
  if (!ranges.empty() && ranges.back().site == site && step(ranges.back().last, 1) == first) {
    ranges.back().last = last;
  } else {
    ranges.push_back({first, last, site});
  }
}

}  // namespace

std::vector<SiteRange> site_ranges(const Steering& steering) {
  std::vector<Network> networks;
  for (const Cidr& cidr : steering.own) networks.push_back({cidr.address, last_of(cidr), cidr.prefix_length, kOwnSite});
  for (std::size_t site = 0; site < steering.sites.size(); ++site) {
    for (const Cidr& cidr : steering.sites[site].prefixes) {
      networks.push_back({cidr.address, last_of(cidr), cidr.prefix_length, site});
    }
  }
  // Prefixes lie within each other or apart: those that are open form a stack, the longest on top.
  std::ranges::stable_sort(networks, {}, [](const Network& one) { return std::tuple(one.first, one.length); });
  const auto same = [](const Network& one, const Network& other) {
    return one.first == other.first && one.length == other.length;
  };
  networks.erase(std::unique(networks.begin(), networks.end(), same), networks.end());
  std::vector<SiteRange> ranges;
  std::vector<const Network*> open;
  IpAddress next{};   // what is not in a range yet begins here
  bool over = false;  // the last address of all is in one
  const auto close = [&] {
    const IpAddress last = open.back()->last;
    if (!over) append(ranges, next, last, open.back()->site);
    over = over || step(last, 1) < last;
    if (!over) next = std::max(next, step(last, 1));
    open.pop_back();
  };
  for (const Network& network : networks) {
    while (!open.empty() && open.back()->last < network.first) close();
    if (!open.empty() && next < network.first) append(ranges, next, step(network.first, -1), open.back()->site);
    next = network.first;
    open.push_back(&network);
  }
  while (!open.empty()) close();
  return ranges;
}

}  // namespace edge::agent::wan
