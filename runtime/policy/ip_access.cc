#include "runtime/policy/ip_access.h"

#include <algorithm>

#include "program/format/records.h"

namespace edge::runtime {
namespace {

/// The last address of a block, whose own has no bit set behind the prefix.
IpAddress last_of(const Cidr& block) {
  IpAddress last = block.address;
  for (std::size_t bit = block.prefix_length; bit < 128; ++bit) {
    last.bytes[bit / 8] = static_cast<std::uint8_t>(last.bytes[bit / 8] | (0x80U >> (bit % 8)));
  }
  return last;
}

}  // namespace

IpAccess::IpAccess(const program::SectionView& policies, const program::IpAccessRecord& settings)
    : allow_(ranges_of(policies.array(settings.allow))),
      deny_(ranges_of(policies.array(settings.deny))),
      everybody_(settings.allow.count == 0) {}

IpAccess::Ranges IpAccess::ranges_of(std::span<const program::CidrRecord> blocks) {
  Ranges all;
  for (const program::CidrRecord& record : blocks) {
    const Cidr block = program::cidr_of(record);
    all.push_back({block.address, last_of(block)});
  }
  // Two blocks are apart, or one lies within the other: what follows a wider one and ends within it says nothing more.
  std::ranges::sort(
      all, [](const Range& a, const Range& b) { return a.first != b.first ? a.first < b.first : a.last > b.last; });
  Ranges apart;
  for (const Range& range : all) {
    if (apart.empty() || range.first > apart.back().last) apart.push_back(range);
  }
  return apart;
}

bool IpAccess::among(const Ranges& ranges, const IpAddress& address) {
  const auto after =
      std::ranges::upper_bound(ranges, address, {}, [](const Range& range) -> const IpAddress& { return range.first; });
  return after != ranges.begin() && address <= std::prev(after)->last;
}

std::optional<PolicyAnswer> IpAccess::pass(const PolicyRequest& policy_request) const {
  if (!among(deny_, policy_request.source) && (everybody_ || among(allow_, policy_request.source))) return std::nullopt;
  return PolicyAnswer{403, "address-refused", "Clients of this address are not served.", {}};
}

}  // namespace edge::runtime
