// What one thread counts of the cache. A request counts as one of the first five.
#pragma once

#include "net/counter.h"

namespace edge::runtime::cache {

struct Counts {
  net::Counter hits;         ///< answered from the cache, fresh
  net::Counter stale_hits;   ///< answered from the cache, stale and allowed to
  net::Counter revalidated;  ///< answered from the cache after the origin said 304
  net::Counter misses;
  net::Counter bypassed;   ///< not asked: method, conditions or body are not for a cache
  net::Counter refreshed;  ///< fetched behind a client's back (RFC 5861 §3)
  net::Counter stored;     ///< responses that were put in
  net::Counter collapsed;  ///< requests that waited for another's answer
  net::Counter abandoned;  ///< fills given up: too large, broken off, or the target was changed
  net::Counter invalidated;
};

}  // namespace edge::runtime::cache
