#include "net/frame_pool.h"

#include <array>
#include <cstdlib>
#include <new>

namespace edge::net {
namespace {

constexpr std::size_t kStep = 64;
constexpr std::size_t kClasses = 32;  // up to 2 KiB

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kPooled = false;
#else
constexpr bool kPooled = true;
#endif
#else
constexpr bool kPooled = true;
#endif

struct FreeBlock {
  FreeBlock* next;
};

// Recycles coroutine frames. Blocks are freed when the thread ends: their number is the largest that was alive at once,
// which the connection limits bound.
class ThreadFrames {
 public:
  ~ThreadFrames() {
    for (FreeBlock* block : free_) {
      while (block != nullptr) {
        FreeBlock* next = block->next;
        std::free(block);
        block = next;
      }
    }
  }
  void* take(std::size_t index) {
    FreeBlock* block = free_[index];
    if (block != nullptr) free_[index] = block->next;
    return block;
  }
  void give(void* memory, std::size_t index) {
    auto* block = static_cast<FreeBlock*>(memory);
    block->next = free_[index];
    free_[index] = block;
  }

 private:
  std::array<FreeBlock*, kClasses> free_{};
};

thread_local ThreadFrames thread_frames;

void* from_system(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* allocate_frame(std::size_t size) {
  const std::size_t index = (size + kStep - 1) / kStep - 1;
  if (!kPooled || index >= kClasses) return from_system(size);
  void* memory = thread_frames.take(index);
  return memory != nullptr ? memory : from_system((index + 1) * kStep);
}

void free_frame(void* frame, std::size_t size) noexcept {
  const std::size_t index = (size + kStep - 1) / kStep - 1;
  if (!kPooled || index >= kClasses) {
    std::free(frame);
  } else {
    thread_frames.give(frame, index);
  }
}

}  // namespace edge::net
