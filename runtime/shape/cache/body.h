// The bytes of a stored body, in pieces as they came. Written once, then shared and never changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace edge::runtime::cache {

class Body {
 public:
  std::uint64_t size() const { return size_; }
  /// Bytes of memory held, which is what counts against the bounds.
  std::size_t capacity() const { return capacity_; }
  /// What lies together from `at` on; empty at the end only.
  std::string_view at(std::uint64_t at) const {
    const auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                        [](std::uint64_t where, const Piece& p) { return where < p.begin + p.size; });
    if (piece == pieces_.end()) return {};
    const auto skipped = static_cast<std::size_t>(at - piece->begin);
    return {piece->data.get() + skipped, piece->size - skipped};
  }

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      if (pieces_.empty() || pieces_.back().size == pieces_.back().capacity) grow(bytes.size());
      Piece& piece = pieces_.back();
      const std::size_t taken = std::min(bytes.size(), piece.capacity - piece.size);
      std::memcpy(piece.data.get() + piece.size, bytes.data(), taken);
      piece.size += taken;
      size_ += taken;
      bytes.remove_prefix(taken);
    }
  }
  /// Gives back what the last piece does not use.
  void close() {
    if (pieces_.empty() || pieces_.back().size == pieces_.back().capacity) return;
    Piece& last = pieces_.back();
    auto exact = std::make_unique_for_overwrite<char[]>(last.size);
    std::memcpy(exact.get(), last.data.get(), last.size);
    capacity_ -= last.capacity - last.size;
    last.data = std::move(exact);
    last.capacity = last.size;
  }

 private:
  struct Piece {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
    std::size_t capacity = 0;
    std::uint64_t begin = 0;
  };
  static constexpr std::size_t kSmallest = 4096;
  static constexpr std::size_t kLargest = std::size_t{64} * 1024;

  /// Pieces double with the body, so that neither a small nor a large one wastes much.
  void grow(std::size_t wanted) {
    const auto room = std::clamp<std::size_t>(std::max<std::size_t>(wanted, size_), kSmallest, kLargest);
    pieces_.push_back({std::make_unique_for_overwrite<char[]>(room), 0, room, size_});
    capacity_ += room;
  }

  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace edge::runtime::cache
