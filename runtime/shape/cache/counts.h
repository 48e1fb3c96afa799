// What is counted of the cache.
#pragma once

#include <cstdint>

#include "net/counter.h"

namespace edge::runtime::cache {

/// Of one thread.
struct Counts {
#define EDGE_CACHE_COUNT(name, help) net::Counter name;
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
};

/// Of all threads, and what is stored.
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
