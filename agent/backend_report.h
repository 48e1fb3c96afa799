// Backends and their endpoints as an operator sees them: in /metrics, and as the document GET /debug/endpoints.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "runtime/upstream/backend_status.h"

namespace edge::agent {

/// Families of the Prometheus text format, a sample a backend or an endpoint.
std::string backend_metrics(std::span<const runtime::BackendStatus> backends);
/// JSON: `{"backends": [{"namespace", "name", "healthyCount", "unhealthyCount", "circuit", "endpoints": [...], ...}]}`.
std::string endpoints_document(std::span<const runtime::BackendStatus> backends,
                               std::chrono::system_clock::time_point now);

}  // namespace edge::agent
