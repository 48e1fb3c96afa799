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

void SpanBuffers::take(std::vector<SpanBuffer::Taken>& taken) {
  const std::scoped_lock lock(mutex_);
  taken.resize(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) taken[i] = buffers_[i]->take(std::move(taken[i].bytes));
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
