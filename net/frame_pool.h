// Memory for coroutine frames: size classes of the thread, never malloc on the usual path (docs: life of a request).
#pragma once

#include <cstddef>

namespace edge::net {

/// A block of at least `size` bytes, aligned as malloc does. May be freed on another thread; it then joins that
/// thread's blocks. Under AddressSanitizer and ThreadSanitizer this is malloc, so that they see every use after free.
void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

}  // namespace edge::net
