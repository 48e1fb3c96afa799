// Buffers in which serving threads store their finished spans for the exporter. Bounded: spans that are not fetched in
// time are dropped and counted, and never delay a request.
//
// A thread writes into a chunk of memory, and the exporter sends from there: spans are not copied, and a lock is taken
// for full chunks only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "net/counter.h"

namespace edge::runtime::trace {

/// Spans that the exporter took from one chunk. Valid until the next `take`.
struct TakenSpans {
  std::string_view bytes{};
  std::size_t count = 0;
};

/// The spans of one serving thread.
class SpanBuffer {
 public:
  using Taken = TakenSpans;
  /// The limit for unsent spans of the thread; as many bytes again may be in the exporter's hands.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  /// A full chunk is sent at once as one message instead of at the next interval: the overhead of a message, waking two
  /// threads, costs as much as the spans of a hundred requests.
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  explicit SpanBuffer(const std::function<void()>& many) : many_(many) {}

  // For the serving thread.

  /// Reserves `size` bytes for `count` spans, all or none; null: there is no room, and they are counted as dropped.
  char* room(std::size_t size, std::size_t count) {
    if (filling_ == nullptr || filling_->size - filled_.bytes < size) [[unlikely]] {
      if (!change_chunk(size)) {
        dropped_.add(count);
        return nullptr;
      }
    }
    return filling_->bytes.get() + filled_.bytes;
  }
  /// Commits the reserved bytes, written as by SpanMessage.
  void wrote(std::size_t size, std::size_t count) {
    filled_.bytes += static_cast<std::uint32_t>(size);
    filled_.count += static_cast<std::uint32_t>(count);
    filling_->filled.store(filled_, std::memory_order_release);
    added_.add(count);
  }
  /// Adds spans that were encoded elsewhere.
  void add(std::string_view spans, std::size_t count);

  // For the exporter.

  /// Appends the spans added since the last call. Memory returned by that call is reused.
  void take(std::vector<Taken>& taken);

  std::uint64_t added() const { return added_.value(); }
  std::uint64_t dropped() const { return dropped_.value(); }

 private:
  static constexpr std::size_t kMaxChunks = kMaxBytes / kChunk;

  struct Amount {
    std::uint32_t bytes = 0;
    std::uint32_t count = 0;
  };
  struct Chunk {
    explicit Chunk(std::size_t of) : size(of), bytes(std::make_unique_for_overwrite<char[]>(of)) {}
    const std::size_t size;
    const std::unique_ptr<char[]> bytes;
    /// Complete requests only: bytes after it are still being written.
    std::atomic<Amount> filled{};
    /// How much the exporter has taken. Guarded by the mutex.
    Amount taken{};
  };
  static_assert(std::atomic<Amount>::is_always_lock_free);

  /// Continues in a chunk that has room for `size`. \returns false when the limit is reached.
  bool change_chunk(std::size_t size);
  std::unique_ptr<Chunk> unused_chunk(std::size_t size);
  static void take_from(Chunk& chunk, std::vector<Taken>& taken);

  const std::function<void()>& many_;
  // For the serving thread.
  Chunk* filling_ = nullptr;
  Amount filled_{};
  net::Counter added_;
  net::Counter dropped_;

  std::mutex mutex_;
  // Guarded by it. The last waiting chunk is the one being filled.
  std::vector<std::unique_ptr<Chunk>> waiting_;
  std::vector<std::unique_ptr<Chunk>> sending_;
  std::vector<std::unique_ptr<Chunk>> unused_;
};

/// The buffers of the process.
class SpanBuffers {
 public:
  /// Adds a buffer, which lives as long as this object. Threads: any.
  SpanBuffer& add_thread();
  /// Replaces `taken` by all spans added since the last call, whose memory is reused.
  void take(std::vector<SpanBuffer::Taken>& taken);
  /// Sets the callback for when there is enough for a message, called by serving threads. Called once, before any of
  /// them serves.
  void on_many(std::function<void()> many) { many_ = std::move(many); }

  std::uint64_t added() const;
  std::uint64_t dropped() const;

 private:
  std::function<void()> many_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<SpanBuffer>> buffers_;
};

}  // namespace edge::runtime::trace
