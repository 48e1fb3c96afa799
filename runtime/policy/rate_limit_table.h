// Token buckets of every rate limit of the process: bounded memory, shared by all threads, exact.
//
// A bucket is one 64-bit number, the time at which it will be full again (the theoretical arrival time of GCRA, ITU-T
// I.371): a request moves it on by what it costs, and is refused when that lies further ahead than a whole bucket.
// Nothing is refilled and nothing expires: a bucket whose time has passed is a full one, and worth as much as none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "net/clock.h"

namespace edge::runtime {

/// A rate as buckets count it, in sixteenths of a nanosecond. Costs are rounded up: no rate is exceeded, and one of r
/// requests a second falls short by less than one request in 16'000'000'000 / r.
class Rate {
 public:
  Rate(std::uint64_t requests_per_second, std::uint64_t burst);

  std::uint64_t burst() const { return burst_; }

 private:
  friend class RateLimitTable;
  std::uint64_t cost_;   ///< of one request
  std::uint64_t depth_;  ///< of a whole bucket
  std::uint64_t burst_;
};

class RateLimitTable {
 public:
  static constexpr std::size_t kDefaultKeys = std::size_t{1} << 20;

  /// Keeps at most `keys` buckets, rounded up to a power of two. Memory is reserved, 16 bytes a key, and taken from the
  /// system as keys come.
  explicit RateLimitTable(std::size_t keys = kDefaultKeys);
  RateLimitTable(const RateLimitTable&) = delete;
  RateLimitTable& operator=(const RateLimitTable&) = delete;

  struct TakeResult {
    bool passes = false;
    std::uint64_t remaining = 0;
    net::Duration retry_after{0};  ///< until the next request passes; 0 when this one did
    net::Duration full_after{0};   ///< until nothing is used up any more
  };
  /// Takes one token out of the bucket of `key`, which is full when it was not known. `key` is a hash of everything
  /// that tells buckets apart, the rate too; it must not be guessable (see seed()). From any thread; locks only for a
  /// key that is new. Where there is no room, the bucket that has rested longest makes it: nearly always one that is
  /// full.
  TakeResult take(const Rate& rate, std::uint64_t key, net::Time now);

  /// Where hashes of keys begin: random, so that no client can find keys that share a bucket or crowd one out.
  std::uint64_t seed() const { return seed_; }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kLocks = 64;
  /// Buckets whose keys hash alike. A tag of 0 is a free place.
  struct alignas(128) Set {
    std::uint64_t tags[kWays];
    std::uint64_t full_at[kWays];
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Set* sets) const;
  };

  bool take_known(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken);
  void take_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken);

  std::uint64_t seed_;
  std::size_t mask_;
  std::unique_ptr<Set[], Unmap> sets_;
  /// For those who bring in a key: two threads must not give it a bucket each.
  std::array<std::mutex, kLocks> inserting_;
};

}  // namespace edge::runtime
