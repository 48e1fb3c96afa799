#include "runtime/observe/trace/span_buffers.h"

#include <utility>

namespace edge::runtime::trace {

void SpanBuffer::add(std::string_view spans, std::size_t count) {
  bool many = false;
  {
    const std::scoped_lock lock(mutex_);
    if (bytes_.size() + spans.size() > kMaxBytes) {
      dropped_.add(count);
      return;
    }
    const bool few = bytes_.size() < kMany;
    bytes_ += spans;
    count_ += count;
    many = few && bytes_.size() >= kMany;
  }
  added_.add(count);
  if (many && many_) many_();
}

SpanBuffer::Taken SpanBuffer::take(std::string room) {
  room.clear();
  const std::scoped_lock lock(mutex_);
  Taken taken{std::exchange(bytes_, std::move(room)), std::exchange(count_, 0)};
  return taken;
}

SpanBuffer& SpanBuffers::add_thread() {
  const std::scoped_lock lock(mutex_);
  return *buffers_.emplace_back(std::make_unique<SpanBuffer>(many_));
}

std::vector<SpanBuffer::Taken> SpanBuffers::take() {
  std::vector<SpanBuffer::Taken> all;
  const std::scoped_lock lock(mutex_);
  for (const std::unique_ptr<SpanBuffer>& buffer : buffers_) {
    SpanBuffer::Taken taken = buffer->take({});
    if (taken.count != 0) all.push_back(std::move(taken));
  }
  return all;
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
