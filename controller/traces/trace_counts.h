// What the trace store has done and holds, for metrics.
#pragma once

#include <cstdint>

namespace edge::traces {

struct TraceCounts {
  std::uint64_t spans_taken = 0;       ///< written to the file
  std::uint64_t spans_refused = 0;     ///< malformed or over a limit
  std::uint64_t spans_dropped = 0;     ///< the disk was slow, full or at fault
  std::uint64_t requests_refused = 0;  ///< no OTLP, too large, or of another coding
  std::uint64_t bytes = 0;             ///< the file holds
  std::uint64_t traces = 0;            ///< the file holds
};

}  // namespace edge::traces
