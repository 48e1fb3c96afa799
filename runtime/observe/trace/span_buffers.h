// Where the threads that serve leave their spans, and the exporter fetches them. Bounded: what nobody fetches in time
// is dropped and counted, and holds nobody up.
//
// A thread writes into a chunk of memory, and the exporter sends from there: nobody copies, and only a chunk that is
// full takes a lock.
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

/// What the exporter was given of one chunk. Good until the next `take`.
struct TakenSpans {
  std::string_view bytes{};
  std::size_t count = 0;
};

/// Of one thread that serves.
class SpanBuffer {
 public:
  using Taken = TakenSpans;
  /// Of the thread; as much again may be on its way.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  /// So much is not kept waiting for the next turn, and goes as one message: what a message costs beside its bytes, two
  /// threads that are woken and sent to sleep, is as much as a hundred requests' spans.
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  explicit SpanBuffer(const std::function<void()>& many) : many_(many) {}

  // Of the thread that serves.

  /// Room for `count` spans of `size` bytes together, all or none; null: there is none, and they are counted.
  char* room(std::size_t size, std::size_t count) {
    if (filling_ == nullptr || filling_->size - filled_.bytes < size) [[unlikely]] {
      if (!change_chunk(size)) {
        dropped_.add(count);
        return nullptr;
      }
    }
    return filling_->bytes.get() + filled_.bytes;
  }
  /// They were written there, as SpanMessage does.
  void wrote(std::size_t size, std::size_t count) {
    filled_.bytes += static_cast<std::uint32_t>(size);
    filled_.count += static_cast<std::uint32_t>(count);
    filling_->filled.store(filled_, std::memory_order_release);
    added_.add(count);
  }
  /// The same for spans that were composed elsewhere.
  void add(std::string_view spans, std::size_t count);

  // Of the exporter.

  /// Appends what came since the last time. What was given out then is written over.
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
    /// Whole requests: what lies behind it is still being written.
    std::atomic<Amount> filled{};
    /// The exporter had it. Guarded by the lock.
    Amount taken{};
  };
  static_assert(std::atomic<Amount>::is_always_lock_free);

  /// Goes on in a chunk that has room for `size`. \returns false when nothing more may wait.
  bool change_chunk(std::size_t size);
  std::unique_ptr<Chunk> unused_chunk(std::size_t size);
  static void take_from(Chunk& chunk, std::vector<Taken>& taken);

  const std::function<void()>& many_;
  // Of the thread that serves.
  Chunk* filling_ = nullptr;
  Amount filled_{};
  net::Counter added_;
  net::Counter dropped_;

  std::mutex mutex_;
  // Guarded by it. The last one that waits is the one that is filled.
  std::vector<std::unique_ptr<Chunk>> waiting_;
  std::vector<std::unique_ptr<Chunk>> sending_;
  std::vector<std::unique_ptr<Chunk>> unused_;
};

/// Of the process.
class SpanBuffers {
 public:
  /// From any thread; it lives as long as these do.
  SpanBuffer& add_thread();
  /// All that came since the last time, in the place of what `taken` held, which is written over.
  void take(std::vector<SpanBuffer::Taken>& taken);
  /// `many` is called, from threads that serve, when there is enough for a message. Once, before any of them serves.
  void on_many(std::function<void()> many) { many_ = std::move(many); }

  std::uint64_t added() const;
  std::uint64_t dropped() const;

 private:
  std::function<void()> many_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<SpanBuffer>> buffers_;
};

}  // namespace edge::runtime::trace
