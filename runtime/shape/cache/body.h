// The bytes of a stored body, in pieces as they arrived: written once by one thread, then shared and immutable. A body
// of known size may be read by any thread while it grows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace edge::runtime::cache {

class Body {
 public:
  enum class State : std::uint8_t {
    kGrowing,
    kWhole,
    kBroken,  ///< ended early: no more bytes arrive
  };

  Body() = default;
  /// For a body of known size: allocates the table of pieces now, so that it does not move under readers.
  explicit Body(std::uint64_t size) : told_(size) {
    pieces_.reserve(static_cast<std::size_t>((size + kLargest - 1) / kLargest));
    for (std::uint64_t at = 0; at < size; at += kLargest) {
      pieces_.push_back({nullptr, static_cast<std::size_t>(std::min<std::uint64_t>(kLargest, size - at)), at});
    }
  }

  /// Returns the size of the complete body; where that is unknown, the bytes received so far.
  std::uint64_t size() const { return told_.value_or(here()); }
  std::uint64_t here() const { return here_.load(std::memory_order_acquire); }
  State state() const { return state_.load(std::memory_order_acquire); }
  /// Returns the bytes of memory allocated, which count against the limits. Called by the writer, or on a complete
  /// body.
  std::size_t capacity() const { return capacity_; }
  /// Returns the contiguous bytes from `at` on; empty where none have arrived yet. Valid as long as the body.
  std::string_view at(std::uint64_t at) const {
    const std::uint64_t here = this->here();
    if (at >= here) return {};
    const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                        [](std::uint64_t where, const Piece& piece) { return where < piece.begin; });
    const Piece& piece = *std::prev(after);
    const auto skipped = static_cast<std::size_t>(at - piece.begin);
    const auto filled = static_cast<std::size_t>(std::min<std::uint64_t>(piece.capacity, here - piece.begin));
    return {piece.data.get() + skipped, filled - skipped};
  }

  /// Appends bytes; no more in total than the size that was given.
  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t here = here_.load(std::memory_order_relaxed);
      Piece& piece = writable(here, bytes.size());
      const auto used = static_cast<std::size_t>(here - piece.begin);
      const std::size_t taken = std::min(bytes.size(), piece.capacity - used);
      std::memcpy(piece.data.get() + used, bytes.data(), taken);
      here_.store(here + taken, std::memory_order_release);
      bytes.remove_prefix(taken);
    }
  }
  /// Marks the body complete, and frees the unused part of the last piece.
  void close() {
    if (!told_ && !pieces_.empty()) shrink(pieces_.back());
    state_.store(State::kWhole, std::memory_order_release);
  }
  void break_off() { state_.store(State::kBroken, std::memory_order_release); }

 private:
  struct Piece {
    std::unique_ptr<char[]> data;
    std::size_t capacity = 0;
    std::uint64_t begin = 0;
  };
  static constexpr std::size_t kSmallest = 4096;
  static constexpr std::size_t kLargest = std::size_t{64} * 1024;

  /// Returns the piece that the next byte is written to.
  Piece& writable(std::uint64_t here, std::size_t wanted) {
    if (told_) {
      Piece& piece = pieces_[static_cast<std::size_t>(here / kLargest)];
      if (piece.data == nullptr) allocate(piece);
      return piece;
    }
    if (pieces_.empty() || pieces_.back().begin + pieces_.back().capacity == here) {
      // Pieces double with the body, so that neither a small nor a large one wastes much.
      const auto room = std::clamp<std::size_t>(std::max<std::size_t>(wanted, here), kSmallest, kLargest);
      pieces_.push_back({nullptr, room, here});
      allocate(pieces_.back());
    }
    return pieces_.back();
  }
  void allocate(Piece& piece) {
    piece.data = std::make_unique_for_overwrite<char[]>(piece.capacity);
    capacity_ += piece.capacity;
  }
  void shrink(Piece& last) {
    const auto used = static_cast<std::size_t>(here() - last.begin);
    if (used == last.capacity) return;
    auto exact = std::make_unique_for_overwrite<char[]>(used);
    std::memcpy(exact.get(), last.data.get(), used);
    capacity_ -= last.capacity - used;
    last.data = std::move(exact);
    last.capacity = used;
  }

  std::optional<std::uint64_t> told_;
  std::vector<Piece> pieces_;
  std::size_t capacity_ = 0;
  std::atomic<std::uint64_t> here_{0};
  std::atomic<State> state_{State::kGrowing};
};

}  // namespace edge::runtime::cache
