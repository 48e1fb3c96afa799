// A block of bytes that a connection owns only while needed: for an incomplete head, or a peer that does not accept
// data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "net/frame_pool.h"

namespace edge::net {

/// Bytes [begin, end) of a block. Empty and without memory by default. Up to 2 KiB the block comes from the thread's
/// pool.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        begin_(std::exchange(other.begin_, 0)),
        end_(std::exchange(other.end_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = std::exchange(other.data_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
    begin_ = std::exchange(other.begin_, 0);
    end_ = std::exchange(other.end_, 0);
    return *this;
  }
  ~Buffer() { release(); }

  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::string_view view() const { return {data_ + begin_, size()}; }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  /// Returns free space of at least `size` bytes after the content; `grow` makes part of it content. May move the
  /// content.
  std::span<char> room(std::size_t size) {
    if (capacity_ - end_ < size) make_room(size);
    return {data_ + end_, capacity_ - end_};
  }
  void grow(std::size_t size) { end_ += size; }
  void consume(std::size_t size) { begin_ += size; }
  /// Drops content and memory.
  void release() {
    if (data_ != nullptr) free_frame(data_, capacity_);
    data_ = nullptr;
    capacity_ = begin_ = end_ = 0;
  }

 private:
  void make_room(std::size_t size) {
    static constexpr std::size_t kSmallest = 512;
    std::size_t capacity = kSmallest;
    while (capacity < this->size() + size) capacity *= 2;
    char* data = static_cast<char*>(allocate_frame(capacity));
    const std::size_t kept = this->size();
    if (kept != 0) std::memcpy(data, data_ + begin_, kept);
    if (data_ != nullptr) free_frame(data_, capacity_);
    data_ = data;
    capacity_ = capacity;
    begin_ = 0;
    end_ = kept;
  }

  char* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace edge::net
