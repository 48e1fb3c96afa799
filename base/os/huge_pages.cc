#include "base/os/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace edge {

void prefer_huge_pages(const void* data, std::size_t size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(data) % kHugePage) % kHugePage;
  if (size < before + kHugePage) return;
  char* const first = static_cast<char*>(const_cast<void*>(data)) + before;
  ::madvise(first, (size - before) / kHugePage * kHugePage, MADV_HUGEPAGE);
}

}  // namespace edge
