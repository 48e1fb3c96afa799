// Where the threads that serve leave their spans, and the exporter fetches them. Bounded: what nobody fetches in time
// is dropped and counted, and holds nobody up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/counter.h"

namespace edge::runtime::trace {

/// Of one thread that serves. Its lock is held by nobody else but for the moment in which the exporter takes the bytes.
class SpanBuffer {
 public:
  /// Of the thread; as much again may be on its way.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  /// So much is not kept waiting for the next turn.
  static constexpr std::size_t kMany = std::size_t{512} << 10;

  explicit SpanBuffer(const std::function<void()>& many) : many_(many) {}

  /// Takes `count` spans as append_span wrote them, all or none.
  void add(std::string_view spans, std::size_t count);
  struct Taken {
    std::string bytes{};
    std::size_t count = 0;
  };
  /// `room`: an empty string to go on with, whose memory is used again.
  Taken take(std::string room);

  std::uint64_t added() const { return added_.value(); }
  std::uint64_t dropped() const { return dropped_.value(); }

 private:
  const std::function<void()>& many_;
  std::mutex mutex_;
  std::string bytes_;
  std::size_t count_ = 0;
  net::Counter added_;
  net::Counter dropped_;
};

/// Of the process.
class SpanBuffers {
 public:
  /// From any thread; it lives as long as these do.
  SpanBuffer& add_thread();
  /// All that came since the last time, a buffer an entry, in the place of what `taken` held: the memory of that is
  /// used again, so that none has to be found and cleared for every byte.
  void take(std::vector<SpanBuffer::Taken>& taken);
  /// `many` is called, from threads that serve, when there is enough for more than one message. Once, before any of
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
