// Counts of requests in progress, by key, of all concurrency limits of the process: exact, shared by all threads.
//
// A key has an entry while a request of it is in progress, so that the memory is bounded by the requests that the
// process has at one time. No key is ever dropped, and none of a client's making outlives its requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace edge::runtime {

/// Threads: any.
class ConcurrencyTable {
 public:
  ConcurrencyTable();
  ConcurrencyTable(const ConcurrencyTable&) = delete;
  ConcurrencyTable& operator=(const ConcurrencyTable&) = delete;

  /// Counts a request in, unless `most` are in progress. `key` is a hash of everything that distinguishes counts; it
  /// must not be guessable (see seed()).
  bool enter(std::uint64_t key, std::uint64_t most);
  /// Counts out what `enter` has counted in.
  void leave(std::uint64_t key);

  /// Returns the seed for hashing keys: random, so that no client can find keys that share a count.
  std::uint64_t seed() const { return seed_; }
  /// Returns how many keys have requests in progress.
  std::size_t keys() const;

 private:
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, std::uint64_t> counts;
  };
  Shard& shard_of(std::uint64_t key) { return shards_[key >> 58]; }

  std::uint64_t seed_;
  std::array<Shard, 64> shards_;
};

/// The places that a request has in some counts; given up when it is destroyed, however the request ends. Threads: any,
/// one at a time.
class ConcurrencyPermit {
 public:
  ConcurrencyPermit() = default;
  explicit ConcurrencyPermit(ConcurrencyTable& table) : table_(&table) {}
  ~ConcurrencyPermit() { release(); }
  ConcurrencyPermit(ConcurrencyPermit&& other) noexcept
      : table_(std::exchange(other.table_, nullptr)), keys_(std::exchange(other.keys_, {})) {}
  ConcurrencyPermit& operator=(ConcurrencyPermit&& other) noexcept;

  /// Takes a place in the count of `key`. \returns false if there is none; the places taken before stay.
  bool enter(std::uint64_t key, std::uint64_t most);
  /// Takes over the places of another one.
  void join(ConcurrencyPermit other);
  void release();

 private:
  ConcurrencyTable* table_ = nullptr;
  std::vector<std::uint64_t> keys_;
};

}  // namespace edge::runtime
