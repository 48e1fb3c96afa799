// Writes the metrics of backends. Omits series of features that a backend does not use.
#pragma once

#include <cstddef>
#include <span>

#include "metrics/exposition.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// Writes at most about `room` series. \returns how many backends were omitted.
std::size_t write_backend_metrics(metrics::Exposition& out, std::span<const runtime::BackendStatus> backends,
                                  std::size_t room);

}  // namespace edge::agent
