#include "runtime/shape/cache/cache.h"

#include <algorithm>

namespace edge::runtime::cache {
namespace {

/// Of the whole size, what may be on its way in.
constexpr std::size_t kFillingPart = 8;

std::size_t filling_part(const Sizes& sizes) {
  return std::max<std::uint64_t>(sizes.max_bytes / kFillingPart, std::min(sizes.max_bytes / 2, sizes.max_entry_bytes));
}

}  // namespace

Cache::Cache(const Sizes& sizes, std::uint64_t seed)
    : sizes_(sizes), store_(sizes.max_bytes - filling_part(sizes), sizes.max_entry_bytes, seed) {}

std::size_t Cache::invalidate(std::string_view target) {
  // First what is on its way in: it must not come after.
  fills_.doom(target);
  return store_.erase_target(target);
}

bool Cache::reserve(std::size_t bytes) {
  if (filling_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= filling_part(sizes_)) return true;
  release(bytes);
  return false;
}

std::shared_ptr<Cache> Caches::of_gateway(std::uint64_t id, const Sizes& sizes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(caches_, [](const auto& named) { return named.second.expired(); });
  std::weak_ptr<Cache>& position = caches_[id];
  std::shared_ptr<Cache> cache = position.lock();
  if (cache == nullptr || cache->sizes() != sizes) {
    cache = std::make_shared<Cache>(sizes, seed_ ^ id);
    position = cache;
  }
  return cache;
}

std::vector<std::shared_ptr<Cache>> Caches::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Cache>> caches;
  for (const auto& [id, position] : caches_) {
    if (auto cache = position.lock()) caches.push_back(std::move(cache));
  }
  return caches;
}

std::size_t Caches::purge(const Purge& what) {
  const auto chosen = [&what](const Entry& entry) {
    if (what.all) return true;
    if (!what.route.empty()) {
      const std::string_view route = route_of(entry.key);
      const bool qualified = what.route.find('/') != std::string::npos;
      return (qualified ? route : route.substr(route.find('/') + 1)) == what.route;
    }
    return !what.host.any() && what.host.matches(target_of(entry.key).host);
  };
  std::size_t removed = 0;
  for (const auto& cache : all()) {
    cache->fills().doom({});
    removed += cache->store().erase_if(chosen);
  }
  return removed;
}

StoreStats Caches::stats() const {
  StoreStats sum;
  for (const auto& cache : all()) {
    const StoreStats stats = cache->store().stats();
    sum.entries += stats.entries;
    sum.bytes += stats.bytes;
    sum.evictions += stats.evictions;
  }
  return sum;
}

}  // namespace edge::runtime::cache
