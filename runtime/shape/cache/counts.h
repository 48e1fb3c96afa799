// Counters of the cache.
#pragma once

#include <cstdint>

#include "net/counter.h"

namespace edge::runtime::cache {

/// The counters of one thread.
struct Counts {
#define EDGE_CACHE_COUNT(name, help) net::Counter name;
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
};

/// The sum over all threads, and the store's size.
struct Totals {
#define EDGE_CACHE_COUNT(name, help) std::uint64_t name = 0;
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
  std::uint64_t evictions = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;

  void add(const Counts& counts) {
#define EDGE_CACHE_COUNT(name, help) name += counts.name.value();
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
  }
};

}  // namespace edge::runtime::cache
