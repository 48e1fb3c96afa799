// Counts the requests of one thread, by gateway, route and backend. Without locks and, except for the thread's first
// request of a combination, without allocation.
//
// Counters outlive programs: they are stored by name. Within a program they are found by the addresses of its records.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "metrics/histogram.h"
#include "net/clock.h"
#include "net/counter.h"

namespace edge::runtime {

inline constexpr std::size_t kDurationBuckets = std::size(metrics::kDurationBounds) + 1;
inline constexpr std::size_t kSizeBuckets = std::size(metrics::kSizeBounds) + 1;

/// The labels of a counter: `namespace/name` each, empty where there is none.
struct TallyNames {
  std::string gateway;
  std::string route;
  std::string backend;
  friend auto operator<=>(const TallyNames&, const TallyNames&) = default;
};

/// The key of a counter within one program: addresses of its records, null where there is none.
struct TallyKey {
  const void* gateway = nullptr;
  const void* route = nullptr;
  const void* backend = nullptr;
  friend bool operator==(const TallyKey&, const TallyKey&) = default;
};

struct FinishedRequest {
  int status = 0;  ///< 0: no response was sent
  net::Duration duration{};
  std::uint64_t request_bytes = 0;  ///< of the body, as the members below
  std::uint64_t response_bytes = 0;
};

/// Histogram of the body sizes of one gateway.
struct SizeCounts {
  std::array<net::Counter, kSizeBuckets> requests;
  std::array<net::Counter, kSizeBuckets> responses;
};

struct RequestCounts {
  std::array<net::Counter, 6> by_class;  ///< index 0: no response
  std::array<net::Counter, kDurationBuckets> durations;
  net::Counter nanoseconds;
  net::Counter request_bytes;
  net::Counter response_bytes;
};

/// Returns the histogram bucket. Bounds are powers of four.
constexpr std::size_t size_bucket(std::uint64_t bytes) {
  if (bytes <= 256) return 0;
  return std::min<std::size_t>((static_cast<std::size_t>(std::bit_width(bytes - 1)) - 7) / 2, kSizeBuckets - 1);
}

class RequestTally {
 public:
  /// `most`: the most combinations counted separately; further ones are counted as route `other`.
  explicit RequestTally(std::size_t most) : most_(most) {}
  ~RequestTally();
  RequestTally(const RequestTally&) = delete;
  RequestTally& operator=(const RequestTally&) = delete;

  // For the counting thread.

  /// Counts a request. `name_of()` returns the TallyNames of a key that is new in this program.
  template <typename NameOf>
  [[gnu::always_inline]] void count(const TallyKey& tally_key, const FinishedRequest& request, NameOf name_of) {
    Cell* cell = find(tally_key);
    if (cell == nullptr) [[unlikely]] {
      cell = &cell_of(name_of());
      remember(tally_key, *cell);
    }
    add(*cell, request);
  }
  /// Forgets the keys, because another program serves and its records have other addresses. The counters are kept.
  void forget_places();

  struct Size {
    explicit Size(std::string of) : gateway(std::move(of)) {}
    const std::string gateway;
    SizeCounts counts;
    Size* next = nullptr;
  };
  struct Cell {
    Cell(TallyNames of, Size& with) : names(std::move(of)), size(with) {}
    const TallyNames names;
    Size& size;
    RequestCounts counts;
    std::atomic<Cell*> next{nullptr};
  };
  /// Removes the counters of these names. No reader may be active meanwhile; the caller may free them afterwards.
  std::vector<std::unique_ptr<Cell>> remove(std::span<const TallyNames> names);

  // For any thread, one at a time, and not during `remove`.

  template <typename Visit>
  void each_cell(Visit visit) const {
    for (const Cell* cell = cells_.load(std::memory_order_acquire); cell != nullptr;
         cell = cell->next.load(std::memory_order_acquire)) {
      visit(*cell);
    }
  }
  template <typename Visit>
  void each_size(Visit visit) const {
    for (const Size* size = sizes_.load(std::memory_order_acquire); size != nullptr; size = size->next) visit(*size);
  }
  /// Returns the number of requests counted as route `other`.
  std::uint64_t folded() const { return folded_.value(); }

  static constexpr const char* kOther = "other";

 private:
  struct Known {
    TallyKey tally_key;
    Cell* cell = nullptr;
  };

  static std::size_t hash_of(const TallyKey& tally_key) {
    const auto word = [](const void* pointer) { return std::uint64_t{reinterpret_cast<std::uintptr_t>(pointer)}; };
    return hash_mix(word(tally_key.route) ^ hash_detail::kMul0,
                    word(tally_key.backend) ^ std::rotl(word(tally_key.gateway), 32));
  }
  Cell* find(const TallyKey& tally_key) const {
    if (known_.empty()) return nullptr;
    const std::size_t mask = known_.size() - 1;
    for (std::size_t at = hash_of(tally_key) & mask; known_[at].cell != nullptr; at = (at + 1) & mask) {
      if (known_[at].tally_key == tally_key) return known_[at].cell;
    }
    return nullptr;
  }
  void remember(const TallyKey& tally_key, Cell& cell);
  void add(Cell& cell, const FinishedRequest& request);
  Cell& cell_of(TallyNames names);
  Cell& add_cell(TallyNames names);
  Size& size_of(const std::string& gateway);

  const std::size_t most_;
  /// Hash table with open addressing and linear probing; its size is a power of two, and at most half of it is used.
  std::vector<Known> known_;
  std::size_t known_count_ = 0;
  std::unordered_map<std::string, Cell*> by_name_;
  std::unordered_map<std::string, Size*> by_gateway_;
  /// Linked lists, the newest first.
  std::atomic<Cell*> cells_{nullptr};
  std::atomic<Size*> sizes_{nullptr};
  Cell* other_ = nullptr;
  net::Counter folded_;
};

}  // namespace edge::runtime
