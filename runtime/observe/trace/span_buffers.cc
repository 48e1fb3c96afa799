#include "runtime/observe/trace/span_buffers.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace edge::runtime::trace {

void SpanBuffer::add(std::string_view spans, std::size_t count) {
  char* const at = room(spans.size(), count);
  if (at == nullptr) return;
  std::memcpy(at, spans.data(), spans.size());
  wrote(spans.size(), count);
}

bool SpanBuffer::change_chunk(std::size_t size) {
  bool many = false;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMaxChunks || size > kMaxBytes) return false;
    // Told once: whoever takes takes all that there is.
    many = waiting_.size() == 1;
    waiting_.push_back(unused_chunk(size));
    filling_ = waiting_.back().get();
    filled_ = {};
  }
  if (many && many_) many_();
  return true;
}

// A request may have more to tell than a chunk holds.
std::unique_ptr<SpanBuffer::Chunk> SpanBuffer::unused_chunk(std::size_t size) {
  if (size > kChunk || unused_.empty()) return std::make_unique<Chunk>(std::max(size, kChunk));
  std::unique_ptr<Chunk> chunk = std::move(unused_.back());
  unused_.pop_back();
  chunk->filled.store({}, std::memory_order_relaxed);
  chunk->taken = {};
  return chunk;
}

void SpanBuffer::take_from(Chunk& chunk, std::vector<Taken>& taken) {
  const Amount filled = chunk.filled.load(std::memory_order_acquire);
  const Amount had = std::exchange(chunk.taken, filled);
  if (filled.count == had.count) return;
  taken.push_back({{chunk.bytes.get() + had.bytes, filled.bytes - had.bytes}, filled.count - had.count});
}

void SpanBuffer::take(std::vector<Taken>& taken) {
  // One is sent from while the other is filled.
  constexpr std::size_t kMostKept = 2;
  const std::scoped_lock lock(mutex_);
  for (std::unique_ptr<Chunk>& sent : sending_) {
    if (unused_.size() < kMostKept && sent->size == kChunk) unused_.push_back(std::move(sent));
  }
  sending_.clear();
  for (const std::unique_ptr<Chunk>& chunk : waiting_) take_from(*chunk, taken);
  if (waiting_.size() < 2) return;
  sending_.insert(sending_.end(), std::make_move_iterator(waiting_.begin()),
                  std::make_move_iterator(waiting_.end() - 1));
  waiting_.erase(waiting_.begin(), waiting_.end() - 1);
}

SpanBuffer& SpanBuffers::add_thread() {
  const std::scoped_lock lock(mutex_);
  return *buffers_.emplace_back(std::make_unique<SpanBuffer>(many_));
}

void SpanBuffers::take(std::vector<SpanBuffer::Taken>& taken) {
  const std::scoped_lock lock(mutex_);
  taken.clear();
  for (const std::unique_ptr<SpanBuffer>& buffer : buffers_) buffer->take(taken);
}

std::uint64_t SpanBuffers::added() const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t sum = 0;
  for (const std::unique_ptr<SpanBuffer>& buffer : buffers_) sum += buffer->added();
  return sum;
}

std::uint64_t SpanBuffers::dropped() const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t sum = 0;
  for (const std::unique_ptr<SpanBuffer>& buffer : buffers_) sum += buffer->dropped();
  return sum;
}

}  // namespace edge::runtime::trace
