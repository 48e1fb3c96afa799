// What a process says of itself under the names that every exporter uses: process_*, and edge_build_info.
#pragma once

#include <cstdint>

#include "metrics/exposition.h"

namespace edge::metrics {

/// From /proc; what cannot be read there is left out.
void write_process(Exposition& out);

/// Of this process so far; 0 where it cannot be read.
double process_cpu_seconds();
std::uint64_t process_resident_bytes();

}  // namespace edge::metrics
