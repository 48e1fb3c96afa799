// Token buckets of all rate limits of the process: bounded memory, shared by all threads, exact.
//
// A bucket is one 64-bit number, the time at which it will be full again (the theoretical arrival time of GCRA, ITU-T
// I.371): a request advances it by its cost, and is refused when that would be more than a full bucket ahead. No refill
// and no expiry is needed: a bucket whose time has passed is full, the same as an absent one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "net/clock.h"

namespace edge::runtime {

/// A rate in the units of buckets, sixteenths of a nanosecond. Costs are rounded up: no rate is exceeded, and one of r
/// requests per second falls short by less than one request in 16'000'000'000 / r. The error does not grow: each
/// request costs the same number of units, and no time is added up.
class Rate {
 public:
  /// `requests` in a `period`, which is positive. `owner`: the policy; a policy with many keys displaces its own first.
  Rate(std::uint64_t requests, std::uint64_t burst, net::Duration period = std::chrono::seconds(1),
       std::uint16_t owner = 0);

  std::uint64_t burst() const { return burst_; }
  /// Returns one of `parts` equal parts: of the rate and of the burst, of which at least one request is left.
  Rate part(std::uint32_t parts) const;

 private:
  friend class RateLimitTable;
  std::uint64_t cost_;   ///< of one request
  std::uint64_t depth_;  ///< of a full bucket
  std::uint64_t burst_;
  std::uint64_t owner_;  ///< in the bits of kOwnerMask
};

class RateLimitTable {
 public:
  static constexpr std::size_t kDefaultKeys = std::size_t{1} << 20;

  /// Stores at most `keys` buckets, rounded up to a power of two. 16 bytes of address space are reserved per key, and
  /// allocated as keys are added.
  explicit RateLimitTable(std::size_t keys = kDefaultKeys);
  RateLimitTable(const RateLimitTable&) = delete;
  RateLimitTable& operator=(const RateLimitTable&) = delete;

  struct TakeResult {
    bool passes = false;
    std::uint64_t remaining = 0;
    net::Duration retry_after{0};  ///< until the next request passes; 0 when this one did
    net::Duration full_after{0};   ///< until the bucket is full
  };
  /// Takes one token from the bucket of `key`; the bucket of a new key is full. `key` is a hash of everything that
  /// distinguishes buckets, including the rate; it must not be guessable (see seed()). Threads: any; locks only for a
  /// new key. Without room the bucket that has been idle longest is replaced: nearly always a full one. An owner that
  /// has half of the places where a key may be replaces its own: no policy's keys displace all others.
  ///
  /// `now` is of a clock that is never set. Should it go back nonetheless, buckets refill later, and none is fuller.
  TakeResult take(const Rate& rate, std::uint64_t key, net::Time now);
  /// Returns what take would, and takes nothing.
  TakeResult look(const Rate& rate, std::uint64_t key, net::Time now);
  /// Charges the bucket with `requests` that have passed elsewhere, even if it does not have them: it then owes them,
  /// and no request passes until they are refilled. It owes at most what `agents` can let pass in `unseen` and at once.
  void charge(const Rate& rate, std::uint64_t key, std::uint64_t requests, std::uint32_t agents, net::Duration unseen,
              net::Time now);
  /// Takes back a take that passed, unless the bucket has been replaced since.
  void give_back(const Rate& rate, std::uint64_t key);

  /// Returns the seed for hashing keys: random, so that no client can find keys that collide or evict another.
  std::uint64_t seed() const { return seed_; }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kLocks = 64;
  /// Of the ways of a set: as many as one owner has before it replaces its own.
  static constexpr std::ptrdiff_t kMostWays = kWays / 2;
  /// Buckets whose keys hash to the same set. A tag of 0 is a free slot; the owner is in bits 1 to 16.
  struct alignas(128) Set {
    std::uint64_t tags[kWays];
    std::uint64_t full_at[kWays];
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Set* sets) const;
  };

  Set& set_of(std::uint64_t key) { return sets_[(key >> 8) & mask_]; }
  static std::size_t victim(const Set& set, std::uint64_t owner);
  bool take_known(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken);
  void take_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken);
  static void put_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t full_at);

  std::uint64_t seed_;
  std::size_t mask_;
  std::unique_ptr<Set[], Unmap> sets_;
  /// Held while a key is added: two threads must not add it twice.
  std::array<std::mutex, kLocks> inserting_;
};

}  // namespace edge::runtime
