#include "runtime/policy/address_set.h"

#include <algorithm>

namespace edge::runtime {
namespace {

/// Where IPv4 is mapped to: ::ffff:0:0/96.
constexpr std::uint8_t kMappedPrefix = 96;
/// From so many ranges on the index is worth its memory: a search without it would be a dozen steps.
constexpr std::size_t kIndexed = 4096;

std::uint64_t number(const IpAddress& address, std::size_t begin, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = begin; i < begin + bytes; ++i) value = value << 8 | address.bytes[i];
  return value;
}

std::uint32_t narrow(const IpAddress& address) { return static_cast<std::uint32_t>(number(address, 12, 4)); }

/// Two networks are apart, or one lies within the other: what begins within a wider one before it says nothing more.
/// `ranges` are pairs of first and last.
template <typename T>
void store(std::vector<std::pair<T, T>>& ranges, std::vector<T>& first, std::vector<T>& last) {
  std::ranges::sort(ranges, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  for (const auto& [from, to] : ranges) {
    if (!last.empty() && from <= last.back()) continue;
    first.push_back(from);
    last.push_back(to);
  }
  first.shrink_to_fit();
  last.shrink_to_fit();
}

}  // namespace

AddressSet::Wide AddressSet::wide(const IpAddress& address) { return {number(address, 0, 8), number(address, 8, 8)}; }

AddressSet::AddressSet(std::span<const Cidr> networks) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> v4;
  std::vector<std::pair<Wide, Wide>> v6;
  IpAddress mapped;
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  for (const Cidr& network : networks) {
    if (network.address.is_v4() && network.prefix_length >= kMappedPrefix) {
      const std::uint32_t first = narrow(network.address);
      const unsigned free = 128U - network.prefix_length;
      v4.emplace_back(first, free == 32 ? ~0U : first | ((1U << free) - 1));
      continue;
    }
    // `::/0` has all addresses of IPv4, too.
    if (network.contains(mapped)) v4.emplace_back(0U, ~0U);
    Wide last = wide(network.address);
    const unsigned prefix = network.prefix_length;
    if (prefix < 64) last.high |= ~std::uint64_t{0} >> prefix;
    if (prefix < 128) last.low |= prefix <= 64 ? ~std::uint64_t{0} : ~std::uint64_t{0} >> (prefix - 64);
    v6.emplace_back(wide(network.address), last);
  }
  store(v4, v4_first_, v4_last_);
  store(v6, v6_first_, v6_last_);
  if (v4_first_.size() >= kIndexed) index_v4();
}

void AddressSet::index_v4() {
  v4_index_.assign((std::size_t{1} << 16) + 1, 0);
  for (const std::uint32_t first : v4_first_) ++v4_index_[(first >> 16) + 1];
  for (std::size_t i = 1; i < v4_index_.size(); ++i) v4_index_[i] += v4_index_[i - 1];
}

bool AddressSet::contains_v4(std::uint32_t address) const {
  auto begin = v4_first_.begin();
  auto end = v4_first_.end();
  if (!v4_index_.empty()) {
    const std::uint32_t upper = address >> 16;
    end = begin + v4_index_[upper + 1];
    begin += v4_index_[upper];
  }
  const auto after = std::upper_bound(begin, end, address);
  return after != v4_first_.begin() && address <= v4_last_[static_cast<std::size_t>(after - v4_first_.begin()) - 1];
}

bool AddressSet::contains(const IpAddress& address) const {
  if (address.is_v4()) return contains_v4(narrow(address));
  const Wide wanted = wide(address);
  const auto after = std::ranges::upper_bound(v6_first_, wanted);
  return after != v6_first_.begin() && wanted <= v6_last_[static_cast<std::size_t>(after - v6_first_.begin()) - 1];
}

}  // namespace edge::runtime
