#include "runtime/upstream/balance/consistent_hash.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/hash.h"

namespace edge::runtime {
namespace {

/// Points of an endpoint of the mean weight: its share of the keys is then within some 10% of the others'.
constexpr std::uint32_t kPoints = 160;
/// Primes. A table with a hundred places an endpoint is even to one percent.
constexpr std::array<std::uint32_t, 4> kTableSizes = {1'021, 10'007, 65'537, 655'373};
constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

std::uint64_t nth_hash(std::uint64_t id, std::uint64_t n) {
  return hash_mix(id ^ 0x9e3779b97f4a7c15, 0xd1342543de82ef95 + 2 * n);
}

}  // namespace

void ConsistentHash::build(Kind kind, std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights) {
  ring_.clear();
  table_.clear();
  if (kind == Kind::kRing) {
    build_ring(ids, weights);
  } else {
    build_table(ids, weights);
  }
}

void ConsistentHash::build_ring(std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights) {
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  const std::uint64_t all = ids.size() * kPoints;
  ring_.reserve(all + ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    const std::uint64_t points = std::max<std::uint64_t>(1, (weights[i] * all + sum / 2) / sum);
    for (std::uint32_t n = 0; n < points; ++n) ring_.push_back({nth_hash(ids[i], n), i});
  }
  // Equal points by id, so that the order of the endpoints does not show.
  std::ranges::sort(
      ring_, [&](const Point& a, const Point& b) { return a.at != b.at ? a.at < b.at : ids[a.index] < ids[b.index]; });
}

// Each endpoint has an order of its own in which it would like the places; they take turns until all are taken, the
// heaviest every turn.
void ConsistentHash::build_table(std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights) {
  if (ids.empty()) return;
  const auto wanted = std::ranges::lower_bound(kTableSizes, 100 * ids.size());
  const std::uint32_t size = wanted == kTableSizes.end() ? kTableSizes.back() : *wanted;
  table_.assign(size, kEmpty);
  struct Wish {
    std::uint32_t next;
    std::uint32_t skip;
    std::uint32_t index;
    std::uint32_t credit = 0;
  };
  std::vector<Wish> wishes;
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    wishes.push_back({static_cast<std::uint32_t>(nth_hash(ids[i], 0) % size),
                      static_cast<std::uint32_t>(nth_hash(ids[i], 1) % (size - 1) + 1), i, 0});
  }
  const std::uint32_t heaviest = *std::ranges::max_element(weights);
  std::ranges::sort(wishes, {}, [&](const Wish& wish) { return ids[wish.index]; });
  if (wishes.size() > size) wishes.resize(size);
  for (std::uint32_t taken = 0;;) {
    for (Wish& wish : wishes) {
      wish.credit += weights[wish.index];
      if (wish.credit < heaviest) continue;
      wish.credit -= heaviest;
      while (table_[wish.next] != kEmpty)
        wish.next = static_cast<std::uint32_t>((std::uint64_t{wish.next} + wish.skip) % size);
      table_[wish.next] = wish.index;
      if (++taken == size) return;
    }
  }
}

std::uint32_t ConsistentHash::find(std::uint64_t key) const {
  if (!table_.empty()) return table_[key % table_.size()];
  const auto at = std::ranges::lower_bound(ring_, key, {}, &Point::at);
  return at == ring_.end() ? ring_.front().index : at->index;
}

}  // namespace edge::runtime
