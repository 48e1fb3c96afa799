#include "program/section_builder.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "base/hash.h"
#include "program/evaluate/lookup.h"

namespace edge::program {
namespace {

// A probe over more slots than this is worth a table of twice the size.
constexpr std::uint32_t kGoodProbe = 16;

SlotTable fill(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> entries, std::size_t size) {
  SlotTable table;
  table.slots.assign(size, kFreeSlot);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    std::size_t at = hashes[i] & (size - 1);
    std::uint32_t probe = 1;
    for (; table.slots[at] != kFreeSlot; ++probe) at = (at + 1) & (size - 1);
    table.slots[at] = slot_value(hashes[i], entries[i]);
    table.max_probe = std::max(table.max_probe, probe);
  }
  return table;
}

/// Where a builder looks for a text first; no byte of a section follows from it. Begun with what nobody knows who
/// writes texts: some that hash alike would cost their square.
std::uint64_t index_hash(std::string_view text) {
  static const std::uint64_t kBegin = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return hash_bytes(kBegin, text);
}

}  // namespace

SectionBuilder::SectionBuilder(std::size_t header_size, std::size_t size_hint) {
  bytes_.reserve(header_size + size_hint);
  bytes_.resize(header_size);
}

StringRef SectionBuilder::string(std::string_view text) {
  if (text.empty()) return {0, 0};
  if (strings_.size() * 2 >= index_.size()) grow_index();
  const std::size_t mask = index_.size() - 1;
  std::size_t at = index_hash(text) & mask;
  for (; index_[at] != kNone; at = (at + 1) & mask) {
    const StringRef known = strings_[index_[at]];
    if (known.size == text.size() && std::memcmp(bytes_.data() + known.offset, text.data(), text.size()) == 0)
      return known;
  }
  const StringRef ref{append(text.data(), text.size(), 1), static_cast<std::uint32_t>(text.size())};
  index_[at] = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back(ref);
  return ref;
}

std::uint32_t SectionBuilder::append(const void* data, std::size_t size, std::size_t alignment) {
  const std::size_t offset = (bytes_.size() + alignment - 1) & ~(alignment - 1);
  bytes_.resize(offset);
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size);
  return static_cast<std::uint32_t>(offset);
}

void SectionBuilder::grow_index() {
  index_.assign(std::max<std::size_t>(64, index_.size() * 2), kNone);
  const std::size_t mask = index_.size() - 1;
  for (std::uint32_t i = 0; i < strings_.size(); ++i) {
    const StringRef ref = strings_[i];
    std::size_t at = index_hash({reinterpret_cast<const char*>(bytes_.data()) + ref.offset, ref.size}) & mask;
    while (index_[at] != kNone) at = (at + 1) & mask;
    index_[at] = i;
  }
}

SlotTable build_slots(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> entries) {
  if (hashes.empty()) return {};
  const std::size_t smallest = std::bit_ceil((hashes.size() * 16 + 12) / 13);
  SlotTable table = fill(hashes, entries, smallest);
  for (std::size_t size = smallest * 2; table.max_probe > kGoodProbe && size <= smallest * 4; size *= 2)
    table = fill(hashes, entries, size);
  return table;
}

SlotTable build_slots(std::span<const std::uint64_t> hashes) {
  std::vector<std::uint32_t> entries(hashes.size());
  std::iota(entries.begin(), entries.end(), 0U);
  return build_slots(hashes, entries);
}

}  // namespace edge::program
