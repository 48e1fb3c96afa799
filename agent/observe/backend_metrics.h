// The series that tell of backends. Those of a feature that a backend does not use are left out.
#pragma once

#include <cstddef>
#include <span>

#include "metrics/exposition.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// Writes at most about `room` series. \returns how many backends found none.
std::size_t write_backend_metrics(metrics::Exposition& out, std::span<const runtime::BackendStatus> backends,
                                  std::size_t room);

}  // namespace edge::agent
