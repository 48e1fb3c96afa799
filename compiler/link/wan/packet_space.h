// Sets of packets that leave one site for others, as products of ranges, so that "is there a packet in this rule and in
// none of those" has an answer with a packet.
//
// Addresses, ports and so on are numbered by cells: maximal ranges that no rule tells apart. A set then is one list of
// ranges of small numbers a dimension, whatever the width of an address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/link/wan/steering.h"

namespace edge::compiler::link {

/// Limit of the comparisons of one `prove_wan`, so that thousands of rules cannot hold up a compilation.
inline constexpr std::size_t kMostSteps = 200'000;

/// Cells, both ends included.
struct CellRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
using Cells = std::vector<CellRange>;  ///< ascending, apart

enum Dimension : std::uint8_t { kSource, kDestination, kProtocol, kPort, kDscp, kGateway, kDimensions };

struct Region {
  std::array<Cells, kDimensions> cells{};
  bool empty() const;
};
Region intersect(const Region& one, const Region& other);

struct Search {
  std::optional<WanPacket> packet{};
  bool decided = true;  ///< false: there were not enough steps
};

class PacketSpace {
 public:
  /// The packets from the prefixes of `site` (from anywhere, when it has none) to those of other sites.
  PacketSpace(const LinkedWan& wan, std::uint32_t site, const std::vector<SteeringRule>& rules);

  /// The packets of the space that `traffic` matches. Its networks are those of a rule given to the constructor.
  Region region(const LinkedTraffic& traffic) const;
  /// Returns a packet of `region`, which is not empty: the first of each dimension.
  WanPacket packet(const Region& region) const;
  /// Searches for a packet that is in `region` and in none of `others`. `steps` is decremented.
  Search find_outside(const Region& region, std::span<const Region> others, std::size_t& steps) const;

 private:
  Cells addresses(const std::vector<Cidr>& networks) const;

  std::vector<IpAddress> bounds_;      ///< first addresses of cells, ascending; the first is `::`
  std::vector<std::uint16_t> ports_;   ///< first ports of cells, ascending; the first is 0
  std::vector<std::string> gateways_;  ///< the first is empty: forwarded packets
  Region all_;
};

}  // namespace edge::compiler::link
