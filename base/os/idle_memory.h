// Memory of what ran once and may not run again for hours: given back to the system while a process rests.
#pragma once

namespace edge {

/// Gives back free memory of the allocator, and the pages of code and constants of large libraries (a compiler's above
/// all), which their files have as well: what is used again is mapped again, from the page cache. Takes some
/// milliseconds then. From any thread.
void release_idle_memory();

}  // namespace edge
