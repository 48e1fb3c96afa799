// Memory for coroutine frames: thread-local size classes, without malloc on the usual path (docs: life of a request).
#pragma once

#include <cstddef>

namespace edge::net {

/// Returns a block of at least `size` bytes, aligned as by malloc. It may be freed on another thread, and then joins
/// that thread's pool. Under AddressSanitizer and ThreadSanitizer this is malloc, so that they detect every use after
/// free.
void* allocate_frame(std::size_t size);
void free_frame(void* frame, std::size_t size) noexcept;

}  // namespace edge::net
