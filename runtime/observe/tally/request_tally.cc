#include "runtime/observe/tally/request_tally.h"

#include <algorithm>
#include <utility>

namespace edge::runtime {
namespace {

constexpr std::size_t kFirstPlaces = 64;
/// Of one thread: 4 MiB. A program may have more; those that are asked for are found again by name.
constexpr std::size_t kMostPlaces = std::size_t{1} << 17;

/// No name holds a line's end.
std::string key_of(const TallyNames& names) { return names.gateway + '\n' + names.route + '\n' + names.backend; }

std::size_t duration_bucket(net::Duration duration) {
  static constexpr auto kBounds = [] {
    std::array<std::int64_t, kDurationBuckets - 1> bounds{};
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      bounds[i] = static_cast<std::int64_t>(metrics::kDurationBounds[i] * 1e9 + 0.5);
    }
    return bounds;
  }();
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && duration.count() > kBounds[bucket]) ++bucket;
  return bucket;
}

}  // namespace

RequestTally::~RequestTally() {
  for (Cell* cell = cells_.load(); cell != nullptr;) delete std::exchange(cell, cell->next.load());
  for (Size* size = sizes_.load(); size != nullptr;) delete std::exchange(size, size->next);
}

void RequestTally::forget_places() {
  known_.clear();
  known_count_ = 0;
}

void RequestTally::remember(const TallyKey& tally_key, Cell& cell) {
  if (known_count_ * 2 >= kMostPlaces) forget_places();
  if (known_count_ * 2 >= known_.size()) {
    std::vector<Known> larger(std::max(kFirstPlaces, known_.size() * 2));
    std::swap(larger, known_);
    known_count_ = 0;
    for (const Known& known : larger) {
      if (known.cell != nullptr) remember(known.tally_key, *known.cell);
    }
  }
  const std::size_t mask = known_.size() - 1;
  std::size_t at = hash_of(tally_key) & mask;
  while (known_[at].cell != nullptr) at = (at + 1) & mask;
  known_[at] = {tally_key, &cell};
  ++known_count_;
}

void RequestTally::add(Cell& cell, const FinishedRequest& request) {
  RequestCounts& counts = cell.counts;
  const bool sound = request.status >= 100 && request.status < 600;
  counts.by_class[sound ? static_cast<std::size_t>(request.status / 100) : 0].add();
  counts.durations[duration_bucket(request.duration)].add();
  counts.nanoseconds.add(static_cast<std::uint64_t>(std::max<std::int64_t>(request.duration.count(), 0)));
  if (request.request_bytes != 0) counts.request_bytes.add(request.request_bytes);
  if (request.response_bytes != 0) counts.response_bytes.add(request.response_bytes);
  cell.size.counts.requests[size_bucket(request.request_bytes)].add();
  cell.size.counts.responses[size_bucket(request.response_bytes)].add();
  if (&cell == other_) [[unlikely]]
    folded_.add();
}

RequestTally::Cell& RequestTally::cell_of(TallyNames names) {
  const auto found = by_name_.find(key_of(names));
  if (found != by_name_.end()) return *found->second;
  if (by_name_.size() < most_) {
    Cell& cell = add_cell(std::move(names));
    return *by_name_.emplace(key_of(cell.names), &cell).first->second;
  }
  if (other_ == nullptr) other_ = &add_cell({"", kOther, ""});
  return *other_;
}

RequestTally::Cell& RequestTally::add_cell(TallyNames names) {
  Size& size = size_of(names.gateway);
  auto cell = std::make_unique<Cell>(std::move(names), size);
  cell->next.store(cells_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  cells_.store(cell.get(), std::memory_order_release);
  return *cell.release();
}

RequestTally::Size& RequestTally::size_of(const std::string& gateway) {
  const auto found = by_gateway_.find(gateway);
  if (found != by_gateway_.end()) return *found->second;
  auto size = std::make_unique<Size>(gateway);
  Size* const raw = size.get();
  by_gateway_.emplace(gateway, raw);
  raw->next = sizes_.load(std::memory_order_relaxed);
  sizes_.store(size.release(), std::memory_order_release);
  return *raw;
}

std::vector<std::unique_ptr<RequestTally::Cell>> RequestTally::remove(std::span<const TallyNames> names) {
  std::vector<std::unique_ptr<Cell>> removed;
  for (const TallyNames& name : names) {
    const auto found = by_name_.find(key_of(name));
    if (found == by_name_.end()) continue;
    std::atomic<Cell*>* link = &cells_;
    while (link->load(std::memory_order_relaxed) != found->second) link = &link->load(std::memory_order_relaxed)->next;
    link->store(found->second->next.load(std::memory_order_relaxed), std::memory_order_release);
    removed.emplace_back(found->second);
    by_name_.erase(found);
  }
  forget_places();
  return removed;
}

}  // namespace edge::runtime
