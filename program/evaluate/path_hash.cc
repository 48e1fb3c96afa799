#include "program/evaluate/path_hash.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace edge::program {
namespace {

constexpr std::uint32_t kDisplacements = 256;

/// The hashes by bucket, buckets with the most hashes first: they need the most free slots at once.
class Buckets {
 public:
  Buckets(std::span<const std::uint64_t> hashes, std::uint32_t count) : begins_(count + 1), items_(hashes.size()) {
    for (const std::uint64_t hash : hashes) ++begins_[path_bucket(hash, count - 1) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t i = 0; i < items_.size(); ++i) items_[next[path_bucket(hashes[i], count - 1)]++] = i;
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, [this](std::uint32_t a, std::uint32_t b) {
      return items(a).size() != items(b).size() ? items(a).size() > items(b).size() : a < b;
    });
  }

  std::span<const std::uint32_t> order() const { return order_; }
  std::span<const std::uint32_t> items(std::uint32_t bucket) const {
    return std::span(items_).subspan(begins_[bucket], begins_[bucket + 1] - begins_[bucket]);
  }

 private:
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint32_t> items_;
  std::vector<std::uint32_t> order_;
};

/// Places all hashes of a bucket, or none.
bool place_bucket(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> items,
                  std::uint32_t displacement, std::vector<bool>& taken, PathHashTable& result) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint32_t position =
        path_position(hashes[items[i]], static_cast<std::uint8_t>(displacement), result.places);
    if (taken[position]) {
      while (i-- > 0) taken[result.position_of[items[i]]] = false;
      return false;
    }
    taken[position] = true;
    result.position_of[items[i]] = position;
  }
  return true;
}

bool place_perfectly(std::span<const std::uint64_t> hashes, const Buckets& buckets, PathHashTable& result) {
  std::vector<bool> taken(result.places);
  for (const std::uint32_t bucket : buckets.order()) {
    const auto items = buckets.items(bucket);
    if (items.empty()) break;
    std::uint32_t displacement = 0;
    while (!place_bucket(hashes, items, displacement, taken, result)) {
      if (++displacement == kDisplacements) return false;
    }
    result.displacements[bucket] = static_cast<std::uint8_t>(displacement);
  }
  return true;
}

}  // namespace

std::optional<PathHashTable> hash_paths(std::span<const std::uint64_t> hashes) {
  PathHashTable result;
  const auto count = static_cast<std::uint32_t>(hashes.size());
  if (count == 0) return result;
  result.displacements.resize(std::bit_ceil((count + 2) / 3));
  result.position_of.resize(count);
  const Buckets buckets(hashes, static_cast<std::uint32_t>(result.displacements.size()));
  // The fewer places are to spare, the more displacements the last buckets try in vain.
  for (const std::uint32_t spare : {count / 32, count / 16 + 1, count / 8 + 1, count / 4 + 1, count}) {
    result.places = count + spare;
    if (place_perfectly(hashes, buckets, result)) return result;
  }
  return std::nullopt;
}

}  // namespace edge::program
