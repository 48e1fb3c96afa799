// What a process says of itself under the names that every exporter uses: process_*, and edge_build_info.
#pragma once

#include "metrics/exposition.h"

namespace edge::metrics {

/// From /proc; what cannot be read there is left out.
void write_process(Exposition& out);

}  // namespace edge::metrics
