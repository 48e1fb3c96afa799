// Writes the metrics of backends. Series of a feature that a backend does not use are left out.
#pragma once

#include <cstddef>
#include <span>

#include "metrics/exposition.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// Writes about `room` series at most. \returns how many backends were left out.
std::size_t write_backend_metrics(metrics::Exposition& out, std::span<const runtime::BackendStatus> backends,
                                  std::size_t room);

}  // namespace edge::agent
