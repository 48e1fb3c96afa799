#include "base/os/idle_memory.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <unistd.h>

namespace edge {
namespace {

/// Of smaller ones there is nothing to be had.
constexpr std::size_t kLarge = std::size_t{1} << 20;

/// Relocations were written into pages that are not writable otherwise: their files do not have these.
bool has_text_relocations(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
        return true;
    }
  }
  return false;
}

int release_object(dl_phdr_info* object, std::size_t /*size*/, void* page_size) {
  if (has_text_relocations(*object)) return 0;
  const auto page = *static_cast<const std::uintptr_t*>(page_size);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    // What may be written, or was while it was loaded (PT_GNU_RELRO lies in such a segment), is here alone.
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) != 0 || header.p_memsz != header.p_filesz) continue;
    if (header.p_filesz < kLarge) continue;
    const std::uintptr_t from = (object->dlpi_addr + header.p_vaddr + page - 1) & ~(page - 1);
    const std::uintptr_t to = (object->dlpi_addr + header.p_vaddr + header.p_filesz) & ~(page - 1);
    // The mapping is private and of a file: pages come back with what the file has. A refusal changes nothing.
    if (to > from) static_cast<void>(::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED));
  }
  return 0;
}

}  // namespace

void release_idle_memory() {
  ::malloc_trim(0);
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(release_object, &page);
}

}  // namespace edge
