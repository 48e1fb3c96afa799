// Process metrics under the usual names: process_*, and edge_build_info.
#pragma once

#include <cstdint>

#include "metrics/exposition.h"

namespace edge::metrics {

/// From /proc; unreadable values are omitted.
void write_process(Exposition& out);

/// For this process so far; 0 where unreadable.
double process_cpu_seconds();
std::uint64_t process_resident_bytes();

}  // namespace edge::metrics
