#include "compiler/link/wan/packet_space.h"

#include <algorithm>

namespace edge::compiler::link {
namespace {

constexpr std::uint32_t kDscpValues = 64;

IpAddress last_of(const Cidr& cidr) {
  IpAddress last = cidr.address;
  for (std::size_t bit = cidr.prefix_length; bit < 128; ++bit) {
    last.bytes[bit / 8] = static_cast<std::uint8_t>(last.bytes[bit / 8] | (0x80U >> (bit % 8)));
  }
  return last;
}

/// nullopt: there is none.
std::optional<IpAddress> next(IpAddress address) {
  for (std::size_t i = address.bytes.size(); i-- > 0;) {
    if (++address.bytes[i] != 0) return address;
  }
  return std::nullopt;
}

template <typename Value>
void sort_unique(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

/// Puts ranges in order and joins those that touch.
Cells normalized(Cells cells) {
  std::ranges::sort(cells, {}, &CellRange::first);
  Cells joined;
  for (const CellRange& range : cells) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

Cells intersect(const Cells& one, const Cells& other) {
  Cells both;
  for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    const CellRange range{std::max(one[i].first, other[j].first), std::min(one[i].last, other[j].last)};
    if (range.first <= range.last) both.push_back(range);
    one[i].last < other[j].last ? ++i : ++j;
  }
  return both;
}

Cells subtract(const Cells& from, const Cells& what) {
  Cells rest;
  for (CellRange range : from) {
    bool left = true;
    for (const CellRange& hole : what) {
      if (hole.last < range.first || hole.first > range.last) continue;
      if (hole.first > range.first) rest.push_back({range.first, hole.first - 1});
      left = hole.last < range.last;
      if (!left) break;
      range.first = hole.last + 1;
    }
    if (left) rest.push_back(range);
  }
  return rest;
}

Cells all_of(std::size_t count) { return {{0, static_cast<std::uint32_t>(count - 1)}}; }

/// `index` of a value in a sorted list that has it.
template <typename Value>
std::uint32_t cell_of(const std::vector<Value>& firsts, const Value& value) {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(firsts, value) - firsts.begin() - 1);
}

template <typename Value, typename Number>
Cells each(const std::vector<Value>& values, Number number) {
  Cells cells;
  for (const Value& value : values) {
    const std::uint32_t cell = number(value);
    cells.push_back({cell, cell});
  }
  return normalized(std::move(cells));
}

}  // namespace

bool Region::empty() const {
  return std::ranges::any_of(cells, [](const Cells& one) { return one.empty(); });
}

Region intersect(const Region& one, const Region& other) {
  Region both;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    both.cells[i] = intersect(one.cells[i], other.cells[i]);
    if (both.cells[i].empty()) return {};
  }
  return both;
}

PacketSpace::PacketSpace(const LinkedWan& wan, std::uint32_t site, const std::vector<SteeringRule>& rules) {
  bounds_.emplace_back();
  ports_.push_back(0);
  gateways_.emplace_back();
  const auto add = [&](const std::vector<Cidr>& networks) {
    for (const Cidr& network : networks) {
      bounds_.push_back(network.address);
      if (const auto after = next(last_of(network))) bounds_.push_back(*after);
    }
  };
  std::vector<Cidr> elsewhere;
  for (std::uint32_t other = 0; other < wan.sites.size(); ++other) {
    add(wan.sites[other].prefixes);
    if (other != site)
      elsewhere.insert(elsewhere.end(), wan.sites[other].prefixes.begin(), wan.sites[other].prefixes.end());
  }
  for (const SteeringRule& rule : rules) {
    add(rule.traffic.sources);
    add(rule.traffic.destinations);
    for (const std::uint16_t port : rule.traffic.ports) {
      ports_.push_back(port);
      if (port != 65'535) ports_.push_back(static_cast<std::uint16_t>(port + 1));
    }
    gateways_.insert(gateways_.end(), rule.traffic.gateways.begin(), rule.traffic.gateways.end());
  }
  sort_unique(bounds_);
  sort_unique(ports_);
  sort_unique(gateways_);
  const std::vector<Cidr>& own = wan.sites[site].prefixes;
  all_.cells = {own.empty() ? all_of(bounds_.size()) : addresses(own),
                elsewhere.empty() ? Cells() : addresses(elsewhere),
                all_of(kWanProtocols),
                all_of(ports_.size()),
                all_of(kDscpValues),
                all_of(gateways_.size())};
}

Cells PacketSpace::addresses(const std::vector<Cidr>& networks) const {
  Cells cells;
  for (const Cidr& network : networks) {
    cells.push_back({cell_of(bounds_, network.address), cell_of(bounds_, last_of(network))});
  }
  return normalized(std::move(cells));
}

Region PacketSpace::region(const LinkedTraffic& traffic) const {
  Region wanted = all_;
  if (!traffic.sources.empty()) wanted.cells[kSource] = addresses(traffic.sources);
  if (!traffic.destinations.empty()) wanted.cells[kDestination] = addresses(traffic.destinations);
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  if (!traffic.protocols.empty()) wanted.cells[kProtocol] = each(traffic.protocols, number);
  if (!traffic.ports.empty()) {
    wanted.cells[kPort] = each(traffic.ports, [&](std::uint16_t port) { return cell_of(ports_, port); });
    const std::vector<WanProtocol> with_ports{WanProtocol::kTcp, WanProtocol::kUdp};
    wanted.cells[kProtocol] = intersect(wanted.cells[kProtocol], each(with_ports, number));
  }
  if (!traffic.dscp.empty()) wanted.cells[kDscp] = each(traffic.dscp, number);
  if (!traffic.gateways.empty()) {
    wanted.cells[kGateway] = each(traffic.gateways, [&](const std::string& name) { return cell_of(gateways_, name); });
  }
  return intersect(all_, wanted);
}

WanPacket PacketSpace::packet(const Region& region) const {
  const auto first = [&](Dimension dimension) { return region.cells[dimension].front().first; };
  WanPacket packet{.source = bounds_[first(kSource)],
                   .destination = bounds_[first(kDestination)],
                   .protocol = static_cast<WanProtocol>(first(kProtocol)),
                   .port = ports_[first(kPort)],
                   .dscp = static_cast<std::uint8_t>(first(kDscp)),
                   .gateway = gateways_[first(kGateway)]};
  if (packet.protocol != WanProtocol::kTcp && packet.protocol != WanProtocol::kUdp) packet.port = 0;
  return packet;
}

/// Takes the first of `others` that has packets of the region, and searches on in what is outside of it: one part for
/// each dimension, of which those before are inside. The parts are apart, and together the difference.
Search PacketSpace::find_outside(const Region& region, std::span<const Region> others, std::size_t& steps) const {
  if (region.empty()) return {};
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (steps == 0) return {.packet = {}, .decided = false};
    --steps;
    const Region both = intersect(region, others[i]);
    if (both.empty()) continue;
    Region part = region;
    for (std::size_t dimension = 0; dimension < kDimensions; ++dimension) {
      part.cells[dimension] = subtract(region.cells[dimension], both.cells[dimension]);
      const Search search = find_outside(part, others.subspan(i + 1), steps);
      if (search.packet || !search.decided) return search;
      part.cells[dimension] = both.cells[dimension];
    }
    return {};
  }
  return {.packet = packet(region)};
}

}  // namespace edge::compiler::link
