// Passes entries from a serving thread to the writer thread: a lock-free ring buffer with one writer and one reader.
// Entries that do not fit are dropped and counted; neither side waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "net/counter.h"
#include "runtime/observe/access_log/entry.h"

namespace edge::runtime {

class LogRing {
 public:
  static constexpr std::size_t kDefaultSize = std::size_t{1} << 20;

  /// `size`: a power of two, at least 64.
  explicit LogRing(std::size_t size = kDefaultSize);

  /// Adds an entry; called by the serving thread. \returns false when there is no room.
  bool put(const LogEntry& entry);
  /// Whether more than half of the ring was used before the last entry: the reader should wake up.
  bool crowded() const { return crowded_; }

  /// Returns the oldest entries, flat, as many as `into` has room for; called by the writer thread. They stay valid
  /// until `pop`. \returns how many there are.
  std::size_t front(std::span<std::span<const char>> into);
  /// Returns the oldest entry; empty when there is none.
  std::span<const char> front() {
    std::span<const char> oldest;
    front({&oldest, 1});
    return oldest;
  }
  /// Removes the entries that the last `front` returned.
  void pop();

  /// Threads: any.
  std::uint64_t taken() const { return taken_.value(); }
  std::uint64_t dropped() const { return dropped_.value(); }

 private:
  /// Precedes each entry. A piece without an entry fills the end of the ring where the next one did not fit.
  struct alignas(8) Head {
    std::uint32_t size;   ///< of the piece, including this head
    std::uint32_t entry;  ///< bytes of the entry; 0: none
  };
  static_assert(sizeof(Head) == 8);

  char* at(std::uint64_t position) { return bytes_.get() + (position & (size_ - 1)); }
  bool begins_anew(std::uint64_t written, std::size_t piece);
  bool has_room(std::uint64_t end);
  void put_head(std::uint64_t position, Head head);
  Head head_at(std::uint64_t position);

  const std::size_t size_;
  /// Not initialised: memory that no entry has reached is never touched.
  std::unique_ptr<char[]> bytes_;
  net::Counter taken_;
  net::Counter dropped_;
  /// Total bytes written, and total bytes read; each is stored by one side. On separate cache lines, so that the sides
  /// do not contend.
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::uint64_t read_seen_ = 0;  ///< the writing side's copy of `read_`
  /// Where writing last wrapped to the ring's start: the reader continues from `left_at_` to `goes_on_at_`. Stored
  /// while the ring is empty, when the reader does not use them, and published with the next entry.
  std::uint64_t left_at_ = ~std::uint64_t{0};
  std::uint64_t goes_on_at_ = 0;
  bool crowded_ = false;
  alignas(64) std::atomic<std::uint64_t> read_{0};
  std::uint64_t given_ = 0;  ///< entries returned by the last `front`; used by the reading side
};

}  // namespace edge::runtime
