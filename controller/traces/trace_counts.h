// Counters of the trace store, for metrics.
#pragma once

#include <cstdint>

namespace edge::traces {

struct TraceCounts {
  std::uint64_t spans_taken = 0;       ///< written to the file
  std::uint64_t spans_refused = 0;     ///< malformed or over a limit
  std::uint64_t spans_dropped = 0;     ///< the disk was slow, full or failing
  std::uint64_t requests_refused = 0;  ///< not OTLP, too large, or in an unsupported coding
  std::uint64_t bytes = 0;             ///< size of the file
  std::uint64_t traces = 0;            ///< traces in the file
};

}  // namespace edge::traces
