// Releases memory of code that may not run again for hours to the system while a process is idle.
#pragma once

namespace edge {

/// Releases free memory of the allocator, and resident pages of code and constants of large libraries (above all a
/// compiler's), which are mapped again from the page cache when used. That then takes some milliseconds. Any thread.
void release_idle_memory();

}  // namespace edge
